/* Peer groups that are compared by vectors, from tables of functions to findings. */
#include "base/array.h"
#include "openmp.h"
#include "profile_rig.h"
#include <omp.h>

/* As the paper has it: CPU samples every 10 s, windows of a minute. */
static const struct profile sampled = {.metric = "samples",
	.unit = "1/s",
	.n_observers = 8,
	.n_functions = 10000,
	.n_slots = 60,
	.step_us = 10000000,
	.total = 3000,
	.noise = -1};

/* Something imported that counts exactly. */
static const struct profile counted = {.metric = "widgets",
	.unit = "",
	.n_observers = 8,
	.n_functions = 300,
	.n_slots = 120,
	.step_us = 1000000,
	.total = 1000,
	.noise = 0.1};

/* Where the catalogue says what is too little to count, and where all 10,000 count. */
static void check_nothing_wrong(const char *metric)
{
	struct detect_options opt = profile_options(6);
	struct profile p = sampled;
	struct lp_verdict *v;

	p.metric = metric;
	v = profile_run(profile_make(&p), &opt);
	assert_int_equal(v->n_groups, 1);
	assert_int_equal(v->groups[0].n_members, 8);
	assert_int_equal(v->n_series, 1);
	assert_string_equal(v->series[0].method, "manhattan");
	assert_int_equal(v->series[0].n_windows, 19);
	assert_int_equal(v->n_findings, 0);
	assert_int_equal(v->n_anomalies, 0);
	lp_verdict_free(v);
}

static void test_nothing_wrong(void **state)
{
	(void)state;
	check_nothing_wrong("samples");
	check_nothing_wrong("widgets");
}

/* Three of 10,000 functions, of one observer of 8, from the middle on. */
static void test_three_functions(void **state)
{
	static const char *const names[] = {"f4", "f0", "f9000"};
	struct detect_options opt = profile_options(6);
	struct lp_table *t = profile_make(&sampled);
	const struct lp_finding *f;
	struct lp_verdict *v;

	(void)state;
	profile_change(&sampled, t, 5, 4, 18, 1, 2000);
	profile_change(&sampled, t, 5, 0, 18, 4, 0);
	profile_change(&sampled, t, 5, 9000, 18, 0, 500);
	v = profile_run(t, &opt);
	assert_int_equal(v->n_findings, 1);
	f = &v->findings[0];
	assert_string_equal(profile_accused(v, 0), "oss5/functions:all");
	assert_int_equal(f->direction, LP_MARK_ABOVE);
	assert_true(f->culprit && f->distance > f->threshold && f->ratio > 1.5);
	assert_true(f->first_us >= t->start_us + 12 * t->step_us - t->step_us);
	assert_true(f->last_us == t->start_us + 59 * t->step_us);
	/* The culprit comes first, with its value per second and that of its median peer. */
	assert_int_equal(f->n_dimensions, 10);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(v->dimensions[f->first_dimension + i].name, names[i]);
	assert_true(v->dimensions[f->first_dimension + 2].peers < 1);
	assert_true(fabs(v->dimensions[f->first_dimension + 2].own - 500) < 60);
	for (uint32_t i = 1; i < f->n_dimensions; i++)
		assert_true(v->dimensions[i].distance <= v->dimensions[i - 1].distance);
	lp_verdict_free(v);
}

/* Time moves from one function to another: the total does not show it, the vector does. */
static void test_moved(void **state)
{
	struct detect_options opt = profile_options(24);
	struct lp_table *t = profile_make(&counted);
	struct lp_verdict *v;
	double *from = profile_row(t, 0 * 8 + 2), *to = profile_row(t, 7 * 8 + 2);

	(void)state;
	for (uint32_t s = 0; s < t->n_slots; s++) {
		for (uint32_t i = 0; i < 8; i++)
			profile_row(t, i)[s] += 300;
		from[s] -= 200;
		to[s] += 200;
	}
	opt.fixed = &(struct fixed_thresholds){.items = {{NULL, 24 * 300}}, .n = 1};
	v = profile_run(t, &opt);
	assert_int_equal(v->n_findings, 1);
	assert_string_equal(profile_accused(v, 0), "oss2/functions:all");
	assert_int_equal(v->findings[0].direction, LP_MARK_ABOVE);
	assert_true(fabs(v->findings[0].ratio - 1) < 0.05);
	assert_true(fabs(v->findings[0].distance / (24 * 400.0) - 1) < 0.1);
	/* As much as it has less of the one, it has more of the other. */
	assert_true(!strcmp(v->dimensions[0].name, "f0") || !strcmp(v->dimensions[1].name, "f0"));
	assert_true(!strcmp(v->dimensions[0].name, "f7") || !strcmp(v->dimensions[1].name, "f7"));
	lp_verdict_free(v);
}

/* A server that does less of everything is not a culprit, and one that does nothing at all is
 * absent. */
static void test_less(void **state)
{
	(void)state;
	for (int nothing = 0; nothing < 2; nothing++) {
		struct detect_options opt = profile_options(24);
		struct lp_table *t = profile_make(&counted);
		struct lp_verdict *v;

		for (uint32_t f = 0; f < counted.n_functions; f++)
			profile_change(&counted, t, 6, f, 0, nothing ? 0 : 0.2, 0);
		v = profile_run(t, &opt);
		assert_int_equal(v->n_findings, 1);
		assert_string_equal(profile_accused(v, 0), "oss6/functions:all");
		assert_int_equal(
			v->findings[0].direction, nothing ? LP_MARK_ABSENT : LP_MARK_BELOW);
		assert_int_equal(v->findings[0].culprit, nothing);
		lp_verdict_free(v);
	}
}

/* An observer that is no longer measured, one that never was, and windows without any. */
static void test_missing(void **state)
{
	struct detect_options opt = profile_options(24);
	struct lp_table *t = profile_make(&counted);
	const struct lp_series *s;
	struct lp_verdict *v;

	(void)state;
	profile_lose(&counted, t, 1, 60, 120);
	profile_lose(&counted, t, 3, 0, 120);
	for (uint32_t i = 0; i < 8; i++)
		profile_lose(&counted, t, i, 0, 24);
	v = profile_run(t, &opt);
	s = &v->series[0];
	assert_int_equal(s->n_windows, 9);
	for (uint32_t i = 0; i < 8; i++) {
		assert_string_equal(v->components[v->groups[0].members[i]]->kind, "functions");
		assert_int_equal(s->marks[i * 9], LP_MARK_NONE);
		assert_int_equal(s->marks[i * 9 + 8],
			i == 1		 ? LP_MARK_ABSENT
				: i == 3 ? LP_MARK_NONE
					 : LP_MARK_NORMAL);
	}
	assert_int_equal(v->n_findings, 1);
	assert_string_equal(profile_accused(v, 0), "oss1/functions:all");
	assert_int_equal(v->findings[0].n_dimensions, 0);
	lp_verdict_free(v);
}

/* A function that did not exist before, later on one observer only. */
static void test_late_function(void **state)
{
	struct detect_options opt = profile_options(24);
	struct lp_table *t = profile_make(&counted);
	struct lp_verdict *v;

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		double *row = profile_row(t, 299 * 8 + i);

		for (uint32_t s = 0; s < t->n_slots; s++)
			row[s] = i == 4 && s >= 48 ? 900 : NAN;
	}
	v = profile_run(t, &opt);
	assert_int_equal(v->n_findings, 1);
	assert_string_equal(profile_accused(v, 0), "oss4/functions:all");
	assert_string_equal(v->dimensions[0].name, "f299");
	assert_true(v->dimensions[0].peers == 0);
	lp_verdict_free(v);
}

static void series_same(const struct lp_verdict *a, const struct lp_verdict *b)
{
	const struct lp_series *x = &a->series[0], *y = &b->series[0];
	uint32_t n = a->groups[0].n_members;

	assert_int_equal(x->n_windows, y->n_windows);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;
		size_t p, q;

		while (strcmp(a->components[a->groups[0].members[i]]->text,
			       b->components[b->groups[0].members[k]]->text) != 0)
			k++;
		assert_true(x->thresholds[i] == y->thresholds[k]);
		p = (size_t)i * x->n_windows;
		q = (size_t)k * x->n_windows;
		assert_memory_equal(x->marks + p, y->marks + q, x->n_windows);
		assert_memory_equal(
			x->distances + p, y->distances + q, x->n_windows * sizeof(float));
		assert_memory_equal(x->ratios + p, y->ratios + q, x->n_windows * sizeof(float));
	}
}

static void row_swap(struct lp_table *t, uint32_t a, uint32_t b)
{
	struct lp_identity *component = t->components[a];

	t->components[a] = t->components[b];
	t->components[b] = component;
	for (uint32_t s = 0; s < t->n_slots; s++) {
		double value = profile_row(t, a)[s];

		profile_row(t, a)[s] = profile_row(t, b)[s];
		profile_row(t, b)[s] = value;
	}
}

/* Rows in another order, other threads: the same to the last bit. */
static void test_order_and_threads(void **state)
{
	int threads = omp_get_max_threads();
	uint64_t seed = vectors_state;
	struct lp_verdict *v[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct detect_options opt = profile_options(24);
		struct lp_table *t;

		vectors_state = seed;
		t = profile_make(&counted);
		profile_change(&counted, t, 5, 4, 40, 1, 3000);
		for (uint32_t k = t->n_components; i == 1 && k > 1; k--)
			row_swap(t, k - 1, vectors_below(k));
		omp_set_num_threads(i ? 3 : 1);
		v[i] = profile_run(t, &opt);
	}
	omp_set_num_threads(threads);
	series_same(v[0], v[1]);
	assert_int_equal(v[0]->n_findings, 1);
	assert_int_equal(v[1]->n_findings, 1);
	assert_true(v[0]->findings[0].weight == v[1]->findings[0].weight);
	assert_int_equal(v[0]->n_dimensions, v[1]->n_dimensions);
	for (uint32_t i = 0; i < v[0]->n_dimensions; i++) {
		assert_string_equal(v[0]->dimensions[i].name, v[1]->dimensions[i].name);
		assert_true(v[0]->dimensions[i].distance == v[1]->dimensions[i].distance);
	}
	lp_verdict_free(v[0]);
	lp_verdict_free(v[1]);
}

/* Marks are those of the plain definition: sums over windows, all distances, votes. */
static void test_plain(void **state)
{
	static const double threshold = 24 * 150;
	struct detect_options opt = profile_options(24);
	struct lp_table *t = profile_make(&counted);
	static double sums[8][300];
	struct lp_verdict *v;

	(void)state;
	profile_change(&counted, t, 3, 1, 50, 1, 160);
	profile_change(&counted, t, 7, 2, 20, 1, 60);
	opt.fixed = &(struct fixed_thresholds){.items = {{NULL, threshold}}, .n = 1};
	v = profile_run(t, &opt);
	for (uint32_t w = 0; w < v->series[0].n_windows; w++) {
		for (uint32_t i = 0; i < 8 * 300; i++) {
			sums[i % 8][i / 8] = 0;
			for (uint32_t s = w * 12; s < w * 12 + 24; s++)
				sums[i % 8][i / 8] += profile_row(t, i)[s];
		}
		for (uint32_t i = 0; i < 8; i++) {
			size_t at = (size_t)i * v->series[0].n_windows + w;
			double d[8], vote;
			uint32_t n = 0;

			for (uint32_t k = 0; k < 8; k++) {
				if (k != i)
					d[n++] = vectors_distance(sums[i], sums[k], 300);
			}
			vote = vectors_vote(d, n);
			assert_int_equal(v->series[0].marks[at] > LP_MARK_NORMAL, vote > threshold);
			assert_true(vote <= threshold ||
				fabs(v->series[0].distances[at] / vote - 1) < 1e-6);
		}
	}
	assert_int_equal(v->n_findings, 1);
	assert_string_equal(profile_accused(v, 0), "oss3/functions:all");
	lp_verdict_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_wrong),
		cmocka_unit_test(test_three_functions),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_less),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_late_function),
		cmocka_unit_test(test_order_and_threads),
		cmocka_unit_test(test_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
