#include "model/table_clocks.h"

#include "table_rig.h"
#include <stdio.h>

static const struct lp_column real_column[] = {{"tps", "1/s", LP_REAL, 0}};
static const struct lp_schema disk = {"disk", real_column, 1};
static const char *const metrics[] = {"tps"};

static const struct lp_table_options options = {
	.metrics = metrics, .n_metrics = 1, .step_us = US_PER_SEC};

#define N 1200 /* samples that have a load */
#define NOW INT64_C(1763200000)
#define DAY 86400

/* Jobs that write for a while, and pause: the same for all. */
static double burst(int s)
{
	return (s * 7919 / 37) % 61 < 17 || (s / 90) % 3 == 1 ? 2000 : 100;
}

/* Never the same again. */
static double irregular(int s)
{
	uint32_t x = (uint32_t)(s / 40 + 1) * 2654435761U;

	return (x ^ x >> 13) * 2246822519U >> 30 ? 100 : 2000;
}

static double steady(int s)
{
	(void)s;
	return 100;
}

static double noise(int observer, int s)
{
	uint32_t x = (uint32_t)(observer * 1000003 + s) * 2654435761U;

	x ^= x >> 15;
	x *= 2246822519U;
	return 0.9 + 0.2 * (double)(x >> 16) / 65536;
}

/* `n` samples of an observer's disk, one per second from second `first` on. */
static void feed(
	struct lp_table_builder *b, int observer, int64_t first, int n, double (*load)(int))
{
	_cleanup_(rig_release) struct rig r;
	char name[16];
	uint32_t id;

	snprintf(name, sizeof(name), "o%d", observer);
	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &disk, name, "sda");
	for (int s = 0; s < n; s++) {
		rig_sample(&r, SEC(first + s), SEC(s));
		rig_set1(&r, id, lp_cell_from_real(load(s) * noise(observer, s)));
	}
	rig_add(b, &r);
}

/* How many offsets there are, the first of which is `*ret`. */
static size_t find_offset(struct lp_table_builder *b, struct table_offset *ret)
{
	_cleanup_free_ struct table_offset *found = NULL;
	size_t n = 77;

	assert_int_equal(table_offsets_find(b, &found, &n), 0);
	if (n)
		*ret = found[0];
	return n;
}

static void test_one_is_off(void **state)
{
	static const int64_t offsets[] = {60, -150, 17};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct lp_table_builder *b = rig_builder(&options);
		struct table_offset o = {0};
		int64_t refined;

		for (int k = 0; k < 6; k++)
			feed(b, k, NOW + (k == 2 ? offsets[i] : 0), N, burst);
		assert_int_equal(find_offset(b, &o), 1);
		assert_string_equal(o.observer, "o2");
		assert_int_equal(o.slots, offsets[i]);
		assert_int_equal(table_offset_refine(b, "o2", offsets[i] + 5, 10, &refined), 0);
		assert_int_equal(refined, offsets[i]);
		lp_table_builder_free(b);
	}
}

static void test_nobody_is_off(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_offset o;

	(void)state;
	for (int k = 0; k < 6; k++)
		feed(b, k, NOW + k % 2, N, burst);
	assert_int_equal(find_offset(b, &o), 0);
	lp_table_builder_free(b);
}

/* Loads that do not change say nothing about clocks; nor does one that is another's. */
static void test_nothing_to_go_by(void **state)
{
	struct lp_table_builder *b = rig_builder(&options), *one = rig_builder(&options);
	struct table_offset o;
	int64_t about = 0;

	(void)state;
	for (int k = 0; k < 6; k++) {
		feed(b, k, NOW + (k == 2 ? 60 : 0), N, steady);
		feed(one, k, NOW, N, k == 2 ? steady : burst);
	}
	assert_int_equal(find_offset(b, &o), 0);
	assert_int_equal(find_offset(one, &o), 0);
	assert_int_equal(table_offset_refine(b, "o2", 42, 10, &about), 0);
	assert_int_equal(about, 42);
	lp_table_builder_free(b);
	lp_table_builder_free(one);
}

/* With two observers it is impossible to say which clock is right; with three, two agree. */
static void test_few(void **state)
{
	struct lp_table_builder *two = rig_builder(&options), *three = rig_builder(&options);
	struct table_offset o = {0};

	(void)state;
	for (int k = 0; k < 3; k++) {
		if (k)
			feed(two, k, NOW + (k == 2 ? 60 : 0), N, burst);
		feed(three, k, NOW + (k == 2 ? 60 : 0), N, burst);
	}
	assert_int_equal(find_offset(two, &o), 0);
	assert_int_equal(find_offset(three, &o), 1);
	assert_string_equal(o.observer, "o2");
	assert_int_equal(o.slots, 60);
	lp_table_builder_free(two);
	lp_table_builder_free(three);
}

/* Further off than ten minutes, in as much data as that takes. */
static void test_far_off(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_offset o = {0};

	(void)state;
	for (int k = 0; k < 4; k++)
		feed(b, k, NOW + (k == 2 ? 700 : 0), 1800, irregular);
	assert_int_equal(find_offset(b, &o), 1);
	assert_string_equal(o.observer, "o2");
	assert_int_equal(o.slots, 700);
	lp_table_builder_free(b);
}

/* `n` samples of each of `n_observers` from second `first` on. */
static void put(struct lp_table_builder *b, int n_observers, int64_t first, int n)
{
	for (int o = 0; o < n_observers; o++)
		feed(b, o, first, n, steady);
}

/* How many outliers there are, the first of which is `*ret`. */
static size_t find_outlier(struct lp_table_builder *b, struct table_outlier *ret)
{
	_cleanup_free_ struct table_outlier *found = NULL;
	size_t n = 77;

	assert_int_equal(table_outliers_find(b, &found, &n), 0);
	if (n)
		*ret = found[0];
	return n;
}

/* A clock that began in 1970, on one of four observers. */
static void test_wrong_clock(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_outlier o = {0};

	(void)state;
	put(b, 4, NOW, 600);
	assert_int_equal(find_outlier(b, &o), 0);
	put(b, 1, 777777, 40);
	assert_int_equal(find_outlier(b, &o), 1);
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
	assert_int_equal(find_outlier(b, &o), 1);
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
	assert_int_equal(find_outlier(b, &o), 0);
	/* An observer that was recorded for as long as others, and at another time. */
	put(b, 1, NOW - 365 * DAY, 3000);
	assert_int_equal(find_outlier(b, &o), 0);
	/* Data that is less than a day away is not an outlier, either. */
	put(b, 1, NOW + 3000 + DAY / 2, 3);
	assert_int_equal(find_outlier(b, &o), 0);
	lp_table_builder_free(b);
}

/* Observers that were never recorded at the same time as others are set aside, whatever the amount
 * of data. */
static void test_strangers(void **state)
{
	static const int64_t offsets[] = {-DAY, 5 * 3600, 4000 * DAY};
	struct table_outlier o = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		struct lp_table_builder *b = rig_builder(&options);

		put(b, 4, NOW, 600);
		feed(b, 7, NOW + offsets[i], 3000, steady);
		assert_int_equal(find_outlier(b, &o), 1);
		assert_true(o.whole);
		assert_string_equal(o.observer, "o7");
		assert_int_equal(o.n_values, 3000);
		lp_table_builder_free(b);
	}
}

/* Observers that were recorded with others before are not set aside, and neither is half of all. */
static void test_no_strangers(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_outlier o = {0};

	(void)state;
	put(b, 4, NOW, 600);
	put(b, 1, NOW - DAY, 3000);
	assert_int_equal(find_outlier(b, &o), 0);
	for (int i = 5; i < 9; i++)
		feed(b, i, NOW - 2 * DAY, 3000, steady);
	assert_int_equal(find_outlier(b, &o), 0);
	/* Half an hour may lie between two files. */
	feed(b, 9, NOW + 2400, 600, steady);
	assert_int_equal(find_outlier(b, &o), 0);
	lp_table_builder_free(b);
}

static void test_no_data(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_outlier o = {0};

	(void)state;
	assert_int_equal(find_outlier(b, &o), 0);
	lp_table_builder_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_is_off),
		cmocka_unit_test(test_nobody_is_off),
		cmocka_unit_test(test_nothing_to_go_by),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_far_off),
		cmocka_unit_test(test_wrong_clock),
		cmocka_unit_test(test_stray_row),
		cmocka_unit_test(test_two_recordings),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_no_strangers),
		cmocka_unit_test(test_no_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
