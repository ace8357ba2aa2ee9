/* Spans of calls: the file, its records, and the nesting of calls. */
#include "runtime/spans.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define FILE_SIZE (SPANS_HEADER + (size_t)SPANS_CHUNKS * SPANS_CHUNK)
#define FILE_SIZE_MIN (SPANS_HEADER + (size_t)4 * SPANS_CHUNK)
/* Of a limited address space, which is the program's. */
#define SHARE_OF_SPACE 64
#define DEPTH 64
/* The same for sums: deeper calls are not counted. */
#define SUM_DEPTH 16
/* The same value as in src/trace/stack/stack_config.h. */
#define SPANS_COLLECTIVE_WANTED (UINT32_C(1) << 31)
/* Stacks of different threads are further apart than this. */
#define SAME_STACK (1U << 20)

static const char *const layer_names[SPANS_LAYERS] = {
	[SPANS_LIBRARY] = "library",
	[SPANS_HDF5] = "hdf5",
	[SPANS_PNETCDF] = "pnetcdf",
	[SPANS_MPI_IO] = "mpi-io",
	[SPANS_POSIX] = "posix",
};

/* A call that has begun in this thread. */
struct open_call {
	uint64_t id;
	uintptr_t sp;
	bool mark; /* it is a region, not a call */
	uint8_t layer;
	int64_t below_ns; /* time of the calls inside it, for sums */
};

struct thread {
	uint32_t generation; /* of the file that contains `chunk` */
	uint32_t depth;
	struct spans_chunk *chunk;
	struct spans_record *region; /* the region of addresses of the outermost call */
	struct open_call open[DEPTH];
	struct spans_record scratch[SUM_DEPTH]; /* for calls that are only added up */
};

uint32_t spans_active;
static struct spans_header *header;
static size_t file_size; /* of the mapping of the file */
static pid_t reader;	 /* the process that reads it; 0: not known */
static uint32_t operations = UINT32_MAX;
static uint32_t generation; /* of the file: each child of a fork() has its own */
static uint64_t next_id;
static bool summing;	   /* keep sums instead of records */
static bool in_ticks;	   /* times of records are readings of the processor's counter */
static bool in_regions;	   /* record inside regions only */
static char marks[2048];   /* ",a,b,": the selected ones */
static uint32_t wanted;	   /* layers, while recording is on */
static uint32_t n_regions; /* open marks */
static char directory[512];
static _Thread_local struct thread self __attribute__((tls_model("initial-exec")));

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The time for a record. Reading the counter takes a third of the time of clock_gettime(); the
 * reader converts it. */
static inline int64_t stamp(void)
{
#if defined(__x86_64__)
	if (in_ticks)
		return (int64_t)__rdtsc();
#endif
	return now_ns();
}

void *spans_next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* On a full file system the first access would kill the program. */
static bool reserve(void *start, size_t size)
{
	return madvise(start, size, MADV_POPULATE_WRITE) == 0;
}

static int create(void)
{
	char path[sizeof(directory) + 64];

	snprintf(path, sizeof(path), "%s/" SPANS_PREFIX "%d.%lld", directory, (int)getpid(),
		(long long)now_ns());
	return (int)syscall(SYS_openat, AT_FDCWD, path,
		O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* A file that is larger than allowed causes a signal, which kills the program. */
static size_t size_allowed(void)
{
	struct rlimit file, space;
	size_t size = FILE_SIZE;

	if (getrlimit(RLIMIT_FSIZE, &file) < 0 || getrlimit(RLIMIT_AS, &space) < 0)
		return 0;
	if (file.rlim_cur < size)
		size = file.rlim_cur;
	if (space.rlim_cur != RLIM_INFINITY && space.rlim_cur / SHARE_OF_SPACE < size)
		size = space.rlim_cur / SHARE_OF_SPACE;
	return size < FILE_SIZE_MIN ? 0 : size - size % SPANS_CHUNK;
}

static struct spans_header *map(int fd)
{
	size_t size = size_allowed();
	void *memory = MAP_FAILED;

	if (size && ftruncate(fd, (off_t)size) == 0)
		memory =
			mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (memory != MAP_FAILED && !reserve(memory, sizeof(struct spans_header))) {
		munmap(memory, size);
		memory = MAP_FAILED;
	}
	if (memory == MAP_FAILED) {
		(void)!ftruncate(fd, 0); /* reports it to the reader */
		return NULL;
	}
	file_size = size;
	return memory;
}

/* The pid namespace of this process. */
static uint64_t pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

/* Must a call be examined? If there are regions of addresses, every call must. */
static void active_set(void)
{
	bool on = !in_regions || n_regions || spans_ranges_any();

	__atomic_store_n(&spans_active, on ? wanted : 0, __ATOMIC_RELEASE);
}

/* Create the file of this process. Earlier calls are not recorded. */
static void file_make(void)
{
	int fd = create();
	struct spans_header *h = fd >= 0 ? map(fd) : NULL;

	if (fd >= 0)
		syscall(SYS_close, fd);
	if (!h)
		return;
	h->version = SPANS_VERSION;
	h->pid = (uint32_t)getpid();
	h->pid_namespace = pid_namespace();
	h->start_ns = now_ns();
	h->rank = h->n_ranks = -1;
	h->active = wanted;
	h->summing = summing;
	h->ticks = in_ticks;
	snprintf(h->program, sizeof(h->program), "%s", program_invocation_short_name);
	__atomic_store_n(&h->magic, SPANS_MAGIC, __ATOMIC_RELEASE);
	header = h;
	next_id = (uint64_t)h->start_ns >> 12; /* another process may have had the same pid */
	generation++;
	active_set();
}

/* The file of the parent belongs to the parent. */
static void in_child(void)
{
	int saved_errno = errno;

	__atomic_store_n(&spans_active, 0, __ATOMIC_RELAXED);
	/* Calls in progress at a fork() end in both processes; in the child the end is ignored. */
	if (header &&
		mmap(header, file_size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
			0) == MAP_FAILED)
		wanted = 0;
	header = NULL;
	self.depth = 0;
	self.region = NULL;
	if (wanted)
		file_make();
	errno = saved_errno;
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += len) {
		if ((p == list || p[-1] == ',') && (p[len] == ',' || !p[len]))
			return true;
	}
	return false;
}

/* Is this the selected program? */
static bool is_application(void)
{
	const char *name = secure_getenv(SPANS_APPLICATION_VARIABLE);

	return !name || !*name || !strcmp(name, program_invocation_short_name);
}

__attribute__((constructor)) static void start(void)
{
	const char *dir = secure_getenv(SPANS_DIRECTORY_VARIABLE);
	const char *list = secure_getenv(SPANS_LAYERS_VARIABLE);
	const char *mask = secure_getenv(SPANS_OPERATIONS_VARIABLE);
	const char *regions = secure_getenv(SPANS_REGIONS_VARIABLE);
	const char *summary = secure_getenv(SPANS_SUMMARY_VARIABLE);
	const char *ticks = secure_getenv(SPANS_TICKS_VARIABLE);
	const char *pid = secure_getenv(SPANS_READER_VARIABLE);
	int saved_errno = errno;

	if (wanted || !dir || dir[0] != '/' || strlen(dir) >= sizeof(directory) || !list ||
		!is_application())
		return;
	memcpy(directory, dir, strlen(dir) + 1);
	for (int i = 0; i < SPANS_LAYERS; i++)
		wanted |= (uint32_t)has_word(list, layer_names[i]) << i;
	if (mask)
		operations = (uint32_t)strtoul(mask, NULL, 10) | 1u << SPAN_MARK;
	in_regions = regions && *regions == ',' && strlen(regions) < sizeof(marks);
	if (in_regions) {
		memcpy(marks, regions, strlen(regions) + 1);
		spans_ranges_start(secure_getenv(SPANS_RANGES_VARIABLE));
	}
	summing = summary && *summary == '1';
	reader = pid ? (pid_t)strtol(pid, NULL, 10) : 0;
#if defined(__x86_64__)
	/* Sums of several hosts are added up, whose counters differ. */
	in_ticks = !summing && ticks && *ticks == '1';
#else
	(void)ticks;
#endif
	spans_library_start(secure_getenv(SPANS_FUNCTIONS_VARIABLE));
	if (wanted && pthread_atfork(NULL, NULL, in_child) == 0)
		file_make();
	errno = saved_errno;
}

__attribute__((destructor)) void spans_ended(void)
{
	if (header)
		__atomic_store_n(&header->ended, 1, __ATOMIC_RELEASE);
}

void spans_set_rank(int rank, int n_ranks)
{
	if (!header)
		return;
	header->rank = rank;
	header->n_ranks = n_ranks;
}

void spans_unserved(enum spans_layer layer)
{
	if (header)
		__atomic_fetch_or(&header->unserved, 1u << layer, __ATOMIC_RELAXED);
}

/* The reader has a lock on the directory (src/trace/stack/scratch.h). If it was killed, no process
 * frees memory. A program that changed its root does not find the directory. */
static bool is_reader_gone(void)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool gone = fd >= 0
		? syscall(SYS_flock, fd, LOCK_SH | LOCK_NB) == 0
		: errno == ENOENT && (reader <= 0 || (kill(reader, 0) < 0 && errno == ESRCH));

	if (fd >= 0)
		syscall(SYS_close, fd);
	return gone;
}

/* Stop recording. */
static void give_up(void)
{
	wanted = 0;
	active_set();
}

uint32_t spans_confine(void)
{
	uint32_t before = wanted;

	give_up();
	if (header && before)
		header->confined = 1;
	return before;
}

void spans_confine_undo(uint32_t before)
{
	if (header && before)
		header->confined = 0;
	wanted = before;
	active_set();
}

void spans_ring(void)
{
	if (header)
		__atomic_store_n(&header->rings, 1, __ATOMIC_RELAXED);
}

static struct spans_chunk *chunk_at(uint32_t at)
{
	return (struct spans_chunk *)((char *)header + SPANS_HEADER + (size_t)at * SPANS_CHUNK);
}

/* A chunk that the reader has read and offers, or NULL. It is empty before the reader can look at
 * it again. */
static struct spans_chunk *chunk_reuse(void)
{
	for (unsigned i = 0; i < SPANS_REUSABLE; i++) {
		uint32_t *slot = &header->reusable[i];
		uint32_t offered = __atomic_load_n(slot, __ATOMIC_RELAXED);
		struct spans_chunk *c;

		if (offered == 0 || offered > (file_size - SPANS_HEADER) / SPANS_CHUNK ||
			!__atomic_compare_exchange_n(slot, &offered, SPANS_EMPTYING, false,
				__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		c = chunk_at(offered - 1);
		memset(c, 0, SPANS_CHUNK);
		__atomic_store_n(slot, 0, __ATOMIC_RELEASE);
		return c;
	}
	return NULL;
}

static struct spans_chunk *chunk_new(void)
{
	uint32_t at = __atomic_fetch_add(&header->n_chunks, 1, __ATOMIC_RELAXED);

	if (at >= (file_size - SPANS_HEADER) / SPANS_CHUNK) {
		__atomic_fetch_sub(&header->n_chunks, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	return reserve(chunk_at(at), SPANS_CHUNK) ? chunk_at(at) : NULL;
}

/* A chunk for this thread only, or NULL. */
static struct spans_chunk *chunk_take(void)
{
	struct spans_chunk *c;

	if (is_reader_gone()) {
		give_up();
		return NULL;
	}
	c = chunk_reuse();
	if (!c)
		c = chunk_new();
	if (!c)
		return NULL;
	c->tid = (uint32_t)syscall(SYS_gettid);
	c->first_id = __atomic_add_fetch(&next_id, SPANS_IN_CHUNK, __ATOMIC_RELAXED);
	return c;
}

/* Take `n` consecutive places, of which the first has the number `ret_id`; NULL: no room. A signal
 * handler may interrupt this at any point, and takes other places. */
static struct spans_record *places_take(uint32_t n, uint64_t *ret_id)
{
	struct thread *t = &self;

	for (int tries = 0; tries < 2; tries++) {
		struct spans_chunk *c;
		uint32_t at;

		if (t->generation != generation || !t->chunk) {
			t->generation = generation;
			t->chunk = chunk_take();
			if (!t->chunk)
				break;
		}
		c = t->chunk;
		at = __atomic_fetch_add(&c->n, n, __ATOMIC_RELAXED);
		if (at + n <= SPANS_IN_CHUNK) {
			*ret_id = c->first_id + at;
			return (struct spans_record *)c + 1 + at;
		}
		t->chunk = NULL;
	}
	__atomic_fetch_add(&header->lost, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* The parent of a call with the frame `sp`. Calls that were left by longjmp() have frames below
 * it. */
static uint64_t parent_of(struct thread *t, uintptr_t sp)
{
	while (t->depth) {
		const struct open_call *o = &t->open[(t->depth < DEPTH ? t->depth : DEPTH) - 1];

		if (o->sp > sp || sp - o->sp > SAME_STACK)
			return o->id;
		t->depth--;
	}
	return 0;
}

static void push(struct thread *t, const struct spans_record *r, uintptr_t sp)
{
	if (t->depth < DEPTH)
		t->open[t->depth] = (struct open_call){
			.id = r->id, .sp = sp, .mark = r->op == SPAN_MARK, .layer = r->layer};
	t->depth++;
}

/* Is it an outermost call? Inner calls are recorded with it. */
static bool is_outermost(const struct thread *t)
{
	return !t->depth || t->depth > DEPTH || t->open[t->depth - 1].mark;
}

static bool is_wanted(unsigned op)
{
	return operations >> (op & 0xff) & 1 ||
		(op & SPANS_TOGETHER && operations & SPANS_COLLECTIVE_WANTED);
}

/* A place for a call that is only added up. */
static struct spans_record *scratch_take(struct thread *t, uintptr_t sp, uint64_t *ret_id)
{
	parent_of(t, sp);
	*ret_id = __atomic_add_fetch(&next_id, 1, __ATOMIC_RELAXED);
	return t->depth < SUM_DEPTH ? &t->scratch[t->depth] : NULL;
}

static struct spans_record *record_begin(enum spans_layer layer, unsigned op, const char *function,
	uintptr_t sp, const struct spans_object *object)
{
	uint64_t id = 0;
	struct spans_record *r = summing ? scratch_take(&self, sp, &id) : places_take(1, &id);

	if (!r)
		return NULL;
	r->layer = (uint8_t)layer;
	r->op = (uint8_t)op;
	r->id = (uint64_t)header->pid << 32 | (uint32_t)id;
	r->parent = parent_of(&self, sp);
	r->device = object ? object->device : 0;
	r->inode = object ? object->inode : 0;
	strncpy(r->function, function, SPANS_FUNCTION);
	if (!(op & SPANS_LATER))
		push(&self, r, sp);
	return r;
}

bool spans_inside(uintptr_t sp, enum spans_layer layer)
{
	const struct thread *t = &self;

	parent_of(&self, sp);
	return t->depth && t->depth <= DEPTH && !t->open[t->depth - 1].mark &&
		t->open[t->depth - 1].layer == layer;
}

/* A region of addresses begins and ends with an outermost call that is in it. False: the call is in
 * no region and no mark. */
static bool region_enter(uintptr_t sp)
{
	const char *name = n_regions ? NULL : spans_ranges_here();

	if (!name)
		return n_regions > 0;
	self.region = record_begin(SPANS_POSIX, SPAN_MARK, name, sp + 1, NULL);
	if (self.region) {
		self.region->offset = SPAN_NO_OFFSET;
		self.region->start = stamp();
		__atomic_store_n(&self.region->state, SPANS_BEGUN, __ATOMIC_RELEASE);
	}
	return true;
}

static void region_leave(void)
{
	struct spans_record *r = self.region;

	self.region = NULL;
	spans_stop(r, 0);
	spans_done(r);
}

struct spans_record *spans_begin_at(uintptr_t sp, enum spans_layer layer, unsigned op,
	const char *function, int64_t offset, int64_t size, const struct spans_object *object)
{
	int saved_errno = errno;
	struct spans_record *r;

	if (!header)
		return NULL;
	parent_of(&self, sp); /* forgets calls that were left by a jump */
	if (is_outermost(&self)) {
		if (!is_wanted(op))
			return NULL;
		if (self.region) /* also left by a jump */
			region_leave();
		if (in_regions && op != SPAN_MARK && spans_ranges_any() && !region_enter(sp)) {
			errno = saved_errno;
			return NULL;
		}
	}
	if (!(__atomic_load_n(&header->called, __ATOMIC_RELAXED) >> layer & 1))
		__atomic_fetch_or(&header->called, 1u << layer, __ATOMIC_RELAXED);
	r = record_begin(layer, op, function, sp, object);
	errno = saved_errno;
	if (!r)
		return NULL;
	r->flags =
		(op & SPANS_TOGETHER ? SPAN_COLLECTIVE : 0) | (op & SPANS_LATER ? SPAN_LATER : 0);
	r->offset = offset;
	r->size = size;
	r->start = stamp();
	__atomic_store_n(&r->state, SPANS_BEGUN, __ATOMIC_RELEASE);
	if (op & SPANS_LATER && self.region && self.depth == 1)
		region_leave();
	return r;
}

/* End a call, and everything that began in it and did not end: marks that a longjmp() skipped. In
 * the child of a fork() inside a call there is nothing to end. */
static void pop(struct thread *t, uint64_t id)
{
	uint32_t known = t->depth < DEPTH ? t->depth : DEPTH;

	for (uint32_t i = t->depth > DEPTH ? 0 : known; i-- > 0;) {
		if (t->open[i].id == id) {
			t->depth = i;
			return;
		}
	}
	if (t->depth)
		t->depth--;
}

_Static_assert(SPANS_OPS == SPAN_OPS, "");
_Static_assert(sizeof(struct spans_header) <= SPANS_HEADER, "");

#define COUNT(sum, more) __atomic_fetch_add(&(sum), (uint64_t)(more), __ATOMIC_RELAXED)

/* Add a call that has ended and was removed from the stack. */
static void sum_add(struct thread *t, const struct spans_record *r)
{
	struct spans_sum *s = &header->sums[r->layer][r->op];
	uint64_t ns = (uint64_t)(r->end - r->start), longest;
	bool later = r->flags & SPAN_LATER;
	uint64_t below = !later && t->depth < DEPTH ? (uint64_t)t->open[t->depth].below_ns : 0;
	uint64_t own = below < ns ? ns - below : 0;

	COUNT(s->calls, 1);
	COUNT(s->errors, r->result < 0);
	COUNT(s->bytes, r->result > 0 ? r->result : 0);
	COUNT(s->ns, ns);
	COUNT(s->own_ns, own);
	if (r->flags & SPAN_COLLECTIVE)
		COUNT(s->together_ns, own);
	longest = __atomic_load_n(&s->longest_ns, __ATOMIC_RELAXED);
	while (ns > longest &&
		!__atomic_compare_exchange_n(
			&s->longest_ns, &longest, ns, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	if (!later && t->depth && t->depth <= DEPTH)
		t->open[t->depth - 1].below_ns += (int64_t)ns;
}

struct spans_sum *spans_sums(void)
{
	return header && summing ? &header->sums[0][0] : NULL;
}

void spans_reduced(uint32_t n_ranks)
{
	if (header)
		header->reduced = n_ranks;
}

void spans_stop(struct spans_record *r, int64_t result)
{
	if (!r)
		return;
	r->end = stamp();
	r->result = result;
	pop(&self, r->id);
	if (summing && header)
		sum_add(&self, r);
	if (self.region && self.depth == 1)
		region_leave();
}

void spans_requested(struct spans_record *r)
{
	r->requested = stamp();
}

void spans_finish(struct spans_record *r, int64_t result)
{
	r->end = stamp();
	r->result = result;
	if (summing && header)
		sum_add(&self, r);
}

void spans_void(struct spans_record *r)
{
	__atomic_store_n(&r->state, SPANS_MORE, __ATOMIC_RELEASE);
}

void spans_lost(void)
{
	if (header)
		__atomic_fetch_add(&header->lost, 1, __ATOMIC_RELAXED);
}

void spans_done(struct spans_record *r)
{
	if (r)
		__atomic_store_n(&r->state, SPANS_DONE, __ATOMIC_RELEASE);
}

void(spans_end)(struct spans_record *r, int64_t result)
{
	spans_stop(r, result);
	spans_done(r);
}

void spans_name(const struct spans_object *object, const char *name, size_t len)
{
	struct spans_name *first;
	uint64_t unused;
	uint32_t n;

	if (!header || summing || len > SPANS_NAME_MAX)
		return;
	n = 1 +
		(uint32_t)(len > SPANS_TEXT
				? (len - SPANS_TEXT + SPANS_RECORD - 9) / (SPANS_RECORD - 8)
				: 0);
	first = (struct spans_name *)places_take(n, &unused);
	if (!first)
		return;
	first->len = (uint32_t)len;
	first->device = object->device;
	first->inode = object->inode;
	memcpy(first->text, name, len < SPANS_TEXT ? len : SPANS_TEXT);
	for (uint32_t i = 1; i < n; i++) {
		char *more = (char *)(first + i);
		size_t at = SPANS_TEXT + (size_t)(i - 1) * (SPANS_RECORD - 8);

		memcpy(more + 8, name + at,
			len - at < SPANS_RECORD - 8 ? len - at : SPANS_RECORD - 8);
		__atomic_store_n((uint32_t *)(void *)more, SPANS_MORE, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&first->state, SPANS_NAME, __ATOMIC_RELEASE);
}

/* Is a mark selected? */
static bool is_mark_wanted(const char *name)
{
	size_t len = strnlen(name, SPANS_FUNCTION);

	for (const char *p = marks; (p = strchr(p, ',')); p++) {
		if (!strncmp(p + 1, name, len) && p[1 + len] == ',')
			return true;
	}
	return false;
}

/* A selected mark without room for a record. */
static struct spans_record no_room;

/* Marks of the program (limpet/region.h). They may nest; those of all threads count together. */
SPANS_EXPORT void *limpet_region_begin(const char *name);
SPANS_EXPORT void *limpet_region_begin(const char *name)
{
	struct spans_record *r;

	if (!header || (in_regions && !is_mark_wanted(name)))
		return NULL;
	__atomic_fetch_add(&n_regions, 1, __ATOMIC_RELAXED);
	active_set();
	r = spans_begin(SPANS_POSIX, SPAN_MARK, name, SPAN_NO_OFFSET, 0, NULL);
	/* A mark has no frame: the function that sets it, a helper or a constructor, may return. */
	if (r && self.depth <= DEPTH)
		self.open[self.depth - 1].sp = UINTPTR_MAX;
	return r ? r : &no_room;
}

SPANS_EXPORT void limpet_region_end(void *mark);
SPANS_EXPORT void limpet_region_end(void *mark)
{
	if (!header || !mark)
		return;
	spans_end(mark == &no_room ? NULL : mark, 0);
	if (__atomic_sub_fetch(&n_regions, 1, __ATOMIC_RELAXED) == 0)
		active_set();
}
