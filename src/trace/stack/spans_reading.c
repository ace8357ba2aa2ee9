#include "trace/stack/spans_reading.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/time.h"
#include "runtime/spans_file.h"
#include "trace/stack/layer.h"
#include "trace/stack/ticks.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names of objects that are remembered per process. */
#define NAMES_MAX 65536

static const char *const layer_names[SPANS_LAYERS] = {
	[SPANS_LIBRARY] = "library",
	[SPANS_HDF5] = "hdf5",
	[SPANS_PNETCDF] = "pnetcdf",
	[SPANS_MPI_IO] = "mpi-io",
	[SPANS_POSIX] = "posix",
};

/* A file of a process. */
struct spans_file {
	char *path;
	int fd;
	struct spans_header header; /* as it was at the last look */
	uint32_t *waiting;	    /* chunks that were not taken yet */
	size_t n_waiting, cap_waiting;
	uint32_t seen;			  /* chunks so far */
	uint32_t offered[SPANS_REUSABLE]; /* what was put into the slots of the header */
	bool known, gone, done;
	struct strmap names; /* "device:inode" -> place in texts */
	char **texts;
	size_t n_texts, cap_texts;
};

struct spans_reading {
	char *dir;
	int64_t wall_offset_ns;
	int64_t now_ns; /* of this pass: the end of spans that are still open */
	struct tick_clock clock;
	uint32_t n_taken; /* chunks in the last pass */
	int (*fn)(void *ctx, const struct span *s);
	void *ctx;
	struct spans_file *files;
	size_t n, cap;
	struct strmap by_name;
	uint64_t own_namespace;
	struct spans_totals totals;
	union {
		struct spans_record records[SPANS_CHUNK / SPANS_RECORD];
		char bytes[SPANS_CHUNK];
	} chunk;
};

static void file_release(struct spans_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	free(f->waiting);
	f->waiting = NULL;
	for (size_t i = 0; i < f->n_texts; i++)
		free(f->texts[i]);
	free(f->texts);
	f->texts = NULL;
	f->n_texts = f->cap_texts = f->n_waiting = f->cap_waiting = 0;
	strmap_release(&f->names);
}

void spans_reading_free(struct spans_reading *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++) {
		file_release(&r->files[i]);
		free(r->files[i].path);
	}
	free(r->files);
	strmap_release(&r->by_name);
	tick_clock_release(&r->clock);
	free(r->dir);
	free(r);
}

int spans_reading_new(const char *dir, int64_t wall_offset_ns,
	int (*fn)(void *ctx, const struct span *s), void *ctx, struct spans_reading **ret,
	struct lp_err *err)
{
	struct spans_reading *r = calloc(1, sizeof(*r));
	struct stat st;

	if (r)
		r->dir = strdup(dir);
	if (!r || !r->dir || tick_clock_note(&r->clock) < 0) {
		spans_reading_free(r);
		return lp_err_sys(err, -ENOMEM, "cannot read %s", dir);
	}
	r->wall_offset_ns = wall_offset_ns;
	r->fn = fn;
	r->ctx = ctx;
	r->own_namespace = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
	*ret = r;
	return 0;
}

const struct spans_totals *spans_reading_totals(const struct spans_reading *r)
{
	return &r->totals;
}

bool spans_reading_is_busy(const struct spans_reading *r)
{
	return r->n_taken > SPANS_REUSABLE / 4;
}

/* A time of a program, in ns since 1970. It may be any number. */
static int64_t wall(const struct spans_reading *r, int64_t mono_ns)
{
	int64_t ns;

	if (mono_ns < 0 || __builtin_add_overflow(mono_ns, r->wall_offset_ns, &ns))
		return 0;
	return ns;
}

static const char *object_name(const struct spans_file *f, uint64_t device, uint64_t inode)
{
	char key[48];
	uint32_t at;

	snprintf(key, sizeof(key), "%llx:%llx", (unsigned long long)device,
		(unsigned long long)inode);
	return strmap_get(&f->names, key, &at) ? f->texts[at] : "";
}

/* The text of a name, which may continue in the records that follow. -EBADMSG: it does not. */
static int name_text(const struct spans_record *at, uint32_t left, char **ret)
{
	const struct spans_name *name = (const struct spans_name *)(const void *)at;
	size_t len = name->len, done = len < SPANS_TEXT ? len : SPANS_TEXT;
	char *text;

	if (len > SPANS_NAME_MAX ||
		(len > SPANS_TEXT &&
			(len - SPANS_TEXT + SPANS_RECORD - 9) / (SPANS_RECORD - 8) >= left))
		return -EBADMSG;
	text = malloc(len + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, name->text, done);
	for (const struct spans_record *more = at + 1; done < len; more++) {
		size_t n = len - done < SPANS_RECORD - 8 ? len - done : SPANS_RECORD - 8;

		memcpy(text + done, (const char *)more + 8, n);
		done += n;
	}
	text[len] = '\0';
	*ret = text;
	return 0;
}

static int name_take(
	struct spans_reading *r, struct spans_file *f, const struct spans_record *at, uint32_t left)
{
	const struct spans_name *name = (const struct spans_name *)(const void *)at;
	_cleanup_free_ char *text = NULL;
	char key[48];
	uint32_t known;
	int got = name_text(at, left, &text);

	if (got < 0) {
		r->totals.damaged += got == -EBADMSG;
		return got == -EBADMSG ? 0 : got;
	}
	snprintf(key, sizeof(key), "%llx:%llx", (unsigned long long)name->device,
		(unsigned long long)name->inode);
	if (strmap_get(&f->names, key, &known)) {
		free(f->texts[known]);
		f->texts[known] = TAKE_PTR(text);
		return 0;
	}
	if (f->n_texts >= NAMES_MAX)
		return 0;
	if (array_reserve(&f->texts, &f->cap_texts, f->n_texts + 1, sizeof(*f->texts)) < 0 ||
		strmap_put(&f->names, key, (uint32_t)f->n_texts) < 0)
		return -ENOMEM;
	f->texts[f->n_texts++] = TAKE_PTR(text);
	return 0;
}

/* A time in a record, as CLOCK_MONOTONIC. */
static int64_t mono_ns(const struct spans_reading *r, const struct spans_file *f, int64_t time)
{
	return f->header.ticks ? tick_clock_ns(&r->clock, (uint64_t)time) : time;
}

static int span_take(
	struct spans_reading *r, struct spans_file *f, const struct spans_record *at, uint32_t tid)
{
	bool open = at->state == SPANS_BEGUN, later = at->flags & SPAN_LATER;
	char function[SPANS_FUNCTION + 1];
	size_t n = later ? sizeof(at->short_function) : sizeof(at->function);
	struct span s = {.id = at->id,
		.parent = at->parent,
		.start_ns = wall(r, mono_ns(r, f, at->start)),
		.end_ns = wall(r, open ? r->now_ns : mono_ns(r, f, at->end)),
		.pid = (int32_t)f->header.pid,
		.tid = (int32_t)tid,
		.rank = f->header.rank,
		.op = at->op,
		.flags = (uint8_t)(at->flags | (open ? SPAN_OPEN_END : 0)),
		.device = at->device,
		.inode = at->inode,
		.key = at->inode,
		.offset = at->offset < 0 ? SPAN_NO_OFFSET : at->offset,
		.size = at->size < 0 ? 0 : at->size,
		.result = open ? 0 : at->result,
		.function = function};

	if (at->layer >= SPANS_LAYERS || at->op >= SPAN_OPS || !at->id) {
		r->totals.damaged++;
		return 0;
	}
	memcpy(function, at->function, n);
	function[n] = '\0';
	s.layer = layer_names[at->layer];
	s.object = at->inode || at->device ? object_name(f, at->device, at->inode) : "";
	if (s.end_ns < s.start_ns)
		s.end_ns = s.start_ns;
	if (later && at->requested)
		s.unique = (uint64_t)(wall(r, mono_ns(r, f, at->requested)) - s.start_ns);
	*(s.op == SPAN_MARK ? &r->totals.visits : &r->totals.spans) += 1;
	r->totals.open += open;
	return r->fn(r->ctx, &s);
}

/* The records of the chunk that was read: how many there are, and whether all are complete. */
static uint32_t chunk_count(const struct spans_reading *r, bool *ret_complete)
{
	const struct spans_chunk *c = (const struct spans_chunk *)(const void *)r->chunk.bytes;
	uint32_t n = c->n < SPANS_IN_CHUNK ? c->n : SPANS_IN_CHUNK;

	*ret_complete = c->n >= SPANS_IN_CHUNK;
	for (uint32_t i = 1; i <= n && *ret_complete; i++)
		*ret_complete = r->chunk.records[i].state != SPANS_BEGUN &&
			(r->chunk.records[i].state != SPANS_FREE || c->n > SPANS_IN_CHUNK);
	return n;
}

static int chunk_names(struct spans_reading *r, struct spans_file *f, uint32_t n)
{
	int got = 0;

	for (uint32_t i = 1; i <= n && got == 0; i++) {
		if (r->chunk.records[i].state == SPANS_NAME)
			got = name_take(r, f, &r->chunk.records[i], n - i + 1);
	}
	return got;
}

static int chunk_spans(struct spans_reading *r, struct spans_file *f, uint32_t n)
{
	const struct spans_chunk *c = (const struct spans_chunk *)(const void *)r->chunk.bytes;
	int got = 0;

	for (uint32_t i = 1; i <= n && got == 0; i++) {
		const struct spans_record *at = &r->chunk.records[i];

		if (at->state == SPANS_BEGUN || at->state == SPANS_DONE)
			got = span_take(r, f, at, c->tid);
		else if (at->state > SPANS_MORE)
			r->totals.damaged++;
	}
	return got;
}

static off_t chunk_offset(uint32_t at)
{
	return SPANS_HEADER + (off_t)at * SPANS_CHUNK;
}

/* The part that does not exist is empty. */
static int chunk_read(struct spans_reading *r, const struct spans_file *f, uint32_t at)
{
	ssize_t got = file_pread_full(f->fd, r->chunk.bytes, SPANS_CHUNK, chunk_offset(at));

	if (got < 0)
		return (int)got;
	memset(r->chunk.bytes + got, 0, SPANS_CHUNK - (size_t)got);
	return 0;
}

/* Names first: another thread may have used them already. */
static int file_names(struct spans_reading *r, struct spans_file *f)
{
	int got = 0;

	for (size_t i = 0; i < f->n_waiting && got == 0; i++) {
		bool complete;

		got = chunk_read(r, f, f->waiting[i]);
		if (got == 0)
			got = chunk_names(r, f, chunk_count(r, &complete));
	}
	return got;
}

/* Give the memory of a chunk back, to the program if it has few to reuse. If that fails, nothing is
 * lost. */
static void chunk_free(struct spans_file *f, uint32_t at, bool at_end)
{
	const uint32_t offer = at + 1;

	for (unsigned i = 0; !at_end && i < SPANS_REUSABLE; i++) {
		off_t slot = (off_t)(offsetof(struct spans_header, reusable) + i * sizeof(offer));

		if (f->header.reusable[i] || f->offered[i] ||
			pwrite(f->fd, &offer, sizeof(offer), slot) != sizeof(offer))
			continue;
		f->offered[i] = f->header.reusable[i] = offer;
		return;
	}
	(void)!fallocate(
		f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, chunk_offset(at), SPANS_CHUNK);
}

static int file_spans(struct spans_reading *r, struct spans_file *f, bool all)
{
	size_t kept = 0;
	int got = 0;

	for (size_t i = 0; i < f->n_waiting; i++) {
		uint32_t at = f->waiting[i], n;
		bool complete = false;

		if (got == 0)
			got = chunk_read(r, f, at);
		n = got == 0 ? chunk_count(r, &complete) : 0;
		if (got < 0 || !(complete || all)) {
			f->waiting[kept++] = at;
			continue;
		}
		got = chunk_spans(r, f, n);
		chunk_free(f, at, all);
		r->n_taken++;
	}
	f->n_waiting = kept;
	return got;
}

/* Has the process ended? It is unknown for processes of other namespaces. */
static bool is_gone(const struct spans_reading *r, const struct spans_file *f)
{
	return r->own_namespace && f->header.pid_namespace == r->own_namespace &&
		f->header.pid > 1 && f->header.pid <= INT32_MAX &&
		kill((pid_t)f->header.pid, 0) < 0 && errno == ESRCH;
}

static int chunk_await(struct spans_file *f, uint32_t at)
{
	if (array_reserve(&f->waiting, &f->cap_waiting, f->n_waiting + 1, sizeof(*f->waiting)) < 0)
		return -ENOMEM;
	f->waiting[f->n_waiting++] = at;
	return 0;
}

/* New chunks, and those that the program took again. */
static int file_chunks(struct spans_file *f)
{
	uint32_t n = f->header.n_chunks < SPANS_CHUNKS ? f->header.n_chunks : SPANS_CHUNKS;
	int got = 0;

	for (; got == 0 && f->seen < n; f->seen += got == 0)
		got = chunk_await(f, f->seen);
	for (unsigned i = 0; got == 0 && i < SPANS_REUSABLE; i++) {
		if (!f->offered[i] || f->header.reusable[i])
			continue;
		got = chunk_await(f, f->offered[i] - 1);
		f->offered[i] = 0;
	}
	return got;
}

static void header_read(struct spans_file *f)
{
	struct spans_header h;

	if (file_pread_full(f->fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) ||
		h.magic != SPANS_MAGIC || h.version != SPANS_VERSION)
		return;
	f->header = h;
	f->known = true;
}

/* Did the process become another program (exec)? That has a file of its own. */
static bool is_followed(const struct spans_reading *r, const struct spans_file *f)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct spans_header *h = &r->files[i].header;

		if (r->files[i].known && h->pid == f->header.pid &&
			h->start_ns > f->header.start_ns)
			return true;
	}
	return false;
}

static void file_finish(struct spans_reading *r, struct spans_file *f)
{
	struct spans_totals *t = &r->totals;
	struct stat st;

	for (int i = 0; i < SPANS_LAYERS; i++) {
		if (f->header.called >> i & 1)
			t->called |= 1u << layer_find(layer_names[i]);
		if (f->header.unserved >> i & 1)
			t->unserved |= 1u << layer_find(layer_names[i]);
	}
	for (unsigned i = 0; f->header.summing && i < SPANS_LAYERS; i++) {
		for (unsigned op = 0; op < SPANS_OPS; op++)
			job_sums_add(&t->sums, (unsigned)layer_find(layer_names[i]), op,
				&f->header.sums[i][op]);
	}
	if (f->header.summing && f->header.reduced <= 1 << 24)
		t->sums.n_ranks =
			f->header.reduced > t->sums.n_ranks ? f->header.reduced : t->sums.n_ranks;
	t->lost += f->header.lost;
	t->killed += f->known && !f->header.ended && f->header.called && !is_followed(r, f);
	t->confined += f->header.confined != 0;
	t->rings += f->header.rings != 0;
	if (!f->known && fstat(f->fd, &st) == 0 && !st.st_size)
		t->refused++;
	else
		t->damaged += !f->known;
	t->processes += f->known;
	if (f->header.rank >= 0 && f->header.n_ranks > 0 && f->header.n_ranks <= 1 << 24) {
		t->n_ranks = f->header.n_ranks;
		t->ranks_seen++;
	}
	unlink(f->path);
	file_release(f);
	f->done = true;
}

static int file_look(struct spans_reading *r, struct spans_file *f, bool at_end)
{
	int got = file_chunks(f);

	if (got == 0)
		got = file_names(r, f);
	if (got == 0)
		got = file_spans(r, f, f->gone || at_end);
	if (got == 0 && (f->gone || at_end))
		file_finish(r, f);
	return got;
}

/* A file that was not there at the last look. */
static int file_add(struct spans_reading *r, const char *name)
{
	struct spans_file f = {.fd = -1, .header = {.rank = -1}};
	struct stat st;
	uint32_t at;

	if (strmap_get(&r->by_name, name, &at))
		return 0;
	if (asprintf(&f.path, "%s/%s", r->dir, name) < 0)
		return -ENOMEM;
	f.fd = open(f.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	/* Other users may put files here: not another name of a file elsewhere. */
	if (f.fd >= 0 && (fstat(f.fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink > 1)) {
		close(f.fd);
		f.fd = -1;
	}
	if (f.fd < 0 || array_reserve(&r->files, &r->cap, r->n + 1, sizeof(*r->files)) < 0 ||
		strmap_put(&r->by_name, name, (uint32_t)r->n) < 0) {
		int error = f.fd < 0 ? 0 : -ENOMEM; /* one that is not a file is left alone */

		r->totals.damaged += f.fd < 0;
		file_release(&f);
		free(f.path);
		return error;
	}
	r->files[r->n++] = f;
	return 0;
}

static int is_spans(const struct dirent *e)
{
	return !strncmp(e->d_name, SPANS_PREFIX, strlen(SPANS_PREFIX));
}

static int files_find(struct spans_reading *r)
{
	struct dirent **entries = NULL;
	int n = scandir(r->dir, &entries, is_spans, alphasort), got = n < 0 ? -errno : 0;

	for (int i = 0; i < n; i++) {
		if (got == 0)
			got = file_add(r, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return got;
}

int spans_reading_look(struct spans_reading *r, bool at_end, struct lp_err *err)
{
	int got = files_find(r);

	if (got == 0)
		got = tick_clock_note(&r->clock);
	r->n_taken = 0;
	r->now_ns = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < r->n; i++) {
		struct spans_file *f = &r->files[i];

		/* A process that has ended by now has written everything before we look. */
		f->gone = !f->done && f->known && is_gone(r, f);
		if (!f->done)
			header_read(f);
	}
	for (size_t i = 0; i < r->n && got == 0; i++) {
		if (!r->files[i].done)
			got = file_look(r, &r->files[i], at_end);
	}
	return got < 0 ? lp_err_sys(err, got, "cannot read the spans in %s", r->dir) : got;
}
