#include "collect_run.h"

#include "trace/stack/scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_there(const char *dir, const char *name)
{
	char path[PATH_MAX + 300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

/* What a killed run left goes; what another one reads, and what is no directory of ours, stays. */
static void test_leftovers(void **state)
{
	char dir[PATH_MAX], read[PATH_MAX + 64];
	struct scratch s, other;
	struct lp_err err;
	int lock;

	(void)state;
	tree_make(dir);
	tree_put(dir, "limpet-stack.killed/spans.1.2", "x");
	tree_put(dir, "limpet-stack.read/spans.1.2", "x");
	tree_put(dir, "limpet-stack.file", "x");
	tree_put(dir, "others/file", "x");
	snprintf(read, sizeof(read), "%s/limpet-stack.read", dir);
	lock = open(read, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	assert_int_equal(scratch_open(&s, dir, &err), 0);
	assert_false(is_there(dir, "limpet-stack.killed"));
	assert_true(is_there(dir, "limpet-stack.read/spans.1.2"));
	assert_true(is_there(dir, "limpet-stack.file"));
	assert_true(is_there(dir, "others/file"));
	/* The second does not take the first one's. */
	assert_int_equal(scratch_open(&other, dir, &err), 0);
	assert_int_equal(access(s.path, F_OK), 0);
	assert_string_not_equal(s.path, other.path);
	scratch_close(&other);
	scratch_close(&s);
	close(lock);
	tree_remove(dir);
}

static void test_close(void **state)
{
	char dir[PATH_MAX], path[PATH_MAX + 64];
	struct scratch s;
	struct lp_err err;

	(void)state;
	tree_make(dir);
	assert_int_equal(scratch_open(&s, dir, &err), 0);
	snprintf(path, sizeof(path), "%s", s.path);
	tree_put(s.path, "spans.3.4", "x");
	scratch_close(&s);
	assert_int_equal(access(path, F_OK), -1);
	assert_null(s.path);
	scratch_close(&s);
	snprintf(path, sizeof(path), "%s/nowhere", dir);
	assert_int_equal(scratch_open(&s, path, &err), -ENOENT);
	assert_non_null(strstr(err.text, "cannot make a directory for spans in"));
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leftovers), cmocka_unit_test(test_close)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
