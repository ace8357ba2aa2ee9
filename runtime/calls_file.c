/* The file of the table, created when the program starts, and again in the child of a fork().
 *
 * If there is a reader, the file has a name and outlives the program, so that counts of short or
 * killed programs are not lost; the reader removes it. Without a reader it has no name, and can be
 * found by its mapping (/proc/PID/maps), so no program leaves a file behind.
 */
#include "runtime/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct calls_table *calls_table;
static uint8_t all_off[CALLS_MAX_FUNCTIONS];
const uint8_t *limpet_calls_off_1 = all_off;
static char path[512]; /* "": the file has no name */

/* The runtime needs only libc, so it cannot use the clock of src/base. */
static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* Does the processor's counter run at a constant rate? */
static bool tsc_is_steady(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1U << 8);
#else
	return false;
#endif
}

/* Before Linux 5.14: through the file. It is opened by its name, because programs close unknown
 * descriptors. */
static bool reserve_in_file(size_t offset, size_t size)
{
	int fd = path[0] ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
	bool done = fd >= 0 && fallocate(fd, 0, (off_t)offset, (off_t)size) == 0;

	if (fd >= 0)
		close(fd);
	return done;
}

bool calls_reserve(const void *start, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t begin = (size_t)((const char *)start - (const char *)calls_table) / page * page;
	size_t end = ((size_t)((const char *)start - (const char *)calls_table) + size + page - 1) /
		page * page;
	int saved_errno = errno;
	bool done;

	done = madvise((char *)calls_table + begin, end - begin, MADV_POPULATE_WRITE) == 0 ||
		(errno == EINVAL && reserve_in_file(begin, end - begin));
	errno = saved_errno;
	return done;
}

static const char *directory(void)
{
	const char *name = secure_getenv(CALLS_DIRECTORY_VARIABLE);

	return name && name[0] == '/' ? name : CALLS_DIRECTORY;
}

static bool somebody_reads(void)
{
	struct timespec now;
	char name[sizeof(path)];
	struct stat st;

	if ((size_t)snprintf(name, sizeof(name), "%s/%s", directory(), CALLS_READER) >=
			sizeof(name) ||
		lstat(name, &st) < 0)
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - st.st_mtim.tv_sec <= CALLS_READER_S;
}

/* Create an empty file, with a name if there is a reader. */
static int create(uint64_t birth_ns)
{
	bool is_default = !strcmp(directory(), CALLS_DIRECTORY);
	char name[249]; /* the limit of the kernel */

	path[0] = '\0';
	if (somebody_reads() &&
		(size_t)snprintf(path, sizeof(path), "%s/%s%d.%llu", directory(), CALLS_PREFIX,
			(int)getpid(), (unsigned long long)birth_ns) < sizeof(path)) {
		int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd >= 0)
			return fd;
	}
	path[0] = '\0';
	snprintf(name, sizeof(name), CALLS_MEMFD "%s%s", is_default ? "" : ":",
		is_default ? "" : directory());
	return memfd_create(name, MFD_CLOEXEC);
}

/* Give a new file its size. The limit on the size of files (ulimit -f) applies to this one, too,
 * and exceeding it would kill the program. So raise the limit briefly, if that is permitted. There
 * is only one thread at this time. */
static bool resize(int fd)
{
	const off_t size = sizeof(struct calls_table);
	struct rlimit limit, higher;
	bool done;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return false;
	if (limit.rlim_cur >= (rlim_t)size)
		return ftruncate(fd, size) == 0;
	higher = (struct rlimit){limit.rlim_max, limit.rlim_max};
	if (limit.rlim_max < (rlim_t)size || setrlimit(RLIMIT_FSIZE, &higher) < 0)
		return false;
	done = ftruncate(fd, size) == 0;
	setrlimit(RLIMIT_FSIZE, &limit);
	return done;
}

/* Map a new file, at `at` if it is not NULL. */
static struct calls_table *map_new(struct calls_table *at, uint64_t birth_ns)
{
	const size_t size = sizeof(struct calls_table);
	int fd = create(birth_ns);
	void *map = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (resize(fd))
		map = mmap(
			at, size, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
	close(fd);
	if (map != MAP_FAILED) {
		/* Otherwise all of it would be in a core dump, which would also fill it. */
		madvise(map, size, MADV_DONTDUMP);
		return map;
	}
	if (path[0])
		unlink(path);
	return NULL;
}

/* The namespace of this process's id. In another namespace (outside of a container) the same id may
 * belong to another process. */
static uint64_t pid_space(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

static void set_header(struct calls_header *header, uint64_t birth_ns)
{
	header->birth_ns = birth_ns;
	header->birth_ticks = calls_now();
	header->pid = (uint32_t)getpid();
	header->clock = calls_use_tsc ? CALLS_CLOCK_TSC : CALLS_CLOCK_NS;
	header->pid_space = pid_space();
	prctl(PR_GET_NAME, header->program);
	__atomic_store_n(&header->magic, CALLS_MAGIC, __ATOMIC_RELEASE);
}

/* Reserve memory for the header, all threads, and these numbers of modules and functions. */
static bool prepare(struct calls_table *table, size_t n_modules, size_t n_functions)
{
	return calls_reserve(&table->header, sizeof(table->header)) &&
		calls_reserve(table->threads, sizeof(table->threads)) &&
		calls_reserve(table->modules, (n_modules + 1) * sizeof(table->modules[0])) &&
		calls_reserve(table->functions, (n_functions + 1) * sizeof(table->functions[0])) &&
		calls_reserve(table->off, n_functions + 1);
}

/* Modules and functions keep their numbers in the child. */
static bool copy_names(const struct calls_table *from, struct calls_table *to)
{
	size_t n_functions = from->header.n_functions, n_modules = from->header.n_modules;

	if (!prepare(to, n_modules, n_functions))
		return false;
	memcpy(to->modules, from->modules, n_modules * sizeof(to->modules[0]));
	memcpy(to->functions, from->functions, n_functions * sizeof(to->functions[0]));
	memcpy(to->off, from->off, n_functions);
	to->header.n_modules = (uint32_t)n_modules;
	to->header.n_functions = (uint32_t)n_functions;
	return true;
}

static void stop(void)
{
	calls_detached();
	memset(all_off, 1, sizeof(all_off));
	limpet_calls_off_1 = all_off;
	calls_table = NULL;
}

/* The child has its own table at the same address, so that nothing else changes. */
static void after_fork(void)
{
	size_t size = sizeof(struct calls_table);
	struct calls_table *here = calls_table;
	uint64_t birth_ns = monotonic_ns();
	int saved_errno = errno;
	void *parents;

	if (!here)
		return;
	parents = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (parents != MAP_FAILED &&
		mremap(here, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, parents) != MAP_FAILED &&
		map_new(here, birth_ns) && copy_names(parents, here)) {
		set_header(&here->header, birth_ns);
		calls_functions_after_fork();
		calls_keep_thread();
	} else {
		stop();
	}
	if (parents != MAP_FAILED)
		munmap(parents, size);
	errno = saved_errno;
}

static bool at_exit;

bool calls_at_exit(void)
{
	return at_exit;
}

static void before_exit(void)
{
	at_exit = true;
	/* The child of clone() or _Fork() has its parent's table. */
	if (!calls_table || calls_table->header.pid != (uint32_t)getpid())
		return;
	calls_unwind();
	calls_table->header.ended = 1;
	if (path[0] && !somebody_reads())
		unlink(path);
}

__attribute__((constructor(101))) void calls_start(void)
{
	uint64_t birth_ns = monotonic_ns();
	static bool started;
	int saved_errno = errno;

	if (started)
		return;
	started = true;
	calls_use_tsc = tsc_is_steady();
	calls_table = map_new(NULL, birth_ns);
	if (calls_table &&
		(!prepare(calls_table, 0, 0) || !calls_prepare_threads() ||
			pthread_atfork(NULL, NULL, after_fork) != 0 || atexit(before_exit) != 0))
		stop();
	if (calls_table) {
		limpet_calls_off_1 = calls_table->off;
		set_header(&calls_table->header, birth_ns);
	}
	errno = saved_errno;
}
