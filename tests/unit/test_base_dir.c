#include "base/dir.h"

#include "base/cleanup.h"
#include "temp_dir.h"
#include <dirent.h>
#include <errno.h>

#define NOBODY 65534

/* Give something to another user, which requires root. */
static void give_away(const char *path)
{
	if (geteuid() != 0)
		skip();
	assert_int_equal(lchown(path, NOBODY, NOBODY), 0);
}

static void make_link(const char *to, const char *name)
{
	assert_int_equal(symlink(to, temp_path(name)), 0);
}

/* Is the file there that stands in the directory to be found? */
static void assert_found(const char *path)
{
	struct lp_err err = {0};
	_cleanup_close_ int dir = dir_open(path, &err);

	if (dir < 0)
		fail_msg("%s", err.text);
	assert_int_equal(faccessat(dir, "here", F_OK, 0), 0);
}

static void test_walk(void **state)
{
	struct lp_err err = {0};
	char cwd[TEMP_PATH_MAX];

	(void)state;
	temp_mkdir("a");
	temp_mkdir("a/b");
	temp_text("a/b/here", "");
	assert_found(temp_path("a/b"));
	assert_found(temp_path("a//b/"));
	assert_found(temp_path("a/./b/../b/."));
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(temp_path("a")), 0);
	assert_found("b");
	assert_found("../a/b");
	assert_int_equal(chdir(cwd), 0);
	assert_int_equal(dir_open(temp_path("a/c"), &err), -ENOENT);
	assert_non_null(strstr(err.text, "a/c"));
	assert_int_equal(dir_open(temp_path("a/b/here"), &err), -ENOTDIR);
	assert_int_equal(dir_open(temp_path("a/b/here/x"), &err), -ENOTDIR);
	assert_int_equal(dir_open("", &err), -ENOENT);
}

static void test_long(void **state)
{
	struct lp_err err = {0};
	char path[8192];

	(void)state;
	memset(path, 'x', sizeof(path));
	path[300] = '\0';
	assert_int_equal(dir_open(path, &err), -ENAMETOOLONG);
	memset(path, '/', 301);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(dir_open(path, &err), -ENAMETOOLONG);
}

static void test_own_links(void **state)
{
	struct lp_err err = {0};

	(void)state;
	temp_mkdir("a");
	temp_mkdir("a/b");
	temp_text("a/b/here", "");
	make_link("a/b", "relative");
	make_link(temp_path("a"), "absolute");
	make_link("relative/../../absolute/", "chain");
	make_link("endless", "endless");
	assert_found(temp_path("relative"));
	assert_found(temp_path("absolute/b"));
	assert_found(temp_path("chain/b"));
	assert_int_equal(dir_open(temp_path("endless"), &err), -ELOOP);
}

static void test_links_of_others(void **state)
{
	struct lp_err err = {0};

	(void)state;
	temp_mkdir("a");
	temp_mkdir("a/b");
	temp_text("a/b/here", "");
	make_link("a", "link");
	assert_found(temp_path("link/b"));
	give_away(temp_path("link"));
	assert_int_equal(dir_open(temp_path("link"), &err), -ELOOP);
	assert_non_null(strstr(err.text, "another user"));
	assert_int_equal(dir_open(temp_path("link/b"), &err), -ELOOP);
	assert_int_equal(dir_make(temp_path("link/new"), 0755, &err), -ELOOP);
	assert_int_equal(dir_open_of(temp_path("link/file"), &err), -ELOOP);
	give_away(temp_path("a")); /* a directory of others is not a way around anything */
	assert_found(temp_path("a/b"));
}

static void test_of(void **state)
{
	struct lp_err err = {0};
	char cwd[TEMP_PATH_MAX];

	(void)state;
	temp_text("here", "");
	for (int i = 0; i < 2; i++) {
		_cleanup_close_ int dir = -1;

		assert_non_null(getcwd(cwd, sizeof(cwd)));
		assert_int_equal(chdir(temp_dir_path), 0);
		dir = dir_open_of(i ? "file" : temp_path("file"), &err);
		assert_int_equal(chdir(cwd), 0);
		assert_true(dir >= 0);
		assert_int_equal(faccessat(dir, "here", F_OK, 0), 0);
	}
}

static void test_make(void **state)
{
	struct lp_err err = {0};
	struct stat st;

	(void)state;
	for (int i = 0; i < 2; i++) {
		_cleanup_close_ int dir = dir_make(temp_path("x/y/z"), 0700, &err);

		assert_true(dir >= 0);
		assert_int_equal(fstat(dir, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0700);
		assert_int_equal(stat(temp_path("x/y"), &st), 0);
		assert_int_equal(st.st_mode & 0777, 0700);
		assert_int_equal(dir_sync(dir), 0);
	}
	temp_text("file", "");
	assert_int_equal(dir_make(temp_path("file/x"), 0700, &err), -ENOTDIR);
}

static void test_create(void **state)
{
	struct stat st;
	int fd = dir_create_file(AT_FDCWD, temp_path("new"), 0600);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	close(fd);
	assert_int_equal(dir_create_file(AT_FDCWD, temp_path("new"), 0600), -EEXIST);
	make_link("nowhere", "link");
	assert_int_equal(dir_create_file(AT_FDCWD, temp_path("link"), 0600), -EEXIST);
	assert_int_equal(access(temp_path("nowhere"), F_OK), -1);
}

static int try_open(int (*fn)(int dir, const char *name, int flags), const char *name)
{
	int fd = fn(AT_FDCWD, temp_path(name), O_RDWR);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void test_open_file(void **state)
{
	(void)state;
	temp_text("file", "text");
	make_link("file", "link");
	assert_int_equal(mkfifo(temp_path("fifo"), 0600), 0);
	temp_mkdir("dir");
	assert_int_equal(try_open(dir_open_file, "file"), 0);
	assert_int_equal(try_open(dir_open_own_file, "file"), 0);
	assert_int_equal(try_open(dir_open_file, "link"), -ELOOP);
	assert_int_equal(try_open(dir_open_file, "fifo"), -EINVAL);
	assert_int_equal(dir_open_file(AT_FDCWD, temp_path("fifo"), O_RDONLY), -EINVAL);
	assert_int_equal(dir_open_file(AT_FDCWD, temp_path("dir"), O_RDONLY), -EINVAL);
	assert_int_equal(try_open(dir_open_file, "none"), -ENOENT);
}

static void test_open_own_file(void **state)
{
	(void)state;
	temp_text("file", "text");
	assert_int_equal(link(temp_path("file"), temp_path("second")), 0);
	assert_int_equal(try_open(dir_open_file, "file"), 0);
	assert_int_equal(try_open(dir_open_own_file, "file"), -EMLINK);
	assert_int_equal(unlink(temp_path("second")), 0);
	assert_int_equal(try_open(dir_open_own_file, "file"), 0);
	give_away(temp_path("file"));
	assert_int_equal(try_open(dir_open_file, "file"), 0);
	assert_int_equal(try_open(dir_open_own_file, "file"), -EPERM);
}

static int no_dots(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void test_list(void **state)
{
	struct lp_err err = {0};
	struct dirent **entries = NULL;
	_cleanup_close_ int dir = dir_open(temp_dir_path, &err);

	(void)state;
	temp_text("b", "");
	temp_text("a", "");
	assert_int_equal(dir_list(dir, &entries, no_dots), 2);
	assert_string_equal(entries[0]->d_name, "a");
	free(entries[0]);
	free(entries[1]);
	free(entries);
}

#define dir_test(fn) cmocka_unit_test_setup_teardown(fn, temp_dir_setup, temp_dir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		dir_test(test_walk),
		dir_test(test_long),
		dir_test(test_own_links),
		dir_test(test_links_of_others),
		dir_test(test_of),
		dir_test(test_make),
		dir_test(test_create),
		dir_test(test_open_file),
		dir_test(test_open_own_file),
		dir_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
