#include "explain/score.h"
#include "temp_dir.h"
#include <errno.h>
#include <string.h>

static void bad(const char *text, const char *want)
{
	struct score_verdict v = {0};
	struct lp_err err = {0};

	assert_int_equal(score_verdict_parse(text, strlen(text), "v.json", &v, &err), -EBADMSG);
	assert_int_equal(v.suspects.n + v.n_components, 0);
	if (!strstr(err.text, want))
		fail_msg("'%s' is not in '%s'", want, err.text);
}

static void test_bad(void **state)
{
	(void)state;
	bad("", "v.json:1:0: ");
	bad("{\n\"groups\": [", "v.json:2:11: ");
	bad("{\"groups\":[],\n \"suspects\":[}\n", "v.json:2:14: ");
	bad("[]", "v.json: this is not a verdict of limpet: it is not an object");
	bad("{}", "it has no list \"groups\"");
	bad("{\"groups\":[]}", "it has no list \"suspects\"");
	bad("{\"groups\":{},\"suspects\":[]}", "it has no list \"groups\"");
	bad("{\"groups\":[1],\"suspects\":[]}", "it has no list \"components\"");
	bad("{\"groups\":[{\"components\":[1]}],\"suspects\":[]}", "a component is not a string");
	bad("{\"groups\":[],\"suspects\":[1]}", "a suspect has no component");
	bad("{\"groups\":[],\"suspects\":[],\"absent\":1}", "\"absent\" is not a list");
	bad("{\"groups\":[],\"suspects\":[{\"component\":\"a\",\"first\":5}]}",
		"a time is not a string");
}

static void test_bad_time(void **state)
{
	static const char text[] =
		"{\"groups\":[],\"suspects\":[{\"component\":\"a\",\"last\":\"never\"}]}";
	struct score_verdict v = {0};
	struct lp_err err = {0};

	(void)state;
	assert_true(score_verdict_parse(text, strlen(text), "v.json", &v, &err) < 0);
	assert_non_null(strstr(err.text, "v.json: \"last\" of a suspect: "));
}

static void test_good(void **state)
{
	struct score_verdict v = {0};
	struct lp_err err = {0};
	const char *path = temp_text("v.json",
		"{\"limpet\":\"9\",\"groups\":[{\"name\":\"g\",\"components\":[\"a/disk:1\"]}],"
		"\"suspects\":[{\"component\":\"a/disk:1\",\"cause\":null,\"first\":null}],"
		"\"absent\":[{\"component\":\"a/disk:2\",\"cause\":\"lost-path\"}],"
		"\"more\":{}}\n");

	(void)state;
	assert_int_equal(score_verdict_read(path, &v, &err), 0);
	assert_int_equal(v.n_components, 1);
	assert_string_equal(v.components[0], "a/disk:1");
	assert_int_equal(v.suspects.n, 1);
	assert_string_equal(v.suspects.items[0].cause, "");
	assert_true(v.suspects.items[0].first_us == INT64_MIN &&
		v.suspects.items[0].last_us == INT64_MAX);
	assert_int_equal(v.absent.n, 1);
	assert_string_equal(v.absent.items[0].component, "a/disk:2");
	assert_int_equal(v.warnings.n, 0); /* earlier versions print none */
	score_verdict_release(&v);
	assert_true(score_verdict_read(temp_path("nowhere"), &v, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_bad_time),
		cmocka_unit_test(test_good),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
