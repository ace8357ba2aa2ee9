#include "base/output.h"

#include "base/file.h"
#include "temp_dir.h"
#include <errno.h>

#define NOBODY 65534

static int write_file(const char *path, const char *text)
{
	struct output o = {0};
	struct lp_err err = {0};
	int r = output_open(&o, path, &err);

	if (r < 0)
		return r;
	assert_int_equal(write(o.fd, text, strlen(text)), strlen(text));
	r = output_commit(&o, path, &err);
	output_release(&o);
	output_release(&o);
	return r;
}

static void assert_text(const char *path, const char *expected)
{
	struct lp_err err = {0};
	char *text = NULL;
	size_t size;

	assert_int_equal(file_slurp(path, 1000, &text, &size, &err), 0);
	assert_string_equal(text, expected);
	free(text);
}

static void test_new_and_old(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(write_file(temp_path("f"), "first"), 0);
	assert_text(temp_path("f"), "first");
	assert_int_equal(chmod(temp_path("f"), 0640), 0);
	assert_int_equal(write_file(temp_path("f"), "second"), 0);
	assert_text(temp_path("f"), "second");
	assert_int_equal(stat(temp_path("f"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(write_file(temp_path("none/f"), "x"), -ENOENT);
}

/* An unfinished file leaves nothing behind, and the old file does not change. */
static void test_given_up(void **state)
{
	struct output o = {0};
	struct lp_err err = {0};

	(void)state;
	temp_text("f", "old");
	assert_int_equal(output_open(&o, temp_path("f"), &err), 0);
	assert_int_equal(write(o.fd, "new", 3), 3);
	output_release(&o);
	assert_text(temp_path("f"), "old");
	assert_int_equal(unlink(temp_path("f")), 0);
	assert_int_equal(rmdir(temp_dir_path), 0); /* nothing else is there */
	assert_int_equal(mkdir(temp_dir_path, 0700), 0);
}

static void test_links(void **state)
{
	struct stat st;

	(void)state;
	temp_text("target", "old");
	assert_int_equal(symlink("target", temp_path("own")), 0);
	assert_int_equal(write_file(temp_path("own"), "mine"), 0);
	assert_text(temp_path("target"), "mine");
	assert_int_equal(lstat(temp_path("own"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	/* A second name of the file does not change. */
	assert_int_equal(link(temp_path("target"), temp_path("second")), 0);
	assert_int_equal(write_file(temp_path("second"), "new"), 0);
	assert_text(temp_path("second"), "new");
	assert_text(temp_path("target"), "mine");
	assert_int_equal(write_file("/dev/null", "away"), 0);
}

static void test_of_others(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	temp_text("target", "old");
	assert_int_equal(symlink("target", temp_path("link")), 0);
	assert_int_equal(lchown(temp_path("link"), NOBODY, NOBODY), 0);
	assert_int_equal(write_file(temp_path("link"), "new"), -ELOOP);
	assert_int_equal(symlink("nowhere", temp_path("dangling")), 0);
	assert_int_equal(lchown(temp_path("dangling"), NOBODY, NOBODY), 0);
	assert_int_equal(write_file(temp_path("dangling"), "new"), -ELOOP);
	assert_int_equal(access(temp_path("nowhere"), F_OK), -1);
	assert_int_equal(mkfifo(temp_path("fifo"), 0666), 0);
	assert_int_equal(lchown(temp_path("fifo"), NOBODY, NOBODY), 0);
	assert_int_equal(write_file(temp_path("fifo"), "new"), -ELOOP);
	assert_text(temp_path("target"), "old");
	/* Another user's file is replaced, and still belongs to that user. */
	assert_int_equal(chown(temp_path("target"), NOBODY, NOBODY), 0);
	assert_int_equal(write_file(temp_path("target"), "new"), 0);
	assert_text(temp_path("target"), "new");
}

#define output_test(fn) cmocka_unit_test_setup_teardown(fn, temp_dir_setup, temp_dir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		output_test(test_new_and_old),
		output_test(test_given_up),
		output_test(test_links),
		output_test(test_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
