#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "detect/compare/marks.h"
#include "detect/compare/votes.h"
#include "detect/train/train.h"
#include "identity_rig.h"
#include "unit.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T0 (INT64_C(1700000000) * US_PER_SEC)

DEFINE_CLEANUP(struct trainer *, trainer_free);

/* A table with components "oss<i>/<kind>:<name>". */
static struct lp_table *table_new(
	const char *metric, const char *name, uint32_t n_components, uint32_t n_slots)
{
	struct lp_table *t = calloc(1, sizeof(*t));

	*t = (struct lp_table){.metric = strdup(metric),
		.unit = strdup("ms"),
		.start_us = T0,
		.step_us = US_PER_SEC,
		.n_slots = n_slots,
		.n_components = n_components,
		.components = calloc(n_components, sizeof(struct lp_identity *)),
		.values = calloc((size_t)n_components * n_slots, sizeof(double))};
	for (uint32_t i = 0; i < n_components; i++)
		t->components[i] = identity_printf("oss%u/%s", i, name);
	return t;
}

static double *row(struct lp_table *t, uint32_t i)
{
	return t->values + (size_t)i * t->n_slots;
}

static double uniform(void)
{
	return (double)random() / RAND_MAX;
}

/* Disks that wait 10 ms and a bit. */
static struct lp_table *disks(uint32_t n, uint32_t n_slots, unsigned seed)
{
	struct lp_table *t = table_new("await", "disk:sda", n, n_slots);

	srandom(seed);
	for (size_t i = 0; i < (size_t)n * n_slots; i++)
		t->values[i] = 10 + 2 * uniform();
	return t;
}

static struct detect_options options(const char *method)
{
	struct detect_options o = {.measure = measure_find(method)};

	o.params = o.measure->defaults;
	o.params.step_us = US_PER_SEC;
	return o;
}

static struct lp_table **list(struct lp_table *a, struct lp_table *b)
{
	struct lp_table **tables = calloc(2, sizeof(struct lp_table *));

	assert_non_null(tables);
	tables[0] = a;
	tables[1] = b;
	return tables;
}

static void learn(struct trainer *t, struct lp_table *a, struct lp_table *b)
{
	struct lp_err err = {0};

	if (trainer_add(t, list(a, b), b ? 2 : 1, &err) < 0)
		fail_msg("%s", err.text);
}

static void finish(struct trainer *t, struct train_result *ret)
{
	struct lp_err err = {0};

	if (trainer_finish(t, ret, &err) < 0)
		fail_msg("%s", err.text);
}

static struct trainer *trainer(const struct detect_options *o)
{
	struct trainer *t = NULL;

	assert_int_equal(trainer_new(o, &t, NULL), 0);
	return t;
}

static double threshold(const struct train_result *r, const char *metric, const char *component)
{
	double value = NAN;

	assert_true(thresholds_get(r->thresholds, metric, identity_of(component), &value));
	return value;
}

static bool warned(const struct train_result *r, const char *text)
{
	for (size_t i = 0; i < r->n_warnings; i++) {
		if (strstr(r->warnings[i], text))
			return true;
	}
	return false;
}

/* The definition: raise by 0.1 until step 6 never fires. */
static double plain_tenth(const double *votes, uint32_t n, uint32_t k)
{
	for (unsigned i = 1;; i++) {
		bool fires = false;

		for (uint32_t end = 0; end < n; end++) {
			uint32_t found = 0;

			for (uint32_t back = 0; back < 2 * k - 1 && back <= end; back++)
				found += votes[end - back] > i / 10.0;
			fires |= found >= k;
		}
		if (!fires)
			return i / 10.0;
	}
}

static void test_tenth(void **state)
{
	(void)state;
	assert_true(train_tenth(0) == 0.1);
	assert_true(train_tenth(0.1) == 0.1);
	assert_true(train_tenth(nextafter(0.1, 1)) == 0.2);
	/* Every exact multiple stays, and the next number above it does not. */
	for (unsigned i = 1; i < 100000; i++) {
		double exact = i / 10.0;

		assert_true(train_tenth(exact) == exact);
		assert_true(train_tenth(nextafter(exact, INFINITY)) == (i + 1) / 10.0);
		assert_true(train_tenth(nextafter(exact, 0)) == exact);
	}
	assert_true(train_tenth(1e12 + 0.05) == 1e12 + 0.1);
	assert_true(train_tenth(1e20) == 1e20);
}

/* persist_limit() and rounding up give the same result as the plain loop. */
static void test_against_plain_loop(void **state)
{
	(void)state;
	srandom(7);
	for (unsigned round = 0; round < 3000; round++) {
		uint32_t n = 1 + (uint32_t)random() % 30, k = 1 + (uint32_t)random() % 4;
		double votes[30];

		for (uint32_t i = 0; i < n; i++) {
			votes[i] = uniform() * 3;
			if (random() % 3 == 0)
				votes[i] = (double)(random() % 30) / 10.0; /* on the boundary */
			if (random() % 5 == 0)
				votes[i] = NAN;
		}
		assert_true(train_tenth(persist_limit(votes, n, k)) == plain_tenth(votes, n, k));
	}
}

/* The whole of it, against the plain loop over the votes, for each method. */
static void test_methods(void **state)
{
	static const char *const methods[] = {"cdf", "kl", "median", "thresh", "manhattan"};

	(void)state;
	for (size_t m = 0; m < ARRAY_SIZE(methods); m++) {
		struct detect_options o = options(methods[m]);
		_cleanup_(trainer_freep) struct trainer *t = trainer(&o);
		_cleanup_(train_result_release) struct train_result r = {0};
		struct lp_table *table = disks(5, 700, 3);
		uint32_t n_windows = window_count(&o.params, 700);
		_cleanup_free_ double *votes = calloc((size_t)5 * n_windows, sizeof(*votes));
		_cleanup_(smoothed_release) struct smoothed s = {0};
		const double *rows[5];
		struct group_data g = {rows, 5, 700};

		for (uint32_t i = 0; i < 5; i++)
			rows[i] = row(table, i);
		assert_int_equal(smooth_group(&g, o.params.smooth, 0, &s), 0);
		assert_int_equal(votes_all(o.measure, &o.params, &s, NULL, 5, votes, NULL), 0);
		learn(t, table, NULL);
		finish(t, &r);
		assert_string_equal(thresholds_method(r.thresholds), methods[m]);
		for (int i = 0; i < 5; i++) {
			char name[32];

			snprintf(name, sizeof(name), "oss%d/disk:sda", i);
			assert_true(threshold(&r, "await", name) ==
				2 * plain_tenth(votes + (size_t)i * n_windows, n_windows, 3));
		}
		assert_int_equal(r.n_asymmetries, 0);
	}
}

/* Of several runs the worst counts, whatever their order and however far apart. */
static void test_runs(void **state)
{
	struct detect_options o = options("cdf");
	double values[3];

	(void)state;
	for (int pass = 0; pass < 3; pass++) {
		_cleanup_(trainer_freep) struct trainer *t = trainer(&o);
		_cleanup_(train_result_release) struct train_result r = {0};
		struct lp_table *later = disks(4, 400, 2);

		later->start_us += 400 * US_PER_DAY;
		for (uint32_t s = 100; s < 350; s++)
			row(later, 2)[s] += 3;
		if (pass != 1)
			learn(t, disks(4, 500, 1), NULL);
		if (pass != 0)
			learn(t, later, NULL);
		else
			lp_table_free(later);
		finish(t, &r);
		assert_int_equal(r.n_runs, pass == 2 ? 2 : 1);
		values[pass] = threshold(&r, "await", "oss2/disk:sda");
	}
	assert_true(values[0] < values[1]);
	assert_true(values[2] == values[1]);
}

/* One threshold for each direction of congestion windows, not doubled. */
static void test_windows_of_connections(void **state)
{
	struct detect_options o = options("kl");
	_cleanup_(trainer_freep) struct trainer *t = trainer(&o);
	_cleanup_(train_result_release) struct train_result r = {0};
	struct lp_table *in = table_new("cwnd", "tcp:10.0.0.1:in", 8, 300);
	size_t n;

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		if (i >= 4) {
			free(in->components[i]);
			in->components[i] = identity_printf("oss%u/tcp:10.0.0.2:out", i);
		}
		for (uint32_t s = 0; s < 300; s++)
			row(in, i)[s] = i == 1 ? 8 : 16;
	}
	learn(t, in, NULL);
	finish(t, &r);
	thresholds_rows(r.thresholds, &n);
	assert_int_equal(n, 2);
	/* log2 16 is 4, log2 8 is 3: 4/3, rounded up and not doubled. */
	assert_true(threshold(&r, "cwnd", "new/tcp:10.9.9.9:in") == 1.4);
	assert_true(threshold(&r, "cwnd", "oss1/tcp:10.0.0.1:in") == 1.4);
	assert_true(threshold(&r, "cwnd", "oss5/tcp:10.0.0.2:out") == 1);
}

/* Service times: each server gets what its worst second needed, doubled; and the file says how they
 * were compared. */
static void test_service_times(void **state)
{
	static const double times[] = {7, 7, 7, 15, 31}; /* and 1 ms: 0, 1 and 2 doublings more */
	static const double wanted[] = {0.2, 0.2, 0.2, 2, 4};

	(void)state;
	for (int pass = 0; pass < 2; pass++) {
		struct detect_options o = options("cdf");
		_cleanup_(trainer_freep) struct trainer *t = trainer(&o);
		_cleanup_(train_result_release) struct train_result r = {0};
		struct lp_table *table = table_new("dread", "sys:glusterfsd", 5, 700);

		o.service = pass ? SERVICE_MEASURE : SERVICE_SERIES;
		for (uint32_t i = 0; i < 5; i++) {
			for (uint32_t s = 0; s < 700; s++)
				row(table, i)[s] = s % 3 ? times[i] : NAN;
		}
		learn(t, table, NULL);
		finish(t, &r);
		assert_string_equal(thresholds_service(r.thresholds), pass ? "cdf" : "series");
		for (uint32_t i = 0; i < 5 && !pass; i++) {
			char name[32];

			snprintf(name, sizeof(name), "oss%u/sys:glusterfsd", i);
			assert_true(threshold(&r, "dread", name) == wanted[i]);
		}
		assert_true(threshold(&r, "dread", "oss4/sys:glusterfsd") >
			threshold(&r, "dread", "oss3/sys:glusterfsd"));
	}
}

static void test_asymmetry(void **state)
{
	struct detect_options o = options("cdf");
	_cleanup_(trainer_freep) struct trainer *t = trainer(&o);
	_cleanup_(train_result_release) struct train_result r = {0};
	struct lp_table *table = disks(6, 1000, 5);
	const struct train_asymmetry *a;

	(void)state;
	for (uint32_t s = 0; s < 1000; s++) {
		row(table, 1)[s] *= 2;
		row(table, 4)[s] *= 4;
		row(table, 5)[s] += 0.9; /* less than the metric's floor, if more than the noise */
	}
	learn(t, table, NULL);
	/* Again in a later run, less often: it is shown once. */
	table = disks(6, 1000, 8);
	table->start_us += US_PER_DAY;
	for (uint32_t s = 0; s < 700; s++)
		row(table, 4)[s] *= 4;
	learn(t, table, NULL);
	finish(t, &r);
	assert_int_equal(r.n_asymmetries, 2);
	a = &r.asymmetries[0];
	assert_string_equal(a->component, "oss4/disk:sda"); /* the worst first */
	assert_string_equal(r.asymmetries[1].component, "oss1/disk:sda");
	assert_string_equal(a->metric, "await");
	assert_true(a->share > 0.99);
	assert_true(a->own > 40 && a->own < 48 && a->peers > 10 && a->peers < 12.9);
	assert_true(a->own_curve[0] > 40 && a->own_curve[TRAIN_CURVE_COLUMNS - 1] > 40);
	assert_true(a->peers_curve[0] < 20);
	assert_int_equal(a->start_us, T0);
	assert_int_equal(a->end_us, T0 + 999 * US_PER_SEC);
}

/* An asymmetry in less than half of the time is what thresholds are for. */
static void test_passing_asymmetry(void **state)
{
	struct detect_options o = options("cdf");
	_cleanup_(trainer_freep) struct trainer *t = trainer(&o);
	_cleanup_(train_result_release) struct train_result r = {0};
	struct lp_table *table = disks(6, 1000, 5);

	(void)state;
	for (uint32_t s = 0; s < 400; s++)
		row(table, 1)[s] *= 2;
	learn(t, table, NULL);
	finish(t, &r);
	assert_int_equal(r.n_asymmetries, 0);
	assert_true(
		threshold(&r, "await", "oss1/disk:sda") > threshold(&r, "await", "oss2/disk:sda"));
}

static void test_absent(void **state)
{
	struct detect_options o = options("cdf");
	_cleanup_(trainer_freep) struct trainer *t = trainer(&o);
	_cleanup_(train_result_release) struct train_result r = {0};
	struct lp_table *table = disks(5, 1000, 6);

	(void)state;
	for (uint32_t s = 0; s < 500; s++)
		row(table, 3)[s] = NAN;
	learn(t, table, NULL);
	finish(t, &r);
	assert_true(warned(&r, "oss3/disk:sda has no await in "));
	assert_false(warned(&r, "oss2/disk:sda"));
	assert_true(threshold(&r, "await", "oss3/disk:sda") < 20);
}

static void test_short(void **state)
{
	struct detect_options o = options("cdf");
	_cleanup_(trainer_freep) struct trainer *t = trainer(&o), *u = trainer(&o);
	_cleanup_(train_result_release) struct train_result r = {0};
	struct lp_err err = {0};

	(void)state;
	/* 5 windows of 60 samples end at 180. */
	learn(t, disks(4, 179, 1), NULL);
	assert_int_equal(trainer_finish(t, &r, &err), -ENODATA);
	assert_non_null(strstr(err.text, "nothing was learnt"));
	learn(u, disks(4, 180, 1), NULL);
	finish(u, &r);
	assert_int_equal(r.n_windows, 5);
	assert_true(warned(&r, "3m is very short"));
}

static void test_load(void **state)
{
	struct detect_options o = options("cdf");

	(void)state;
	for (int pass = 0; pass < 3; pass++) {
		_cleanup_(trainer_freep) struct trainer *t = trainer(&o);
		_cleanup_(train_result_release) struct train_result r = {0};
		struct lp_table *work = table_new("rd_sec", "disk:sda", 4, 1000);

		for (size_t i = 0; i < 4000; i++)
			work->values[i] = pass == 0 ? 50000
				: pass == 1	    ? (i % 1000 < 300 ? 50000 : 100)
						    : 20;
		learn(t, disks(4, 1000, 1), work);
		finish(t, &r);
		assert_int_equal(warned(&r, "did next to nothing"), pass == 1);
		assert_int_equal(warned(&r, "for 70% of the time"), pass == 1);
		assert_int_equal(warned(&r, "group disk was idle all the time"), pass == 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tenth),
		cmocka_unit_test(test_against_plain_loop),
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_windows_of_connections),
		cmocka_unit_test(test_service_times),
		cmocka_unit_test(test_asymmetry),
		cmocka_unit_test(test_passing_asymmetry),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
