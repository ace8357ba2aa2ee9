/* Vectors of a group over its windows, and the learnt thresholds. */
#include "detect/compare/vector_group.h"

#include "detect/compare/votes.h"
#include "detect/train/train.h"
#include "identity_rig.h"
#include "openmp.h"
#include "profile_rig.h"

static const struct profile calm = {.metric = "widgets",
	.unit = "",
	.n_observers = 5,
	.n_functions = 200,
	.n_slots = 200,
	.step_us = 1000000,
	.total = 1000,
	.noise = 0.2};

static const struct lp_params params = {
	.smooth = 1, .win_size = 20, .win_shift = 10, .k = 3, .step_us = 1000000};

static const char *const components[] = {"oss0/functions:all", "oss1/functions:all",
	"oss2/functions:all", "oss3/functions:all", "oss4/functions:all"};

/* The vote of a member in a window, from sums and all distances. */
static double plain_vote(const struct profile *p, struct lp_table *t, uint32_t member,
	uint32_t window, const struct lp_params *at)
{
	double sums[8][200] = {0}, distances[8];
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_observers * p->n_functions; i++) {
		for (uint32_t s = 0; s < at->win_size; s++)
			sums[i % p->n_observers][i / p->n_observers] +=
				profile_row(t, i)[window * at->win_shift + s];
	}
	for (uint32_t i = 0; i < p->n_observers; i++) {
		if (i != member)
			distances[n++] = vectors_distance(sums[member], sums[i], 200);
	}
	return vectors_vote(distances, n);
}

static int group_make(const struct lp_table *t, const char *const *names,
	const struct lp_params *at, struct vector_group *ret)
{
	struct lp_identity *members[5];

	identities_of(names, 5, members);
	return vector_group_make(t, members, 5, at, ret);
}

static void group_compare(
	const struct lp_table *t, const char *const *names, struct vector_group *ret)
{
	uint32_t n = window_count(&params, t->n_slots);

	assert_int_equal(n, 19);
	assert_int_equal(group_make(t, names, &params, ret), 0);
	assert_int_equal(vector_group_compare(ret, 0, n), 0);
}

/* Windows that begin later are those that were there before. */
static void test_later(void **state)
{
	struct lp_table *t = profile_make(&calm);
	struct vector_group g, later;

	(void)state;
	group_compare(t, components, &g);
	assert_int_equal(group_make(t, components, &params, &later), 0);
	assert_int_equal(vector_group_compare(&later, 5 * params.win_shift, 3), 0);
	for (uint32_t i = 0; i < 5; i++) {
		for (uint32_t w = 0; w < 3; w++) {
			const struct vector_place *a = &g.places[i * 19 + 5 + w];
			const struct vector_place *b = &later.places[i * 3 + w];

			assert_true(a->vote == b->vote && a->more == b->more);
			assert_true(a->own == b->own && a->peers == b->peers);
			assert_int_equal(a->peer, b->peer);
		}
	}
	vector_group_release(&g);
	vector_group_release(&later);
	lp_table_free(t);
}

static void test_votes(void **state)
{
	struct lp_table *t = profile_make(&calm);
	struct vector_group g;

	(void)state;
	group_compare(t, components, &g);
	assert_true(g.amount == 20);
	assert_true(g.least == 0);
	for (uint32_t i = 0; i < 5; i++) {
		for (uint32_t w = 0; w < 19; w++)
			assert_true(vectors_close(
				g.places[i * 19 + w].vote, plain_vote(&calm, t, i, w, &params)));
	}
	vector_group_release(&g);
	lp_table_free(t);
}

/* An observer without functions has no vectors. */
static void test_strangers(void **state)
{
	static const char *const others[] = {"oss1/functions:all", "oss/functions:all",
		"oss10/functions:all", "oss1/disk:sda", "oss4/functions:all"};
	struct lp_table *t = profile_make(&calm);
	struct vector_group g;

	(void)state;
	group_compare(t, others, &g);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(isnan(g.places[i * 19].vote), i != 0 && i != 4);
	vector_group_release(&g);
	lp_table_free(t);
}

/* Weights multiply the differences; totals stay what was measured. */
static void test_weights(void **state)
{
	struct lp_table *t = profile_make(&calm);
	struct function_weights w = {0};
	struct vector_group plain, g;

	(void)state;
	profile_change(&calm, t, 3, 7, 0, 1, 500);
	assert_int_equal(function_weights_add(&w, "widgets", "*", 0), 0);
	assert_int_equal(function_weights_add(&w, "widgets", "f7", 2), 0);
	group_compare(t, components, &plain);
	assert_int_equal(group_make(t, components, &params, &g), 0);
	assert_int_equal(vector_group_weigh(&g, &w), 0);
	assert_int_equal(vector_group_compare(&g, 0, 19), 0);
	for (uint32_t i = 0; i < 5 * 19; i++) {
		assert_true(g.places[i].own == plain.places[i].own);
		assert_true(g.places[i].peers == plain.places[i].peers);
	}
	for (uint32_t w3 = 0; w3 < 19; w3++) {
		const struct vector_place *p = &g.places[3 * 19 + w3];

		/* Only f7 is left: 500 more in each of 20 slots, twice. */
		assert_true(fabs(p->vote - 2 * 20 * 500) < 0.1 * 2 * 20 * 500);
		assert_true(p->vote == p->more);
	}
	function_weights_release(&w);
	vector_group_release(&plain);
	vector_group_release(&g);
	lp_table_free(t);
}

static double member_total(const struct vector_group *g, uint32_t member, uint32_t window)
{
	return g->places[(size_t)member * g->n_windows + window].own;
}

/* With all windows at hand, what counts in one of them counts in all. */
static void test_whole(void **state)
{
	static const uint32_t first[] = {0, 10, 20};
	struct profile p = calm;
	struct vector_group each, whole;
	struct lp_table *t;

	(void)state;
	p.metric = "samples";
	p.unit = "1/s";
	p.n_functions = 1;
	p.n_slots = 40;
	p.noise = 0;
	t = profile_make(&p);
	/* 1 a second is too little, 10 is enough; one server has that, later. */
	for (uint32_t i = 0; i < 5; i++)
		profile_change(&p, t, i, 0, 0, 0, 1);
	profile_change(&p, t, 2, 0, 20, 1, 9);
	assert_int_equal(group_make(t, components, &params, &each), 0);
	assert_int_equal(vector_group_compare(&each, 0, 3), 0);
	assert_true(member_total(&each, 0, 0) == 0 && member_total(&each, 0, 2) == 20);
	assert_int_equal(group_make(t, components, &params, &whole), 0);
	assert_int_equal(vector_group_select_whole(&whole, first, 3), 0);
	assert_int_equal(vector_group_compare(&whole, 0, 3), 0);
	assert_true(member_total(&whole, 0, 0) == 20 && member_total(&whole, 2, 2) == 200);
	vector_group_release(&each);
	vector_group_release(&whole);
	lp_table_free(t);
}

/* Calls count of functions that take time. */
static void test_selected(void **state)
{
	struct profile p = calm;
	struct lp_identity *members[5];
	struct lp_table *calls, *times;
	struct vector_group g;

	(void)state;
	p.metric = "fcalls";
	p.unit = "1/s";
	p.n_functions = 2;
	p.noise = 0;
	calls = profile_make(&p);
	p.metric = "ftime";
	p.unit = "ms/s";
	times = profile_make(&p);
	for (uint32_t i = 0; i < 5; i++) {
		profile_change(&p, calls, i, 0, 0, 0, 1000000); /* often, and for nothing */
		profile_change(&p, times, i, 0, 0, 0, 1);
		profile_change(&p, calls, i, 1, 0, 0, 3); /* rarely, and long */
		profile_change(&p, times, i, 1, 0, 0, 500);
	}
	identities_of(components, 5, members);
	assert_int_equal(vector_group_make(calls, members, 5, &params, &g), 0);
	assert_int_equal(vector_group_select_by(&g, times, members, &params), 0);
	assert_int_equal(vector_group_compare(&g, 0, 3), 0);
	assert_true(member_total(&g, 0, 0) == 60);
	assert_int_equal(vector_group_select_whole(&g, &(uint32_t){0}, 1), 0);
	assert_int_equal(vector_group_compare(&g, 0, 3), 0);
	assert_true(member_total(&g, 0, 2) == 60);
	vector_group_release(&g);
	lp_table_free(calls);
	lp_table_free(times);
}

/* A metric of the catalogue says what is too little to count. */
static void test_least(void **state)
{
	struct profile p = calm;
	struct lp_table *t;
	struct vector_group all, g;

	(void)state;
	p.metric = "samples";
	p.unit = "1/s";
	p.total = 100;
	t = profile_make(&p);
	group_compare(t, components, &g);
	assert_true(fabs(g.least - 20 * 100 / 60.0) < 1e-9);
	t->metric[0] = 'x';
	group_compare(t, components, &all);
	assert_true(all.least == 0);
	for (uint32_t i = 0; i < 5 * 19; i++)
		assert_true(g.places[i].own < all.places[i].own && g.places[i].own > 0);
	vector_group_release(&g);
	vector_group_release(&all);
	lp_table_free(t);
}

static void test_blame(void **state)
{
	struct lp_table *t = profile_make(&calm);
	struct vector_blame blame = {0};
	struct vector_culprit top[2];
	struct vector_group g;

	(void)state;
	profile_change(&calm, t, 3, 150, 100, 1, 500);
	group_compare(t, components, &g);
	for (uint32_t w = 10; w < 19; w++)
		assert_int_equal(vector_group_blame(&g, 3, w * params.win_shift, &blame), 0);
	assert_int_equal(vector_blame_top(&blame, &g.view.dimensions, top, 2), 2);
	assert_string_equal(g.view.dimensions.names[top[0].dimension], "f150");
	assert_true(fabs(top[0].distance - 9 * 20 * 500) < 200);
	assert_true(fabs(top[0].own - top[0].peer - 20 * 500) < 50);
	assert_true(top[1].distance < top[0].distance / 10);
	vector_blame_release(&blame);
	vector_group_release(&g);
	lp_table_free(t);
}

static void test_limit(void **state)
{
	static const double votes[] = {1.5, NAN, 3.2, 0.1}, whole[] = {3, 2, NAN}, none[] = {NAN},
			    nothing[] = {0, 0};

	(void)state;
	assert_true(vector_limit(votes, 4) == 4);
	assert_true(vector_limit(whole, 3) == 3);
	assert_true(vector_limit(nothing, 2) == 1);
	assert_true(isnan(vector_limit(none, 1)));
	assert_true(isnan(vector_limit(NULL, 0)));
}

/* As the paper trains: the smallest whole number with which the server is anomalous in no window of
 * any run, found by trying, times 2. */
static double plain_threshold(struct lp_table *const *runs, uint32_t n, uint32_t member)
{
	double threshold = 1;

	for (uint32_t r = 0; r < n; r++) {
		for (uint32_t w = 0; w < 19; w++) {
			double vote = plain_vote(&calm, runs[r], member, w, &params);

			while (vote > threshold)
				threshold++;
		}
	}
	return 2 * threshold;
}

static struct lp_table *table_copy(const struct lp_table *t)
{
	struct lp_table *c = calloc(1, sizeof(*c));

	*c = *t;
	c->metric = strdup(t->metric);
	c->unit = strdup(t->unit);
	c->components = calloc(t->n_components, sizeof(struct lp_identity *));
	c->values = calloc((size_t)t->n_components * t->n_slots, sizeof(double));
	for (uint32_t i = 0; i < t->n_components; i++)
		c->components[i] = lp_identity_ref(t->components[i]);
	memcpy(c->values, t->values, (size_t)t->n_components * t->n_slots * sizeof(double));
	return c;
}

static struct thresholds *thresholds_of(struct lp_table *const *runs, uint32_t n)
{
	struct detect_options opt = profile_options(20);
	struct train_result result = {0};
	struct thresholds *kept, *again;
	struct trainer *trainer;
	struct lp_err err = {0};
	char *text;

	opt.measure = measure_find("cdf");
	opt.params = params;
	assert_int_equal(trainer_new(&opt, &trainer, &err), 0);
	for (uint32_t i = 0; i < n; i++) {
		struct lp_table **tables = calloc(1, sizeof(struct lp_table *));

		tables[0] = table_copy(runs[i]);
		assert_int_equal(trainer_add(trainer, tables, 1, &err), 0);
	}
	assert_int_equal(trainer_finish(trainer, &result, &err), 0);
	kept = result.thresholds;
	/* Through the file and back. */
	text = thresholds_text(kept);
	assert_int_equal(thresholds_parse(text, strlen(text), "t", &again, &err), 0);
	free(text);
	train_result_release(&result);
	trainer_free(trainer);
	return again;
}

static uint32_t n_findings(struct lp_table *t, const struct thresholds *trained, char *ret)
{
	struct detect_options opt = profile_options(20);
	struct lp_verdict *v;
	uint32_t n;

	opt.trained = trained;
	v = profile_run(t, &opt);
	n = v->n_findings;
	if (n && ret)
		snprintf(ret, 32, "%s", profile_accused(v, 0));
	lp_verdict_free(v);
	return n;
}

static void test_training(void **state)
{
	struct lp_table *runs[3], *bad = profile_make(&calm);
	struct thresholds *trained;
	char accused[32];
	double value;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		runs[i] = profile_make(&calm);
	trained = thresholds_of(runs, 3);
	for (uint32_t i = 0; i < 5; i++) {
		assert_true(thresholds_get(trained, "widgets", identity_of(components[i]), &value));
		assert_true(value == plain_threshold(runs, 3, i));
	}
	/* A missing server gets the threshold that the others need. */
	assert_true(thresholds_get(trained, "widgets", identity_of("oss9/functions:all"), &value));
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(n_findings(runs[i], trained, NULL), 0);
	/* Too little for a group that has to determine by itself what is usual. */
	profile_change(&calm, bad, 2, 60, 100, 1, 110);
	assert_int_equal(n_findings(table_copy(bad), NULL, NULL), 0);
	assert_int_equal(n_findings(bad, trained, accused), 1);
	assert_string_equal(accused, "oss2/functions:all");
	thresholds_free(trained);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_votes),
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_selected),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_blame),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_training),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
