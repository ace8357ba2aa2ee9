#include "model/table_offsets.h"

#include "table_rig.h"
#include <stdio.h>

static const struct lp_column real_column[] = {{"tps", "1/s", LP_REAL, 0}};
static const struct lp_schema disk = {"disk", real_column, 1};
static const char *const metrics[] = {"tps"};

static const struct lp_table_options options = {
	.metrics = metrics, .n_metrics = 1, .step_us = US_PER_SEC};

#define N 1200

/* Jobs that write for a while, and pause: the same for all. */
static double burst(int s)
{
	return (s * 7919 / 37) % 61 < 17 || (s / 90) % 3 == 1 ? 2000 : 100;
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

static void feed(struct lp_table_builder *b, int observer, int64_t ahead, double (*load)(int))
{
	_cleanup_(rig_release) struct rig r;
	char name[8];
	uint32_t id;

	snprintf(name, sizeof(name), "o%d", observer);
	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &disk, name, "sda");
	for (int s = 0; s < N; s++) {
		rig_sample(&r, T0 + SEC(s + ahead), SEC(s));
		rig_set1(&r, id, lp_cell_from_real(load(s) * noise(observer, s)));
	}
	rig_add(b, &r);
}

static size_t find(struct lp_table_builder *b, struct table_offset *ret)
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
			feed(b, k, k == 2 ? offsets[i] : 0, burst);
		assert_int_equal(find(b, &o), 1);
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
		feed(b, k, k % 2, burst);
	assert_int_equal(find(b, &o), 0);
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
		feed(b, k, k == 2 ? 60 : 0, steady);
		feed(one, k, 0, k == 2 ? steady : burst);
	}
	assert_int_equal(find(b, &o), 0);
	assert_int_equal(find(one, &o), 0);
	assert_int_equal(table_offset_refine(b, "o2", 42, 10, &about), 0);
	assert_int_equal(about, 42);
	lp_table_builder_free(b);
	lp_table_builder_free(one);
}

/* Of three, nobody can say whose clock is right. */
static void test_too_few(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_offset o;

	(void)state;
	for (int k = 0; k < 3; k++)
		feed(b, k, k == 2 ? 60 : 0, burst);
	assert_int_equal(find(b, &o), 0);
	lp_table_builder_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_is_off),
		cmocka_unit_test(test_nobody_is_off),
		cmocka_unit_test(test_nothing_to_go_by),
		cmocka_unit_test(test_too_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
