/* In the steady state writing a loose frame allocates nothing. */
#include "archive_util.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define UNDER_ASAN 1
#endif

static unsigned long n_allocs;

#ifdef UNDER_ASAN
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void *, size_t),
	void (*free_hook)(const volatile void *));

static void on_malloc(const volatile void *p, size_t size)
{
	n_allocs += p || size;
}

static void on_free(const volatile void *p)
{
	(void)p;
}

static void hooks_install(void)
{
	assert_true(__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) > 0);
}
#else
/* As in test_collect_steady.c: the program's definitions replace the C library's. */
#define COUNTED(name, args, call)                                                                  \
	__attribute__((visibility("default"))) void *counted_##name args __asm__(#name);           \
	void *counted_##name args                                                                  \
	{                                                                                          \
		n_allocs++;                                                                        \
		return __libc_##name call;                                                         \
	}
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
COUNTED(malloc, (size_t size), (size))
COUNTED(calloc, (size_t n, size_t size), (n, size))
COUNTED(realloc, (void *p, size_t size), (p, size))

static void hooks_install(void)
{
}
#endif

static void test_loose_writes(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(40, 1300, TRUTH_MISSING, 1);
	struct lp_batch *batches[130];
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	unsigned long before;
	int r = 0;

	(void)state;
	for (uint32_t i = 0; i < 130; i++)
		batches[i] = truth_batch(t, i * 10, 10, i > 0);
	hooks_install();
	assert_int_equal(lp_archive_create(test_path("steady"), &truth_meta, &w, &err), 0);
	for (uint32_t i = 0; i < 30; i++) /* key frames and the copy of the catalogue included */
		r |= lp_archive_write(w, t->catalogue, batches[i], LP_ARCHIVE_LOOSE, &err);
	before = n_allocs;
	assert_true(before > 0);
	for (uint32_t i = 30; i < 130; i++)
		r |= lp_archive_write(w, t->catalogue, batches[i], LP_ARCHIVE_LOOSE, &err);
	assert_int_equal(n_allocs - before, 0);
	assert_int_equal(r, 0);
	lp_archive_abandon(w);
	truth_check_file(t, test_path("steady"), 1300);
	for (uint32_t i = 0; i < 130; i++)
		lp_batch_free(batches[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loose_writes),
	};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
