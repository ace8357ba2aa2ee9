/* In the steady state a sample neither allocates nor opens anything. */
#include "collect_run.h"
#include <fcntl.h>
#include <sys/syscall.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define UNDER_ASAN 1
#endif

static unsigned long n_allocs, n_opens;

#ifdef UNDER_ASAN
/* The sanitizer owns malloc(), and offers hooks. */
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void *, size_t),
	void (*free_hook)(const volatile void *));

static void count_alloc(const volatile void *p, size_t size)
{
	(void)p;
	(void)size;
	n_allocs++;
}

static void ignore_free(const volatile void *p)
{
	(void)p;
}

static void count_allocs(void)
{
	assert_true(__sanitizer_install_malloc_and_free_hooks(count_alloc, ignore_free) > 0);
}
#else
/* Definitions in the program replace the C library's for the library's own calls too (strdup(),
 * opendir()); these names are how glibc lets a replacement call the original. cmocka has macros of
 * the same names in some builds, hence the labels. */
#define EXPORTED __attribute__((visibility("default")))
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
EXPORTED void *steady_malloc(size_t size) __asm__("malloc");
EXPORTED void *steady_calloc(size_t n, size_t size) __asm__("calloc");
EXPORTED void *steady_realloc(void *p, size_t size) __asm__("realloc");

void *steady_malloc(size_t size)
{
	n_allocs++;
	return __libc_malloc(size);
}

void *steady_calloc(size_t n, size_t size)
{
	n_allocs++;
	return __libc_calloc(n, size);
}

void *steady_realloc(void *p, size_t size)
{
	n_allocs++;
	return __libc_realloc(p, size);
}

static void count_allocs(void)
{
}
#endif

/* open() has two names, one of them for large files. */
int steady_open(const char *path, int flags, int mode) __asm__("open");
int steady_open64(const char *path, int flags, int mode) __asm__("open64");

int steady_open(const char *path, int flags, int mode)
{
	n_opens++;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int steady_open64(const char *path, int flags, int mode)
{
	return steady_open(path, flags, mode);
}

static void assert_steady(const char *collector, const char *tree)
{
	unsigned long allocs = n_allocs, opens = n_opens;
	struct run r;

	run_init_tree(&r, collector, tree, 1);
	run_sample(&r);
	assert_true(n_allocs > allocs); /* the counters do count */
	assert_true(n_opens > opens);
	allocs = n_allocs;
	opens = n_opens;
	for (int i = 0; i < 100; i++)
		run_sample(&r);
	assert_int_equal(n_allocs - allocs, 0);
	assert_int_equal(n_opens - opens, 0);
	assert_true(r.sink.batch->kinds[0].n_components > 0);
	run_close(&r);
}

static void test_no_allocation_no_open(void **state)
{
	static const char *const trees[] = {
		"kernel-2.6.32", "kernel-4.18", "kernel-6.1-nvme", "multipath"};

	(void)state;
	count_allocs();
	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		assert_steady("diskstats", trees[i]);
		assert_steady("netdev", trees[i]);
		assert_steady("host", trees[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_allocation_no_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
