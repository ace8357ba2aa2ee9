#include "base/option.h"
#include "unit.h"
#include <errno.h>
#include <string.h>

struct values {
	bool json;
	const char *out;
	uint64_t n, bytes;
	int64_t span_us;
	struct option_list globs, worse;
};

static const struct option_def defs[] = {
	{"json", 0, OPTION_FLAG, offsetof(struct values, json), NULL, "print JSON"},
	{"output", 'o', OPTION_STRING, offsetof(struct values, out), "DIR", "where"},
	{"top", 'n', OPTION_UINT, offsetof(struct values, n), "N", "how many"},
	{"keep-bytes", 0, OPTION_BYTES, offsetof(struct values, bytes), "SIZE", "how much"},
	{"interval", 'i', OPTION_SPAN, offsetof(struct values, span_us), "SPAN", "how often"},
	{"disks", 0, OPTION_LIST, offsetof(struct values, globs), "GLOB", "which"},
	{"worse", 0, OPTION_PAIRS, offsetof(struct values, worse), "SIDE METRIC", "what"},
	{NULL},
};

static int parse(char **argv, struct values *v, int *n_args, struct lp_err *err)
{
	struct option_table table = {defs, v};
	int argc = 0;

	while (argv[argc])
		argc++;
	return option_parse(argc, argv, &table, 1, OPTION_ANYWHERE, n_args, err);
}

static void test_all_types(void **state)
{
	char *argv[] = {"record", "--json", "a", "-oX", "--top=3", "--keep-bytes", "2G", "-i",
		"100ms", "--disks", "sd*", "--disks=!sdz", "--", "--json", NULL};
	struct values v = {0};
	struct lp_err err = {0};
	int n = 0;

	(void)state;
	assert_int_equal(parse(argv, &v, &n, &err), 0);
	assert_true(v.json);
	assert_string_equal(v.out, "X");
	assert_int_equal(v.n, 3);
	assert_int_equal(v.bytes, UINT64_C(2) << 30);
	assert_int_equal(v.span_us, 100000);
	assert_int_equal(v.globs.n, 2);
	assert_string_equal(v.globs.items[1], "!sdz");
	assert_int_equal(n, 2);
	assert_string_equal(argv[0], "a");
	assert_string_equal(argv[1], "--json");
}

/* Two words each time, and what follows is no part of it. */
static void test_pairs(void **state)
{
	char *argv[] = {
		"diagnose", "--worse", "lower", "bandwidth", "DATA", "--worse=higher", "x", NULL};
	char *cut[] = {"diagnose", "--worse", "lower", NULL};
	struct values v = {0};
	struct lp_err err = {0};
	int n = 0;

	(void)state;
	assert_int_equal(parse(argv, &v, &n, &err), 0);
	assert_int_equal(v.worse.n, 4);
	assert_string_equal(v.worse.items[0], "lower");
	assert_string_equal(v.worse.items[1], "bandwidth");
	assert_string_equal(v.worse.items[3], "x");
	assert_int_equal(n, 1);
	assert_string_equal(argv[0], "DATA");
	assert_int_equal(parse(cut, &v, &n, &err), -EINVAL);
	assert_string_equal(err.text, "--worse needs SIDE METRIC");
}

static void reject(char *arg, char *value, const char *want)
{
	char *argv[] = {"record", arg, value, NULL};
	struct values v = {0};
	struct lp_err err = {0};
	int n = 0;

	assert_int_equal(parse(argv, &v, &n, &err), -EINVAL);
	assert_non_null(strstr(err.text, want));
}

static void test_errors_say_what(void **state)
{
	(void)state;
	reject("--jsn", NULL, "unknown option '--jsn'; did you mean '--json'?");
	reject("-x", NULL, "unknown option '-x'");
	reject("--json=1", NULL, "--json takes no value");
	reject("--top", NULL, "--top needs N");
	reject("--top", "-3", "--top: '-3' is not a whole number");
	reject("--interval", "soon", "--interval: 'soon' is not a span");
	reject("--keep-bytes", "2X", "--keep-bytes: '2X' is not a number of bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_types),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_errors_say_what),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
