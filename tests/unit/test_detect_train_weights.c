/* Which functions count, learnt from runs with known faults. */
#include "detect/train/train_weights.h"

#include "detect/train/train.h"
#include "profile_rig.h"

#define SECOND INT64_C(1000000)

/* All functions vary by a tenth of their value, so larger ones vary more. */
static const struct profile calm = {.metric = "ftime",
	.unit = "ms/s",
	.n_observers = 5,
	.n_functions = 8,
	.n_slots = 240,
	.step_us = SECOND,
	.total = 2000,
	.noise = 0.3};

static void add(
	struct weight_learner *l, struct lp_table *t, const struct weight_label *labels, unsigned n)
{
	struct lp_table **tables = calloc(1, sizeof(struct lp_table *));
	struct lp_err err = {0};

	assert_non_null(tables);
	tables[0] = t;
	if (weight_learner_add(l, tables, 1, labels, n, &err) < 0)
		fail_msg("%s", err.text);
}

static double weight(const struct function_weights *w, const char *function)
{
	return function_weights_get(w, "ftime", function);
}

static struct detect_options options(void)
{
	struct detect_options o = profile_options(60);

	o.measure = measure_find("manhattan");
	o.params.smooth = 1;
	return o;
}

/* What varies more counts less. */
static void test_variance(void **state)
{
	struct detect_options opt = options();
	struct weight_learner *l = weight_learner_new(&opt);
	struct function_weights w = {0};
	struct lp_table *t = profile_make(&calm);

	(void)state;
	/* f0 is the largest, but the same everywhere. */
	for (uint32_t i = 0; i < 5; i++)
		profile_change(&calm, t, i, 0, 0, 0, 700);
	/* f3 differs from server to server for good. */
	for (uint32_t i = 0; i < 5; i++)
		profile_change(&calm, t, i, 3, 0, 1, 40.0 * i);
	add(l, t, NULL, 0);
	assert_int_equal(weight_learner_finish(l, &w), 0);
	assert_int_equal(w.n, 8);
	assert_true(weight(&w, "f0") > 1);
	assert_true(weight(&w, "f3") < 1);
	assert_true(weight(&w, "f3") * 2 < weight(&w, "f2"));
	function_weights_release(&w);
	weight_learner_free(l);
}

/* Functions that showed the culprit count twice as much, those that accused another half. */
static void test_labels(void **state)
{
	struct detect_options opt = options();
	struct weight_learner *plain = weight_learner_new(&opt), *l = weight_learner_new(&opt);
	struct weight_label label = {"oss2", 0, INT64_MAX};
	struct function_weights w = {0}, without = {0};
	struct lp_table *t;

	(void)state;
	for (int with = 0; with < 2; with++) {
		vectors_state = 88172645463325252U;
		t = profile_make(&calm);
		profile_change(&calm, t, 2, 1, 0, 1, 300);
		profile_change(&calm, t, 4, 2, 0, 1, 300);
		add(with ? l : plain, t, with ? &label : NULL, with ? 1 : 0);
	}
	assert_int_equal(weight_learner_finish(l, &w), 0);
	assert_int_equal(weight_learner_finish(plain, &without), 0);
	/* Without labels what oss2 does is taken for usual. */
	assert_true(weight(&w, "f1") > 4 * weight(&without, "f1"));
	assert_true(weight(&w, "f2") < weight(&w, "f5"));
	function_weights_release(&w);
	function_weights_release(&without);
	weight_learner_free(plain);
	weight_learner_free(l);
}

/* Only windows within the fault count for it, and a server that had one is not counted as
 * healthy. */
static void test_times(void **state)
{
	struct detect_options opt = options();
	struct weight_learner *l = weight_learner_new(&opt);
	struct weight_label label = {"oss2", 0, 1};
	struct function_weights w = {0};
	struct lp_table *t = profile_make(&calm);

	(void)state;
	profile_change(&calm, t, 2, 1, 0, 1, 300);
	add(l, t, &label, 1);
	assert_int_equal(weight_learner_finish(l, &w), 0);
	assert_true(weight(&w, "f1") < 3 * weight(&w, "f2"));
	function_weights_release(&w);
	weight_learner_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_variance),
		cmocka_unit_test(test_labels), cmocka_unit_test(test_times)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
