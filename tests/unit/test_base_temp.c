#include "base/temp.h"

#include "temp_dir.h"
#include <errno.h>

static void test_dir(void **state)
{
	struct lp_err err = {0};
	struct stat st;
	char *path = NULL;

	(void)state;
	setenv("TMPDIR", temp_dir_path, 1);
	assert_int_equal(temp_dir_make(&path, &err), 0);
	assert_memory_equal(path, temp_dir_path, strlen(temp_dir_path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(rmdir(path), 0);
	free(path);

	setenv("TMPDIR", temp_path("missing"), 1);
	assert_int_equal(temp_dir_make(&path, &err), -ENOENT);
	assert_non_null(strstr(err.text, "missing"));

	setenv("TMPDIR", "", 1);
	assert_int_equal(temp_dir_make(&path, &err), 0);
	assert_memory_equal(path, "/tmp/", 5);
	assert_int_equal(rmdir(path), 0);
	free(path);
}

static void test_file(void **state)
{
	struct lp_err err = {0};
	struct stat st;
	int fd;

	(void)state;
	setenv("TMPDIR", temp_dir_path, 1);
	fd = temp_file_make(&err);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_nlink, 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(close(fd), 0);
	setenv("TMPDIR", temp_path("missing"), 1);
	assert_int_equal(temp_file_make(&err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_dir, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_file, temp_dir_setup, temp_dir_teardown)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
