/* Change points in rows of numbers, and in the samples of a suspect. */
#include "explain_rig.h"

#include "explain/onset.h"

#define N 90

static uint64_t seed;

/* From -1 to 1, always the same ones. */
static double noise(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(seed >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

/* A step of height 1 at `at` in noise of that size. */
static void make_step(double x[N], uint32_t at, double size)
{
	for (uint32_t i = 0; i < N; i++)
		x[i] = (i >= at) + size * noise();
}

static void finds_a_clean_step(void **state)
{
	double x[N], scratch[N];
	struct onset_step step;

	(void)state;
	for (uint32_t at = 3; at <= N - 3; at++) {
		make_step(x, at, 0);
		assert_true(onset_step(x, N, scratch, &step));
		assert_int_equal(step.at, at);
		assert_int_equal(step.low, at);
		assert_int_equal(step.high, at);
		assert_true(fabs(step.before) < 1e-9 && fabs(step.after - 1) < 1e-9);
	}
}

static void states_how_sure_it_is(void **state)
{
	double x[N], scratch[N];
	struct onset_step step;
	uint32_t n_found = 0, covered = 0, wide = 0;

	(void)state;
	seed = 1;
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t at = 10 + i % 70;

		make_step(x, at, 1);
		if (!onset_step(x, N, scratch, &step))
			continue;
		n_found++;
		assert_true(step.low <= step.at && step.at <= step.high);
		covered += step.low <= at + 2 && at <= step.high + 2;
		wide += step.low < step.high;
	}
	assert_true(n_found >= 180);
	assert_true(covered * 10 >= n_found * 9);
	assert_true(wide > 0);
}

static void ignores_spikes(void **state)
{
	double x[N], scratch[N];
	struct onset_step step;

	(void)state;
	make_step(x, 40, 0);
	x[10] = 1000;
	x[60] = -1000;
	assert_true(onset_step(x, N, scratch, &step));
	assert_int_equal(step.at, 40);
}

static void sees_no_step_where_there_is_none(void **state)
{
	double x[N], scratch[N];
	struct onset_step step = {.at = 7};
	uint32_t n_found = 0;

	(void)state;
	make_step(x, 0, 0); /* level */
	assert_false(onset_step(x, N, scratch, &step));
	for (uint32_t i = 0; i < N; i++) /* falls */
		x[i] = i < 40;
	assert_false(onset_step(x, N, scratch, &step));
	make_step(x, 2, 0);
	assert_false(onset_step(x, 4, scratch, &step)); /* too short */
	assert_false(onset_step(x, 0, scratch, &step));
	assert_int_equal(step.at, 7);
	seed = 2;
	for (uint32_t i = 0; i < 200; i++) {
		make_step(x, 0, 1);
		n_found += onset_step(x, N, scratch, &step);
	}
	assert_true(n_found <= 4); /* by chance */
}

/* Windows of a rig have two slots. What is anomalous in windows 20 .. 39 is slow in the slots
 * `from` .. `to`. */
static struct lp_finding *slow_disk(struct rig *r, uint32_t from, uint32_t to)
{
	struct lp_finding *f;
	struct lp_table *t;

	rig_init(r, 60);
	rig_disks(r, 6);
	rig_metric(r, "disk", "await");
	f = rig_find(r, "oss3/disk:sdb", "await", LP_MARK_ABOVE, 80, 10, 20, 39);
	t = r->v->tables[f->metric];
	for (uint32_t i = 0; i < t->n_slots; i++)
		t->values[(size_t)r->v->row_of[f->metric][f->component] * t->n_slots + i] =
			i >= from && i <= to ? 80 : 10;
	return f;
}

/* When slot `slot` begins. */
static int64_t slot_us(uint32_t slot)
{
	return RIG_START_US + ((int64_t)slot - 1) * RIG_STEP_US;
}

static void refines_first_and_last(void **state)
{
	const struct lp_suspect *s;
	const struct lp_incident *in;
	struct rig r;

	(void)state;
	slow_disk(&r, 23, 37);
	rig_explain(&r);
	s = rig_suspect(&r, "oss3/disk:sdb");
	in = rig_incident(&r, "oss3/disk:sdb");
	assert_non_null(s);
	assert_non_null(in);
	assert_int_equal(s->first_us, slot_us(23));
	assert_int_equal(s->last_us, slot_us(38));
	assert_int_equal(s->onset_error_us, 2 * RIG_STEP_US);
	assert_true(s->ended && !s->since_before);
	assert_int_equal(s->indicted_us, slot_us(24));
	assert_int_equal(in->first_us, s->first_us);
	assert_int_equal(in->last_us, s->last_us);
	assert_int_equal(in->onset_error_us, s->onset_error_us);
	assert_true(in->ended && !in->since_before);
	assert_non_null(strstr(in->summary, ", from 2011-05-09T00:22:00Z to 2011-05-09T00:37:00Z"));
	rig_release(&r);
}

static void widens_over_gaps(void **state)
{
	struct lp_finding *f;
	struct lp_table *t;
	struct rig r;

	(void)state;
	f = slow_disk(&r, 23, 37);
	t = r.v->tables[f->metric];
	for (uint32_t i = 19; i < 23; i++)
		t->values[(size_t)r.v->row_of[f->metric][f->component] * t->n_slots + i] = NAN;
	rig_explain(&r);
	assert_int_equal(f->first_us, slot_us(23));
	assert_int_equal(f->onset_error_us, 6 * RIG_STEP_US);
	rig_release(&r);
}

static void keeps_windows_where_samples_say_nothing(void **state)
{
	struct lp_finding *f;
	struct rig r;
	int64_t first_us, last_us;

	(void)state;
	f = slow_disk(&r, 100, 100); /* never */
	first_us = f->first_us;
	last_us = f->last_us;
	rig_explain(&r);
	assert_int_equal(f->first_us, first_us);
	assert_int_equal(f->last_us, last_us);
	assert_int_equal(f->onset_error_us, 10 * RIG_STEP_US);
	assert_true(f->ended && !f->since_before);
	rig_release(&r);
}

/* The first window begins before the data of the component. */
static void begins_with_the_data(void **state)
{
	struct lp_finding *f;
	struct lp_table *t;
	struct rig r;

	(void)state;
	f = slow_disk(&r, 100, 100); /* never, so that no step is found */
	t = r.v->tables[f->metric];
	for (uint32_t i = 0; i < 22; i++)
		t->values[(size_t)r.v->row_of[f->metric][f->component] * t->n_slots + i] = NAN;
	rig_explain(&r);
	assert_int_equal(f->first_us, slot_us(22));
	assert_int_equal(f->onset_error_us, 8 * RIG_STEP_US);
	rig_release(&r);
}

static void has_no_onset_in_data_that_begins_later(void **state)
{
	const struct lp_suspect *s;
	struct rig r;

	(void)state;
	rig_init(&r, 60);
	rig_disks(&r, 6);
	rig_metric(&r, "disk", "await");
	rig_find(&r, "oss3/disk:sdb", "await", LP_MARK_ABOVE, 80, 10, 0, 59);
	rig_explain(&r);
	s = rig_suspect(&r, "oss3/disk:sdb");
	assert_non_null(s);
	assert_true(s->since_before && !s->ended);
	assert_int_equal(s->first_us, slot_us(0));
	assert_int_equal(s->onset_error_us, 0);
	assert_non_null(strstr(r.v->incidents[0].summary, ", since before 2011-05-08T23:59:00Z"));
	rig_release(&r);
}

/* The last window may be anomalous though the last samples are well. */
static void sees_the_end_in_the_last_window(void **state)
{
	struct lp_finding *f;
	struct lp_table *t;
	struct rig r;

	(void)state;
	rig_init(&r, 60);
	rig_disks(&r, 6);
	rig_metric(&r, "disk", "await");
	f = rig_find(&r, "oss3/disk:sdb", "await", LP_MARK_ABOVE, 80, 10, 20, 59);
	t = r.v->tables[f->metric];
	for (uint32_t i = t->n_slots - 6; i < t->n_slots; i++)
		t->values[(size_t)r.v->row_of[f->metric][f->component] * t->n_slots + i] = 10;
	rig_explain(&r);
	assert_true(f->ended);
	assert_int_equal(f->last_us, slot_us(t->n_slots - 6));
	rig_release(&r);
}

static void finds_when_work_ceased(void **state)
{
	struct lp_finding *f;
	struct lp_table *t;
	struct rig r;

	(void)state;
	rig_init(&r, 60);
	rig_disks(&r, 6);
	rig_metric(&r, "disk", "rd_sec");
	f = rig_find(&r, "oss3/disk:sdb", "rd_sec", LP_MARK_ABSENT, NAN, 10, 20, 59);
	t = r.v->tables[f->metric];
	for (uint32_t i = 20; i < 22; i++)
		t->values[(size_t)r.v->row_of[f->metric][f->component] * t->n_slots + i] = 10;
	rig_explain(&r);
	assert_int_equal(f->first_us, slot_us(22));
	assert_false(f->ended);
	rig_release(&r);
}

static void joins_what_was_certainly_first(void **state)
{
	struct onset all = {.first_us = 100, .last_us = 200, .error_us = 50, .ended = true};

	(void)state;
	onset_join(&all,
		(struct onset){.first_us = 120, .last_us = 150, .error_us = 1, .ended = true});
	assert_int_equal(all.first_us, 120);
	assert_int_equal(all.error_us, 1);
	assert_int_equal(all.last_us, 200);
	assert_true(all.ended);
	onset_join(&all, (struct onset){.first_us = 10, .last_us = 300, .since_before = true});
	assert_int_equal(all.first_us, 120);
	assert_int_equal(all.last_us, 300);
	assert_false(all.since_before || all.ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_a_clean_step),
		cmocka_unit_test(states_how_sure_it_is),
		cmocka_unit_test(ignores_spikes),
		cmocka_unit_test(sees_no_step_where_there_is_none),
		cmocka_unit_test(refines_first_and_last),
		cmocka_unit_test(widens_over_gaps),
		cmocka_unit_test(keeps_windows_where_samples_say_nothing),
		cmocka_unit_test(begins_with_the_data),
		cmocka_unit_test(has_no_onset_in_data_that_begins_later),
		cmocka_unit_test(sees_the_end_in_the_last_window),
		cmocka_unit_test(finds_when_work_ceased),
		cmocka_unit_test(joins_what_was_certainly_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
