/* Service times of system calls through the whole engine: what it must and must not find. */
#include "unit.h"

#include "detect/detect.h"
#include "detect/train/train.h"
#include "explain/explain.h"
#include "identity_rig.h"
#include "oracle.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 6
#define SLOTS 120
#define STEP_US INT64_C(1000000)

/* Servers with one metric: the calls of each second, and how long they took. */
struct traced {
	double times[N][SLOTS], calls[N][SLOTS];
};

/* Calls in a second that take `ms` on average, with a long tail as disks have it. */
static void second_fill(struct traced *t, uint32_t server, uint32_t slot, double calls, double ms)
{
	uint32_t n = (uint32_t)(calls + oracle_uniform());
	double sum = 0;

	for (uint32_t i = 0; i < n && i < 200; i++)
		sum += -log(1 - oracle_uniform()) * ms;
	t->calls[server][slot] = n;
	t->times[server][slot] = n ? sum / (n < 200 ? n : 200) : NAN;
}

static void traced_fill(struct traced *t, double calls, double ms)
{
	for (uint32_t i = 0; i < N; i++) {
		for (uint32_t s = 0; s < SLOTS; s++)
			second_fill(t, i, s, calls, ms * (1 + 0.5 * sin(s / 20.0)));
	}
}

static struct lp_table *table_make(const char *metric, const char *unit, double (*values)[SLOTS])
{
	struct lp_table *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	*t = (struct lp_table){.metric = strdup(metric),
		.unit = strdup(unit),
		.start_us = 1000 * STEP_US,
		.step_us = STEP_US,
		.n_slots = SLOTS,
		.n_components = N,
		.components = calloc(N, sizeof(struct lp_identity *)),
		.values = calloc((size_t)N * SLOTS, sizeof(double))};
	assert_true(t->components && t->values);
	for (uint32_t i = 0; i < N; i++)
		t->components[i] = identity_printf("s%u/sys:glusterfsd", i + 1);
	memcpy(t->values, values, sizeof(double) * N * SLOTS);
	return t;
}

static struct lp_table **tables_make(struct traced *t)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	struct lp_table **tables = calloc(2, sizeof(*tables));

	assert_non_null(tables);
	tables[0] = table_make("dread", "ms", t->times);
	tables[1] = table_make("dreads", "1/s", t->calls);
	return tables;
}

/* The accused servers: "", "s3", "s1,s3". */
static void accused(const struct lp_verdict *v, char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (uint32_t i = 0; i < v->n_components; i++) {
		bool found = false;

		for (uint32_t s = 0; s < v->n_suspects; s++)
			found |= v->suspects[s].component == i;
		if (found)
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? "," : "",
				v->components[i]->observer);
	}
}

static struct lp_verdict *diagnose(struct traced *t, const struct detect_options *opt)
{
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};

	if (detect_run(tables_make(t), 2, opt, &v, &err) < 0 ||
		explain_verdict(v, NULL, NULL, NULL, NULL, &err) < 0)
		fail_msg("%s", err.text);
	return v;
}

static void expect(struct traced *t, const struct detect_options *opt, const char *who)
{
	struct lp_verdict *v = diagnose(t, opt);
	char text[100];

	accused(v, text, sizeof(text));
	if (strcmp(text, who) != 0)
		fail_msg("accused: '%s', not '%s'", text, who);
	/* The number of calls alone is not judged. */
	for (uint32_t i = 0; i < v->n_series; i++)
		assert_string_equal(v->tables[v->series[i].metric]->metric, "dread");
	lp_verdict_free(v);
}

/* By the time-series method, and in windows by each measure. */
static const struct {
	enum service_method service;
	const char *measure;
} ways[] = {{SERVICE_SERIES, "cdf"}, {SERVICE_MEASURE, "cdf"}, {SERVICE_MEASURE, "kl"},
	{SERVICE_MEASURE, "median"}};

static struct detect_options way(size_t i)
{
	return (struct detect_options){
		.service = ways[i].service, .measure = measure_find(ways[i].measure)};
}

static void test_slow_server(void **state)
{
	struct traced t;

	(void)state;
	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		struct detect_options opt = way(w);

		for (unsigned seed = 0; seed < 5; seed++) {
			traced_fill(&t, 50, 4);
			expect(&t, &opt, "");
			for (uint32_t s = 15; s < SLOTS; s++)
				second_fill(&t, 2, s, 20, 30);
			expect(&t, &opt, "s3");
		}
	}
}

static void test_finding(void **state)
{
	struct detect_options opt = way(0);
	struct lp_verdict *v;
	struct traced t;

	(void)state;
	traced_fill(&t, 50, 4);
	for (uint32_t s = 15; s < SLOTS; s++)
		second_fill(&t, 2, s, 50, 40);
	v = diagnose(&t, &opt);
	assert_int_equal(v->n_suspects, 1);
	assert_string_equal(v->suspects[0].cause, "disk-busy");
	assert_int_equal(v->n_findings, 1);
	assert_string_equal(v->series[0].method, "series");
	assert_int_equal(v->findings[0].direction, LP_MARK_ABOVE);
	assert_true(v->findings[0].ratio > 4 && v->findings[0].ratio < 12);
	assert_true(v->findings[0].load_ratio > 0.9 && v->findings[0].load_ratio < 1.1);
	lp_verdict_free(v);
}

/* A call every few seconds, one of them slow: that proves nothing. */
static void test_few_calls(void **state)
{
	struct traced t;

	(void)state;
	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		struct detect_options opt = way(w);

		for (unsigned seed = 0; seed < 20; seed++) {
			traced_fill(&t, 50, 4);
			for (uint32_t s = 0; s < SLOTS; s++)
				second_fill(&t, 4, s, 0.2, 20);
			expect(&t, &opt, "");
			/* All of them do little. */
			traced_fill(&t, 0.7, 4);
			expect(&t, &opt, "");
		}
	}
}

/* A second in which one call hung is in many averages, and over. */
static void test_one_slow_call(void **state)
{
	struct traced t;

	(void)state;
	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		struct detect_options opt = way(w);

		traced_fill(&t, 50, 4);
		t.times[2][60] = 2000;
		expect(&t, &opt, "");
	}
}

/* Having no calls is not a problem: not for one member, and not for most of them. */
static void test_idle(void **state)
{
	struct traced t;

	(void)state;
	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		struct detect_options opt = way(w);

		traced_fill(&t, 50, 4);
		for (uint32_t s = 20; s < SLOTS; s++)
			second_fill(&t, 1, s, 0, 0);
		expect(&t, &opt, "");
		/* One works, one works sometimes, and the others are idle: there is nothing to
		 * compare with. */
		for (uint32_t i = 0; i < N - 1; i++) {
			for (uint32_t s = 0; s < SLOTS; s++)
				second_fill(&t, i, s, i == 0 ? 1 : 0, 1);
		}
		for (uint32_t s = 0; s < SLOTS; s++)
			second_fill(&t, N - 1, s, 50, 20);
		expect(&t, &opt, "");
	}
}

/* One gets much more to do than the others, and takes longer for it. */
static void test_busy(void **state)
{
	struct traced t;

	(void)state;
	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		struct detect_options opt = way(w);

		traced_fill(&t, 20, 3);
		for (uint32_t s = 0; s < SLOTS; s++)
			second_fill(&t, 3, s, 100, 10);
		expect(&t, &opt, "");
	}
}

/* Differences of microseconds do not matter. */
static void test_floor(void **state)
{
	struct traced t;

	(void)state;
	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		struct detect_options opt = way(w);

		traced_fill(&t, 50, 0.02);
		for (uint32_t s = 0; s < SLOTS; s++)
			second_fill(&t, 3, s, 50, 0.4);
		expect(&t, &opt, "");
	}
}

static struct thresholds *train(struct traced *t, const struct detect_options *opt)
{
	struct train_result r = {0};
	struct trainer *trainer;
	struct thresholds *learnt;
	struct lp_err err = {0};

	assert_int_equal(trainer_new(opt, &trainer, &err), 0);
	if (trainer_add(trainer, tables_make(t), 2, &err) < 0 ||
		trainer_finish(trainer, &r, &err) < 0)
		fail_msg("%s", err.text);
	learnt = r.thresholds;
	r.thresholds = NULL;
	train_result_release(&r);
	trainer_free(trainer);
	return learnt;
}

/* A server that is always somewhat slower is known to be, and found when it gets worse. */
static void test_trained(void **state)
{
	(void)state;
	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		struct detect_options opt = way(w), use = {0};
		struct thresholds *learnt = NULL;
		struct traced t;

		opt.params = opt.measure->defaults;
		opt.params.win_size = 30;
		opt.params.win_shift = 15;
		opt.params.smooth = 5;
		opt.params.step_us = STEP_US;
		/* What is three times as slow has nothing in common with its peers as kl sees it:
		 * it cannot become worse. */
		for (int faulty = -1; faulty < (strcmp(ways[w].measure, "kl") ? 2 : 1); faulty++) {
			traced_fill(&t, 50, 4);
			for (uint32_t s = 0; s < SLOTS; s++)
				second_fill(&t, 5, s, 50, 12);
			if (faulty < 0) {
				learnt = train(&t, &opt);
				assert_string_equal(thresholds_service(learnt),
					service_method_name(opt.service, opt.measure));
				use.trained = learnt;
				continue;
			}
			for (uint32_t s = 10; s < SLOTS; s++)
				second_fill(&t, faulty ? 5 : 0, s, 50, faulty ? 200 : 60);
			expect(&t, &use, faulty ? "s6" : "s1");
		}
		traced_fill(&t, 50, 4);
		for (uint32_t s = 0; s < SLOTS; s++)
			second_fill(&t, 5, s, 50, 12);
		expect(&t, &use, "");
		thresholds_free(learnt);
	}
}

/* The names of the methods. */
static void test_names(void **state)
{
	const struct measure *kl = measure_find("kl");
	enum service_method m = SERVICE_SERIES;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(service_method_parse(NULL, kl, &m, &err), 0);
	assert_int_equal(m, SERVICE_DEFAULT);
	assert_int_equal(service_method_parse("series", kl, &m, &err), 0);
	assert_int_equal(m, SERVICE_SERIES);
	assert_int_equal(service_method_parse("kl", kl, &m, &err), 0);
	assert_int_equal(m, SERVICE_MEASURE);
	assert_true(service_method_parse("cdf", kl, &m, &err) < 0);
	assert_non_null(
		strstr(err.text, "'series', or by 'kl' like all other metrics; not by 'cdf'"));
	assert_string_equal(service_method_name(SERVICE_SERIES, kl), "series");
	assert_string_equal(service_method_name(SERVICE_MEASURE, kl), "kl");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_server),
		cmocka_unit_test(test_finding),
		cmocka_unit_test(test_few_calls),
		cmocka_unit_test(test_one_slow_call),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_floor),
		cmocka_unit_test(test_trained),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
