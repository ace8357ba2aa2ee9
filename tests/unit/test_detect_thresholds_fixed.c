#include "detect/train/thresholds.h"
#include "unit.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void option(const char *text, const char *metric, double value)
{
	char *got = NULL;
	double number = -1;
	struct lp_err err = {0};

	assert_int_equal(threshold_option_parse(text, &got, &number, &err), 0);
	assert_true(number == value);
	if (metric)
		assert_string_equal(got, metric);
	else
		assert_null(got);
	free(got);
}

static void test_one(void **state)
{
	static const char *const bad[] = {"", "=5", "await=", "await=x", "await=-1", "nan",
		"await=inf", "await=0x5", " 5", "await= 5"};

	(void)state;
	option("5", NULL, 5);
	option("await=0.25", "await", 0.25);
	option("a=b=1e2", "a=b", 100);
	option("%util=0", "%util", 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct lp_err err = {0};
		char *metric = NULL;
		double value;

		assert_int_equal(threshold_option_parse(bad[i], &metric, &value, &err), -EINVAL);
		assert_null(metric);
	}
}

static void test_several(void **state)
{
	const char *texts[] = {"await=5", "2", "rd_sec=0.5"};
	const char *twice[] = {"2", "3"};
	struct fixed_thresholds f = {0};
	struct lp_err err = {0};
	double value = -1;

	(void)state;
	assert_false(fixed_thresholds_get(&f, "await", &value));
	assert_int_equal(fixed_thresholds_parse(texts, 3, &f, &err), 0);
	assert_true(fixed_thresholds_get(&f, "await", &value) && value == 5);
	assert_true(fixed_thresholds_get(&f, "rd_sec", &value) && value == 0.5);
	assert_true(fixed_thresholds_get(&f, "tps", &value) && value == 2);
	assert_int_equal(fixed_thresholds_parse(texts, 1, &f, &err), -EINVAL);
	assert_string_equal(err.text, "two thresholds for await");
	fixed_thresholds_release(&f);
	assert_int_equal(fixed_thresholds_parse(twice, 2, &f, &err), -EINVAL);
	assert_string_equal(err.text, "two thresholds for all metrics");
	fixed_thresholds_release(&f);
	assert_int_equal(fixed_thresholds_parse(texts, 1, &f, &err), 0);
	assert_false(fixed_thresholds_get(&f, "tps", &value));
	fixed_thresholds_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
