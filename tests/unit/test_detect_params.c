#include "profile_rig.h"
#include "unit.h"

#include "detect/compare/votes.h"
#include "detect/params.h"
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000)

static void test_step(void **state)
{
	(void)state;
	assert_int_equal(detect_step(SECOND, 600 * SECOND), SECOND);
	assert_int_equal(detect_step(SECOND, 7199 * SECOND), SECOND);
	assert_int_equal(detect_step(SECOND, 7200 * SECOND), 15 * SECOND);
	assert_int_equal(detect_step(SECOND / 10, 86400 * SECOND), 15 * SECOND);
	assert_int_equal(detect_step(60 * SECOND, 86400 * SECOND), 60 * SECOND);
	assert_int_equal(detect_step(SECOND, 0), SECOND);
}

static struct lp_params resolve(
	const struct detect_options *opt, uint32_t n_slots, uint32_t *ret_notes)
{
	struct lp_verdict *v = calloc(1, sizeof(*v));
	struct lp_params p = {0};
	struct lp_err err = {0};

	assert_non_null(v);
	assert_int_equal(params_resolve(opt, n_slots, v, &p, &err), 0);
	*ret_notes = v->n_notes;
	lp_verdict_free(v);
	return p;
}

static void test_defaults(void **state)
{
	struct detect_options opt = {.measure = measure_find("cdf")};
	uint32_t notes;
	struct lp_params p = resolve(&opt, 1000, &notes);

	(void)state;
	assert_int_equal(p.smooth, 15);
	assert_int_equal(p.win_size, 60);
	assert_int_equal(p.win_shift, 30);
	assert_int_equal(p.k, 3);
	assert_int_equal(notes, 0);
	opt.measure = measure_find("kl");
	p = resolve(&opt, 1000, &notes);
	assert_int_equal(p.smooth, 5);
	assert_int_equal(p.win_size, 64);
	assert_int_equal(p.win_shift, 32);
}

static void test_given(void **state)
{
	struct detect_options opt = {
		.measure = measure_find("cdf"), .params = {.win_size = 20, .smooth = 2, .k = 1}};
	uint32_t notes;
	struct lp_params p = resolve(&opt, 30, &notes);

	(void)state;
	assert_int_equal(p.win_size, 20);
	assert_int_equal(p.win_shift, 10);
	assert_int_equal(p.smooth, 2);
	assert_int_equal(p.k, 1);
	assert_int_equal(notes, 0);
}

/* 144 samples of ten minutes are a day of sysstat: enough for 5 windows only if they are smaller.
 */
static void test_shrinks(void **state)
{
	struct detect_options opt = {.measure = measure_find("cdf")};
	uint32_t notes;
	struct lp_params p = resolve(&opt, 144, &notes);

	(void)state;
	assert_int_equal(p.win_size, 30);
	assert_int_equal(p.win_shift, 15);
	assert_int_equal(p.smooth, 7);
	assert_int_equal(notes, 1);
	assert_true(window_count(&p, 144) >= 5);
	p = resolve(&opt, 10, &notes);
	assert_int_equal(p.win_size, 30); /* no smaller than that */
}

/* One sample is missing to five windows of 30. */
static void test_fits(void **state)
{
	struct detect_options opt = {.measure = measure_find("cdf")};
	uint32_t notes;
	struct lp_params p = resolve(&opt, 89, &notes);

	(void)state;
	assert_int_equal(p.win_size, 29);
	assert_int_equal(p.win_shift, 14);
	assert_int_equal(notes, 1);
	assert_int_equal(window_count(&p, 89), 5);
	p = resolve(&opt, 71, &notes);
	assert_int_equal(p.win_size, 30); /* of 23 samples it would say too little */
}

static void test_refused(void **state)
{
	struct detect_options opt = {
		.measure = measure_find("cdf"), .params = {.win_size = 10, .win_shift = 11}};
	struct lp_verdict v = {0};
	struct lp_params p;
	struct lp_err err = {0};

	(void)state;
	assert_true(params_resolve(&opt, 100, &v, &p, &err) < 0);
	assert_non_null(strstr(err.text, "--win-shift"));
	opt.params = (struct lp_params){.win_size = 1};
	assert_true(params_resolve(&opt, 100, &v, &p, &err) < 0);
	assert_non_null(strstr(err.text, "--win-size"));
}

/* A minute of functions is a minute, whatever the interval. */
static void test_functions_in_time(void **state)
{
	static const struct profile ten = {.metric = "samples",
		.unit = "1/s",
		.n_observers = 3,
		.n_functions = 2,
		.n_slots = 20,
		.step_us = 10 * SECOND,
		.total = 10};
	struct lp_table *t = profile_make(&ten);
	struct lp_params p = {.win_size = 60, .win_shift = 30};

	(void)state;
	params_in_time(measure_find("cdf"), &t, 1, &p);
	assert_int_equal(p.win_size, 60);
	params_in_time(measure_find("manhattan"), &t, 1, &p);
	assert_int_equal(p.win_size, 6);
	assert_int_equal(p.win_shift, 3);
	t->step_us = SECOND;
	params_in_time(measure_find("manhattan"), &t, 1, &p);
	assert_int_equal(p.win_size, 60);
	assert_int_equal(p.win_shift, 30);
	lp_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_functions_in_time),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_given),
		cmocka_unit_test(test_shrinks),
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
