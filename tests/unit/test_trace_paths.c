#include "trace/symbols/paths.h"

#include "own_image.h"

static void test_find(void **state)
{
	char own[4096];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	const struct build_id other = {.bytes = {1, 2, 3}, .known = true};
	struct paths p = {0};
	struct elf_image e;
	int fd;

	(void)state;
	assert_true(n > 0);
	own[n] = '\0';
	assert_int_equal(paths_note(&p, "relative"), 0);
	assert_int_equal(paths_note(&p, "[vdso]"), 0);
	assert_int_equal(paths_note(&p, "/nowhere/at/all"), 0);
	assert_int_equal(paths_note(&p, "/dev/zero"), 0);
	assert_int_equal(p.n, 2);
	assert_null(paths_find(&p, &other));
	assert_int_equal(paths_note(&p, own), 0);
	assert_int_equal(paths_note(&p, own), 0);
	assert_int_equal(p.n, 3);
	fd = open(own, O_RDONLY | O_CLOEXEC);
	if (elf_image_identify(fd, &e) == 0) {
		assert_string_equal(paths_find(&p, &e.id), own);
		paths_again(&p);
		assert_string_equal(paths_find(&p, &e.id), own);
	}
	close(fd);
	assert_null(paths_find(&p, &other));
	paths_release(&p);
}

static void test_many(void **state)
{
	struct paths p = {0};
	char path[32];

	(void)state;
	for (int i = 0; i < PATHS_MAX + 10; i++) {
		snprintf(path, sizeof(path), "/nowhere/%d", i);
		assert_int_equal(paths_note(&p, path), 0);
	}
	assert_int_equal(p.n, PATHS_MAX);
	paths_again(&p);
	assert_int_equal(p.n, 0);
	paths_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
