#include "import/dataset_clocks.h"
#include "model/table_view.h"

#include "table_rig.h"
#include <stdio.h>

static const struct lp_column real_column[] = {{"latency", "ms", LP_REAL, 0}};
static const struct lp_schema disk = {"disk", real_column, 1};
static const char *const metrics[] = {"latency"};

static const struct lp_table_options options = {
	.metrics = metrics, .n_metrics = 1, .step_us = US_PER_SEC, .judged = true};

#define N 600

/* N seconds of an observer, whose value is the true second. Its clock is ahead by `before` seconds
 * up to sample `at`, and by `after` from then on. */
static void feed(struct lp_table_builder *b, struct data_clock *c, const char *observer, int at,
	int64_t before, int64_t after)
{
	_cleanup_(rig_release) struct rig r;
	int64_t walls[N];
	struct lp_batch ordered;
	struct lp_err err = {0};
	uint32_t id;

	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &disk, observer, "sda");
	for (int s = 0; s < N; s++) {
		rig_sample(&r, T0 + SEC(s + (s < at ? before : after)), SEC(1000 + s));
		rig_set1(&r, id, lp_cell_from_real(s));
	}
	assert_int_equal(clock_follow(c, r.batch, walls), 0);
	ordered = *r.batch;
	ordered.wall_us = walls;
	assert_int_equal(lp_table_builder_add(b, &r.source, &ordered, &err), 0);
}

static void feed_others(struct lp_table_builder *b, int n)
{
	for (int i = 0; i < n; i++) {
		struct data_clock c = {0};
		char name[8];

		snprintf(name, sizeof(name), "o%d", i);
		feed(b, &c, name, 0, 0, 0);
		assert_false(clock_stepped(&c));
		clock_release(&c);
	}
}

/* Is every sample of the observer where it truly was? */
static void assert_true_times(struct lp_table_builder *b, const char *component)
{
	_cleanup_(rig_tables_release) struct rig_tables t = {0};

	rig_finish(b, &t);
	for (int s = 0; s < N; s++)
		assert_true(rig_value(t.tables[0], component, T0 + SEC(s)) == s);
}

/* The others show which clock was right: that before the step, or that after it. */
static void assert_settled(int64_t before, int64_t after)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct data_clock c = {0};
	bool moved = false;

	feed_others(b, 3);
	feed(b, &c, "x", 300, before, after);
	assert_true(clock_stepped(&c));
	assert_int_equal(clock_settle(&c, "x", b, &moved), 0);
	assert_true(moved);
	clock_release(&c);
	assert_true_times(b, "x/disk:sda");
}

static void test_set_ahead(void **state)
{
	(void)state;
	assert_settled(0, 600);
	assert_settled(-3600, 0);
}

/* Here the same times came twice: nothing is lost. */
static void test_set_back(void **state)
{
	(void)state;
	assert_settled(0, -600);
	assert_settled(100, 0);
}

/* It stood still, as a machine that was suspended: others went on, and what was recorded is right.
 */
static void test_suspended(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	struct data_clock c = {0}, long_clock = {0};
	bool moved = true;

	(void)state;
	for (int i = 0; i < 3; i++) {
		feed(b, &long_clock, i ? i > 1 ? "c" : "b" : "a", 0, 0, 0);
		clock_release(&long_clock);
		feed(b, &long_clock, i ? i > 1 ? "c" : "b" : "a", 0, 0, N);
		clock_release(&long_clock);
	}
	feed(b, &c, "x", 300, 0, 200);
	assert_int_equal(clock_settle(&c, "x", b, &moved), 0);
	assert_false(moved);
	rig_finish(b, &t);
	assert_true(rig_value(t.tables[0], "x/disk:sda", T0 + SEC(299)) == 299);
	assert_true(isnan(rig_value(t.tables[0], "x/disk:sda", T0 + SEC(400))));
	assert_true(rig_value(t.tables[0], "x/disk:sda", T0 + SEC(500)) == 300);
	assert_true(rig_value(t.tables[0], "x/disk:sda", T0 + SEC(799)) == 599);
	clock_release(&c);
}

/* Once it is known, the file is read the same way into other builders, also from the middle on. */
static void test_read_again(void **state)
{
	struct lp_table_builder *b = rig_builder(&options), *again = rig_builder(&options);
	struct data_clock c = {0};
	bool moved = false;

	(void)state;
	feed_others(b, 3);
	feed(b, &c, "x", 300, 0, 600);
	assert_int_equal(clock_settle(&c, "x", b, &moved), 0);
	lp_table_builder_free(b);
	feed(again, &c, "x", 300, 0, 600);
	clock_release(&c);
	assert_true_times(again, "x/disk:sda");
}

/* One sample after the other, as they come: `ahead` of the right time by the clock, which is `boot`
 * seconds from the other one. Returns how far they were moved. */
static int64_t tracked(struct data_clock *c, int64_t at, int64_t ahead, int64_t boot, bool carry)
{
	int64_t wall[2] = {T0 + SEC(at - 1 + ahead), T0 + SEC(at + ahead)};
	int64_t mono[2] = {SEC(at - 1 - boot), SEC(at - boot)}, walls[2];
	struct lp_batch b = {
		.n_samples = 1, .wall_us = wall + 1, .mono_us = mono + 1, .carry = carry};

	assert_true(clock_track(c, &b, walls) >= 0);
	return (walls[0] - wall[1]) / SEC(1);
}

/* Data that keeps coming: times go on where the clock was set, also when they are read again. */
static void test_tracked(void **state)
{
	struct data_clock c = {0};

	(void)state;
	for (int again = 0; again < 2; again++) {
		assert_int_equal(tracked(&c, 1, 0, 0, false), 0);
		assert_int_equal(tracked(&c, 2, 0, 0, true), 0);
		assert_int_equal(tracked(&c, 3, 600, 0, true), -600);
		/* A few seconds are no setting. */
		assert_int_equal(tracked(&c, 4, 603, 0, true), -600);
		assert_int_equal(tracked(&c, 5, 100, 0, true), -97);
		assert_int_equal(tracked(&c, 6, 0, 0, true), 0);
	}
	/* A boot is no setting of the clock, but what is corrected stays so. */
	assert_int_equal(tracked(&c, 7, 100, 0, true), -97);
	assert_int_equal(tracked(&c, 8, 100, 5000, false), -97);
	clock_correct(&c, SEC(97));
	assert_int_equal(clock_fix_us(&c), 0);
	assert_int_equal(tracked(&c, 9, 0, 5000, true), 100);
	clock_release(&c);
}

/* Of a clock that is set all the time only the last settings are known. */
static void test_tracked_for_long(void **state)
{
	struct data_clock c = {0};

	(void)state;
	for (int64_t i = 0; i < 500; i++)
		assert_int_equal(tracked(&c, i, i * 20, 0, i > 0), -i * 20);
	assert_true(c.n <= 64);
	clock_release(&c);
}

/* Seconds that leap, a clock that is slewed and times beyond reason are no steps. */
static void test_no_step(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct data_clock c = {0};
	struct lp_batch *wild = lp_batch_new(4);
	int64_t walls[4];

	(void)state;
	feed(b, &c, "x", 300, 0, 1);
	assert_false(clock_stepped(&c));
	clock_release(&c);
	for (int i = 0; i < 4; i++)
		assert_int_equal(lp_batch_add_sample(wild, i % 2 ? INT64_MAX : INT64_MIN,
					 i % 2 ? INT64_MIN : INT64_MAX),
			0);
	assert_int_equal(clock_follow(&c, wild, walls), 0);
	assert_false(clock_stepped(&c));
	assert_true(walls[1] == INT64_MAX && walls[2] == INT64_MIN);
	clock_release(&c);
	lp_batch_free(wild);
	lp_table_builder_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_ahead),
		cmocka_unit_test(test_set_back),
		cmocka_unit_test(test_suspended),
		cmocka_unit_test(test_read_again),
		cmocka_unit_test(test_no_step),
		cmocka_unit_test(test_tracked),
		cmocka_unit_test(test_tracked_for_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
