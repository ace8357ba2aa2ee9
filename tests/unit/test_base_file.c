#include "base/file.h"

#include "base/cleanup.h"
#include "unit.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each test works in a separate directory, which is also the current one. */
static int setup(void **state)
{
	char *dir = strdup("/tmp/limpet-file.XXXXXX");

	if (!dir || !mkdtemp(dir) || chdir(dir) < 0)
		return -1;
	*state = dir;
	return 0;
}

static int teardown(void **state)
{
	static const char *const leftovers[] = {"f", "a/b/c", "a/b", "a", "x"};
	char *dir = *state;

	for (size_t i = 0; i < sizeof(leftovers) / sizeof(leftovers[0]); i++)
		(void)remove(leftovers[i]);
	if (chdir("/") < 0 || rmdir(dir) < 0)
		return -1;
	free(dir);
	return 0;
}

static int open_new(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void test_write_then_read(void **state)
{
	_cleanup_close_ int fd = open_new("f");
	char buf[16];

	(void)state;
	assert_int_equal(file_pwrite_full(fd, "hello", 5, 3), 0);
	assert_int_equal(file_pread_full(fd, buf, sizeof(buf), 0), 8);
	assert_memory_equal(buf, "\0\0\0hello", 8);
	assert_int_equal(file_pread_full(fd, buf, 2, 4), 2);
	assert_memory_equal(buf, "el", 2);
	assert_int_equal(file_pread_full(fd, buf, 2, 100), 0);
	assert_int_equal(file_pread_full(fd, buf, 0, 0), 0);
	assert_int_equal(file_pwrite_full(fd, NULL, 0, 0), 0);
}

static void test_errors_are_returned(void **state)
{
	_cleanup_close_ int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	char c = 'x';

	(void)state;
	assert_int_equal(file_pread_full(-1, &c, 1, 0), -EBADF);
	assert_int_equal(file_pwrite_full(-1, &c, 1, 0), -EBADF);
	if (full >= 0)
		assert_int_equal(file_pwrite_full(full, &c, 1, 0), -ENOSPC);
}

static void test_slurp_file(void **state)
{
	_cleanup_free_ char *big = malloc(300000), *data = NULL;
	_cleanup_close_ int fd = open_new("f");
	struct lp_err err = {0};
	size_t size = 0;

	(void)state;
	assert_non_null(big);
	for (size_t i = 0; i < 300000; i++)
		big[i] = (char)(i * 7);
	assert_int_equal(file_pwrite_full(fd, big, 300000, 0), 0);
	assert_int_equal(file_slurp("f", 300000, &data, &size, &err), 0);
	assert_int_equal(size, 300000);
	assert_memory_equal(data, big, size);
	assert_int_equal(data[size], '\0');
}

static void test_slurp_empty(void **state)
{
	_cleanup_free_ char *data = NULL;
	size_t size = 1;

	(void)state;
	close(open_new("f"));
	assert_int_equal(file_slurp("f", 0, &data, &size, NULL), 0);
	assert_int_equal(size, 0);
	assert_string_equal(data, "");
}

static void test_slurp_pipe(void **state)
{
	_cleanup_free_ char *data = NULL;
	char path[64];
	size_t size = 0;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "from a pipe", 11), 11);
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	assert_int_equal(file_slurp(path, 100, &data, &size, NULL), 0);
	assert_int_equal(size, 11);
	assert_string_equal(data, "from a pipe");
	close(ends[0]);
}

static void test_slurp_refuses(void **state)
{
	_cleanup_close_ int fd = open_new("f");
	struct lp_err err = {0};
	char *data = (char *)-1;
	size_t size = 77;

	(void)state;
	assert_int_equal(file_pwrite_full(fd, "12345", 5, 0), 0);
	assert_int_equal(file_slurp("f", 4, &data, &size, &err), -EFBIG);
	assert_string_equal(err.text, "cannot read f: File too large");
	assert_int_equal(file_slurp("none", 4, &data, &size, &err), -ENOENT);
	assert_string_equal(err.text, "cannot read none: No such file or directory");
	assert_int_equal(file_slurp("/", 4, &data, &size, &err), -EISDIR);
	/* Outputs are written only on success. */
	assert_ptr_equal(data, (char *)-1);
	assert_int_equal(size, 77);
}

static void test_basename(void **state)
{
	(void)state;
	assert_string_equal(path_basename("/var/lib/x/y.lpa"), "y.lpa");
	assert_string_equal(path_basename("y.lpa"), "y.lpa");
	assert_string_equal(path_basename("/y"), "y");
	assert_string_equal(path_basename("dir/"), "");
	assert_string_equal(path_basename(""), "");
}

static void test_make_dirs(void **state)
{
	char path[128];

	assert_int_equal(path_make_dirs("a/b/c", NULL), 0);
	assert_true(is_dir("a/b/c"));
	assert_int_equal(path_make_dirs("a/b/c", NULL), 0);
	assert_int_equal(path_make_dirs("a//b/c/", NULL), 0);
	snprintf(path, sizeof(path), "%s/x", (char *)*state);
	assert_int_equal(path_make_dirs(path, NULL), 0);
	assert_true(is_dir("x"));
	assert_int_equal(path_make_dirs("/", NULL), 0);
}

static void test_make_dirs_refuses(void **state)
{
	struct lp_err err = {0};

	(void)state;
	close(open_new("f"));
	assert_int_equal(path_make_dirs("f", &err), -ENOTDIR);
	assert_string_equal(err.text, "cannot create directory f: Not a directory");
	assert_int_equal(path_make_dirs("f/below", &err), -ENOTDIR);
	assert_non_null(strstr(err.text, "f/below"));
	assert_int_equal(path_make_dirs("", &err), -ENOENT);
	assert_string_equal(err.text, "cannot create a directory without a name");
}

static void test_sync_dir(void **state)
{
	(void)state;
	assert_int_equal(path_make_dirs("a", NULL), 0);
	assert_int_equal(file_sync_dir_of("f"), 0);
	assert_int_equal(file_sync_dir_of("a/f"), 0);
	assert_int_equal(file_sync_dir_of("none/f"), -ENOENT);
}

static void test_rename_new(void **state)
{
	char dir[] = "/tmp/test_rename.XXXXXX", a[64], b[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(a, sizeof(a), "%s/a", dir);
	snprintf(b, sizeof(b), "%s/b", dir);
	assert_int_equal(file_rename_new(AT_FDCWD, a, b), -ENOENT);
	close(open(a, O_CREAT | O_WRONLY, 0644));
	assert_int_equal(file_rename_new(AT_FDCWD, a, b), 0);
	assert_int_equal(access(a, F_OK), -1);
	close(open(a, O_CREAT | O_WRONLY, 0644));
	assert_int_equal(file_rename_new(AT_FDCWD, a, b), -EEXIST);
	assert_int_equal(access(a, F_OK), 0);
	unlink(a);
	unlink(b);
	rmdir(dir);
}

/* Opening waits only for a pipe that is already open. */
static void test_open_input(void **state)
{
	struct lp_err err = {0};
	char path[64], *text = NULL;
	size_t size;
	int fds[2];

	(void)state;
	assert_int_equal(mkfifo("x", 0600), 0);
	assert_int_equal(file_open_input("x", O_RDONLY, &err), -EINVAL);
	assert_non_null(strstr(err.text, "not a regular file"));
	assert_int_equal(file_slurp("x", 100, &text, &size, &err), -EINVAL);
	assert_int_equal(file_open_input("x", O_RDWR, &err), -EINVAL);
	assert_int_equal(file_open_input("/tmp", O_RDONLY, &err), -EISDIR);
	assert_int_equal(file_open_input("none", O_RDONLY, &err), -ENOENT);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "text", 4), 4);
	assert_int_equal(close(fds[1]), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	assert_int_equal(file_slurp(path, 100, &text, &size, &err), 0);
	assert_string_equal(text, "text");
	free(text);
	assert_int_equal(close(fds[0]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rename_new),
		cmocka_unit_test_setup_teardown(test_write_then_read, setup, teardown),
		cmocka_unit_test(test_errors_are_returned),
		cmocka_unit_test_setup_teardown(test_slurp_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slurp_empty, setup, teardown),
		cmocka_unit_test(test_slurp_pipe),
		cmocka_unit_test_setup_teardown(test_slurp_refuses, setup, teardown),
		cmocka_unit_test(test_basename),
		cmocka_unit_test_setup_teardown(test_make_dirs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_make_dirs_refuses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sync_dir, setup, teardown),
		cmocka_unit_test_setup_teardown(test_open_input, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
