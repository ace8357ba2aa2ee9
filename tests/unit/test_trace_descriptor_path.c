#include "trace/descriptor_path.h"
#include "unit.h"
#include <string.h>

static void check(const char *root, const char *base, const char *path, const char *expected)
{
	char buf[DESCRIPTOR_PATH_MAX];

	assert_string_equal(descriptor_path_join(buf, root, base, path, strlen(path)), expected);
}

static void test_join(void **state)
{
	(void)state;
	check("", "/data", "x", "/data/x");
	check("", "/data", "/x", "/x");
	check("", "/data", "../x", "/x");
	check("", "/data/brick", "./a//b/../c/", "/data/brick/a/c");
	check("", "/", "x", "/x");
	check("", "/", "..", "/");
	check("", "/", "../../..", "/");
	check("", "/data", "", "/data");
	check("", "/data", "...", "/data/...");
	check("", "/data", "..x/.y", "/data/..x/.y");
	check("", "/", "/", "/");
}

static void test_root(void **state)
{
	(void)state;
	check("/jail", "/jail/tmp", "/etc/passwd", "/jail/etc/passwd");
	check("/jail", "/jail/tmp", "/../../etc", "/jail/etc");
	check("/jail", "/jail/tmp", "../../../x", "/jail/x");
	check("/jail", "/jail", "..", "/jail");
	check("/jail", "/other", "../x", "/x"); /* a directory outside stays there */
}

static void test_unknown_base(void **state)
{
	char buf[DESCRIPTOR_PATH_MAX];

	(void)state;
	check("", "", "../x", "../x");
	check("", "pipe:[1]", "x", "x");
	check("", "", "/x/", "/x");
	/* Only as many bytes as it has. */
	assert_string_equal(descriptor_path_join(buf, "", "/", "abcdef", 3), "/abc");
}

static void test_too_long(void **state)
{
	static char path[3 * DESCRIPTOR_PATH_MAX];
	char buf[DESCRIPTOR_PATH_MAX];

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(path); i++)
		path[i] = i % 100 ? 'x' : '/';
	assert_true(strlen(descriptor_path_join(buf, "", "/a", path, strlen(path))) <
		DESCRIPTOR_PATH_MAX);
	path[0] = 'x';
	assert_int_equal(strlen(descriptor_path_join(buf, "", "", path, strlen(path))),
		DESCRIPTOR_PATH_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_unknown_base),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
