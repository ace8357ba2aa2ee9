#include "detect_rig.h"

#include "base/array.h"
#include "detect/weigh.h"

static void test_bar(void **state)
{
	static const enum steadiness all[] = {STEADY, STEADY_UNKNOWN, STEADY_NOT};

	(void)state;
	assert_true(weigh_bar(1, 192, STEADY_UNKNOWN) == 5);
	assert_true(weigh_bar(6, 192, STEADY_UNKNOWN) == 6);
	assert_true(weigh_bar(6, 192, STEADY) == 5);
	assert_true(weigh_bar(20, 192, STEADY) == 10);
	assert_true(weigh_bar(6, 192, STEADY_NOT) == 12);
	assert_true(weigh_bar(1e6, 1e6, STEADY_UNKNOWN) == 100);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		double before = 0;

		/* A whole span takes the same of all, and nothing takes more. */
		assert_true(fabs(weigh_bar(100, 100, all[i]) - 25) < 1e-9);
		for (uint32_t n = 1; n < 300; n++) {
			assert_true(weigh_bar(n, 100, all[i]) >= before);
			before = weigh_bar(n, 100, all[i]);
		}
		assert_true(before <= 25);
	}
}

static void test_culprit(void **state)
{
	(void)state;
	for (int role = LP_ROLE_OTHER; role <= LP_ROLE_TROUBLE; role++)
		assert_true(weigh_culprit(role, LP_MARK_ABSENT));
	assert_true(weigh_culprit(LP_ROLE_LATENCY, LP_MARK_ABOVE));
	assert_false(weigh_culprit(LP_ROLE_LATENCY, LP_MARK_BELOW));
	assert_true(weigh_culprit(LP_ROLE_WINDOW, LP_MARK_BELOW));
	assert_false(weigh_culprit(LP_ROLE_WINDOW, LP_MARK_ABOVE));
	assert_true(weigh_culprit(LP_ROLE_TROUBLE, LP_MARK_ABOVE));
}

/* Short and terrible, long and mild: both count; short and mild does not. */
static void test_short_and_long(void **state)
{
	static const struct {
		uint32_t from, to;
		double factor;
		bool counts;
	} cases[] = {
		{600, 780, 20, true},
		{0, 2400, 1.8, true},
		{600, 780, 1.8, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static const struct detect_options by_itself = {0};
		struct rig r;
		double *await;

		rig_init(&r, 8, 2400);
		await = rig_add_noise(&r, "await", "ms", 20, 0.3);
		rig_scale(&r, await, 1, cases[i].from, cases[i].factor);
		rig_scale(&r, await, 1, cases[i].to, 1 / cases[i].factor);
		rig_run(&r, &by_itself);
		assert_int_equal(rig_n_accused(r.verdict), cases[i].counts);
		assert_true(cases[i].counts || r.verdict->n_anomalies > 0);
		rig_release(&r);
	}
}

/* As much slower in the mean: in all samples, or in every third one only. The former is named. */
static void test_steady(void **state)
{
	static const struct detect_options by_itself = {0};

	(void)state;
	for (int steady = 0; steady < 2; steady++) {
		struct rig r;
		double *await;

		rig_init(&r, 8, 300);
		await = rig_add_noise(&r, "await", "ms", 20, 0.3);
		for (uint32_t s = 0; s < 300; s++)
			await[300 + s] *= steady ? 1.6 : s % 3 ? 1 : 2.8;
		rig_run(&r, &by_itself);
		assert_int_equal(rig_n_accused(r.verdict), steady);
		assert_true(r.verdict->n_anomalies > 0);
		rig_release(&r);
	}
}

/* The number of findings if the windows of the series are in spans of `span` windows. */
static size_t count_with_span(const struct rig *r, uint32_t span)
{
	static const struct detect_options by_itself = {0};
	struct lp_series *s = &r->verdict->series[0];
	struct comparison c = {.opt = &by_itself,
		.v = r->verdict,
		.params = r->verdict->params,
		.series = s,
		.role = LP_ROLE_LATENCY,
		.calibrated = true,
		.unit = 1,
		.span = span,
		.smoothed.n_members = r->n_components,
		.own = s->ratios,
		.peers = s->ratios};
	struct findings fs = {0};

	assert_int_equal(weigh_comparison(&c, 0, &fs), 0);
	free(fs.items);
	return fs.n;
}

/* What was enough when there was little data is reported for a span, and not forever. */
static void test_early(void **state)
{
	static const struct detect_options small = {.params = {.win_size = 40, .win_shift = 20}};
	struct lp_series *s;
	struct rig r;
	double *await;

	(void)state;
	rig_init(&r, 8, 2400);
	await = rig_add_noise(&r, "await", "ms", 20, 0.3);
	rig_scale(&r, await, 1, 0, 2);
	rig_scale(&r, await, 1, 180, 0.5);
	rig_run(&r, &small);
	s = &r.verdict->series[0];
	assert_int_equal(s->n_windows, 119);
	for (size_t at = 0; at < (size_t)8 * s->n_windows; at++) {
		bool slow = at / s->n_windows == 1 && at % s->n_windows < 8;

		s->marks[at] = slow ? LP_MARK_ABOVE : LP_MARK_NORMAL;
		s->ratios[at] = slow ? 2 : 1;
	}
	/* Eight windows weigh 9.7, and 5 are enough by then. 111 more follow; if that is a span or
	 * more, the weight for a span is required, 25. */
	assert_int_equal(count_with_span(&r, 192), 1);
	assert_int_equal(count_with_span(&r, 120), 1);
	assert_int_equal(count_with_span(&r, 100), 0);
	rig_release(&r);
}

static bool notes(const struct lp_verdict *v, const char *part)
{
	for (uint32_t i = 0; i < v->n_notes; i++) {
		if (strstr(v->notes[i], part))
			return true;
	}
	return false;
}

/* A stretch that has passed is over; one that is anomalous in every window, but does not weigh
 * enough, has not passed. */
static void test_passing(void **state)
{
	static const struct detect_options by_itself = {0};

	(void)state;
	for (int passes = 0; passes < 2; passes++) {
		struct rig r;
		double *await;

		rig_init(&r, 8, passes ? 2400 : 300);
		await = rig_add_noise(&r, "await", "ms", 20, 0.1);
		rig_scale(&r, await, 1, passes ? 600 : 0, passes ? 1.8 : 1.4);
		if (passes)
			rig_scale(&r, await, 1, 780, 1 / 1.8);
		rig_run(&r, &by_itself);
		assert_int_equal(r.verdict->n_findings, 0);
		assert_int_equal(notes(r.verdict, "1 passing difference was too short"), passes);
		assert_int_equal(
			notes(r.verdict, "1 difference at the end of the data is too small"),
			!passes);
		assert_false(notes(r.verdict, "--"));
		rig_release(&r);
	}
}

/* Above its peers and then below them: anomalous in all these windows, and persistence is no more
 * than their number. */
static void test_counts(void **state)
{
	static const struct detect_options by_itself = {0};
	const struct lp_finding *f;
	struct rig r;
	double *await;

	(void)state;
	rig_init(&r, 8, 1200);
	await = rig_add_noise(&r, "await", "ms", 20, 0.1);
	rig_scale(&r, await, 1, 0, 8);
	rig_scale(&r, await, 1, 900, 1.0 / 64);
	f = rig_finding(rig_run(&r, &by_itself), 1, "await");
	assert_non_null(f);
	assert_int_equal(f->direction, LP_MARK_ABOVE);
	assert_true(f->n_aside > 0 && f->n_aside < f->n_anomalous);
	assert_true(f->n_anomalous <= f->n_windows);
	assert_true(f->peak <= f->n_anomalous);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bar),
		cmocka_unit_test(test_culprit),
		cmocka_unit_test(test_short_and_long),
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_early),
		cmocka_unit_test(test_passing),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
