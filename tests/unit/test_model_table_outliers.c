#include "model/table_outliers.h"

#include "table_rig.h"
#include <stdio.h>

static const struct lp_column real_column[] = {{"latency", "ms", LP_REAL, 0}};
static const struct lp_schema disk = {"disk", real_column, 1};
static const char *const metrics[] = {"latency"};

static struct lp_table_options options = {
	.metrics = metrics, .n_metrics = 1, .step_us = US_PER_SEC};

/* `n` samples of each of `n_observers` from second `first` on. */
static void put(struct lp_table_builder *b, int n_observers, int64_t first, int n)
{
	for (int o = 0; o < n_observers; o++) {
		_cleanup_(rig_release) struct rig r;
		char name[16];
		uint32_t id;

		snprintf(name, sizeof(name), "o%d", o);
		rig_init(&r, US_PER_SEC);
		id = rig_component(&r, &disk, name, "sda");
		for (int s = 0; s < n; s++) {
			rig_sample(&r, SEC(first + s), SEC(s));
			rig_set1(&r, id, lp_cell_from_real(1));
		}
		rig_add(b, &r);
	}
}

/* How many outliers there are, the first of which is `*ret`. */
static size_t find(struct lp_table_builder *b, struct table_outlier *ret)
{
	_cleanup_free_ struct table_outlier *found = NULL;
	size_t n = 77;

	assert_int_equal(table_outliers_find(b, &found, &n), 0);
	if (n)
		*ret = found[0];
	return n;
}

#define NOW INT64_C(1763200000)
#define DAY 86400

/* A clock that began in 1970, on one of four observers. */
static void test_wrong_clock(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_outlier o = {0};

	(void)state;
	put(b, 4, NOW, 600);
	assert_int_equal(find(b, &o), 0);
	put(b, 1, 777777, 40);
	assert_int_equal(find(b, &o), 1);
	assert_int_equal(o.n_values, 40);
	assert_int_equal(o.n_observers, 1);
	assert_string_equal(o.observer, "o0");
	assert_true(o.first <= 777777 && o.end >= 777777 + 40 && o.end - o.first < 1000);
	lp_table_builder_free(b);
}

/* A single row a year ahead, with only one observer. */
static void test_stray_row(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_outlier o = {0};

	(void)state;
	put(b, 1, NOW, 600);
	put(b, 1, NOW + 365 * DAY, 1);
	assert_int_equal(find(b, &o), 1);
	assert_int_equal(o.n_values, 1);
	lp_table_builder_free(b);
}

/* Two recordings a year apart are two recordings, also where one is short: most observers have it.
 */
static void test_two_recordings(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_outlier o = {0};

	(void)state;
	put(b, 4, NOW, 3000);
	put(b, 4, NOW + 365 * DAY, 60);
	assert_int_equal(find(b, &o), 0);
	/* An observer that was recorded for as long as others, and at another time. */
	put(b, 1, NOW - 365 * DAY, 3000);
	assert_int_equal(find(b, &o), 0);
	/* Nor is what is less than a day apart an outlier. */
	put(b, 1, NOW + 3000 + DAY / 2, 3);
	assert_int_equal(find(b, &o), 0);
	lp_table_builder_free(b);
}

static void test_nothing(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_outlier o = {0};

	(void)state;
	assert_int_equal(find(b, &o), 0);
	lp_table_builder_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_clock),
		cmocka_unit_test(test_stray_row),
		cmocka_unit_test(test_two_recordings),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
