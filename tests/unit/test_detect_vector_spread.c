/* Vectors by the spread of each function: which members differ, and in which functions. */
#include "detect/compare/vector_spread.h"

#include "detect/compare/votes.h"
#include "identity_rig.h"
#include "openmp.h"
#include "profile_rig.h"

/* A minute of ten calls per second is the floor; these have many times that. */
static const struct profile calls = {.metric = "fcalls",
	.unit = "1/s",
	.n_observers = 5,
	.n_functions = 100,
	.n_slots = 60,
	.step_us = 1000000,
	.total = 50000,
	.noise = 0.1};

static const struct lp_params params = {
	.smooth = 1, .win_size = 30, .win_shift = 15, .k = 3, .step_us = 1000000};

static const char *const components[] = {"oss0/functions:all", "oss1/functions:all",
	"oss2/functions:all", "oss3/functions:all", "oss4/functions:all"};

static void group_make(const struct lp_table *t, struct vector_group *ret)
{
	struct lp_identity *members[5];

	identities_of(components, 5, members);
	assert_int_equal(vector_group_make(t, members, 5, &params, ret), 0);
	assert_int_equal(vector_group_by_spread(ret), 0);
}

static void group_compare(const struct lp_table *t, struct vector_group *ret)
{
	group_make(t, ret);
	assert_int_equal(vector_group_compare(ret, 0, 3), 0);
}

static const struct vector_place *place(const struct vector_group *g, uint32_t member, uint32_t w)
{
	return &g->places[member * 3 + w];
}

/* Only `member` differs. */
static void assert_alone(const struct vector_group *g, uint32_t member)
{
	for (uint32_t i = 0; i < 5; i++) {
		for (uint32_t w = 0; w < 3; w++) {
			if (i == member)
				assert_true(place(g, i, w)->vote >= VECTOR_SPREAD_LEAST);
			else
				assert_true(place(g, i, w)->vote == 0);
		}
	}
}

static void rename_function(
	const struct profile *p, struct lp_table *t, uint32_t function, const char *name)
{
	for (uint32_t i = 0; i < p->n_observers; i++) {
		struct lp_identity **c = &t->components[function * p->n_observers + i];

		free(*c);
		*c = identity_printf("oss%u/function:%s", i, name);
	}
}

/* All are functions of one program. */
static struct lp_table *program_make(const struct profile *p)
{
	struct lp_table *t = profile_make(p);

	for (uint32_t f = 0; f < p->n_functions; f++) {
		char name[32];

		snprintf(name, sizeof(name), "server:server:f%u", f);
		rename_function(p, t, f, name);
	}
	return t;
}

static void test_alike(void **state)
{
	struct lp_table *t = program_make(&calls);
	struct vector_group g;

	(void)state;
	group_compare(t, &g);
	assert_alone(&g, 5);
	assert_true(place(&g, 0, 0)->own > 0 && place(&g, 0, 0)->peers > 0);
	vector_group_release(&g);
	lp_table_free(t);
}

/* Time in one function of many, which is a small part of all. */
static void test_one_function(void **state)
{
	struct profile p = calls;
	struct lp_table *t;
	struct vector_group g;
	struct vector_blame blame = {0};
	struct vector_culprit top[3];

	(void)state;
	p.metric = "ftime";
	p.unit = "ms/s";
	t = profile_make(&p);
	profile_change(&p, t, 3, 40, 0, 2, 0);
	group_compare(t, &g);
	assert_alone(&g, 3);
	assert_true(place(&g, 3, 2)->more == place(&g, 3, 2)->vote);
	assert_true(place(&g, 3, 2)->apart < 0.05 * place(&g, 3, 2)->peers);
	assert_int_equal(vector_group_blame(&g, 3, 30, &blame), 0);
	assert_int_equal(vector_blame_top(&blame, &g.view.dimensions, top, 3), 1);
	assert_string_equal(g.view.dimensions.names[top[0].dimension], "f40");
	assert_true(top[0].own > 1.6 * top[0].peer && top[0].own < 2.4 * top[0].peer);
	vector_blame_release(&blame);
	vector_group_release(&g);
	lp_table_free(t);
}

/* Less than a fifth is nothing, however exact it is; and less than the floor. */
static void test_small(void **state)
{
	struct profile p = calls;
	struct lp_table *t;
	struct vector_group g;

	(void)state;
	p.metric = "ftime";
	p.unit = "ms/s";
	p.total = 20000;
	p.noise = 0;
	t = profile_make(&p);
	profile_change(&p, t, 3, 0, 0, 1.19, 0);
	profile_change(&p, t, 2, 99, 0, 1, 15); /* all have some 40 ms/s */
	group_compare(t, &g);
	assert_alone(&g, 5);
	profile_change(&p, t, 3, 0, 0, 1.21 / 1.19, 0);
	vector_group_release(&g);
	group_compare(t, &g);
	assert_alone(&g, 3);
	vector_group_release(&g);
	lp_table_free(t);
}

/* More of all calls is more load. What is called differently counts where it is a tenth of all. */
static void test_load(void **state)
{
	struct lp_table *t = program_make(&calls);
	struct vector_group g;

	(void)state;
	for (uint32_t f = 0; f < calls.n_functions; f++)
		profile_change(&calls, t, 1, f, 0, 3, 0);
	profile_change(&calls, t, 2, 30, 0, 2, 0);
	group_compare(t, &g);
	assert_alone(&g, 5);
	vector_group_release(&g);
	profile_change(&calls, t, 2, 0, 0, 2, 0); /* a fifth of all calls */
	group_compare(t, &g);
	assert_alone(&g, 2);
	vector_group_release(&g);
	lp_table_free(t);
}

/* Of retransmissions a few per second count, and nothing else has to differ. */
static void test_trouble(void **state)
{
	static const char *const names[] = {
		"kernel:tracepoints:tcp_retransmit_skb", "kernel:tracepoints:sched_switch"};
	struct vector_group g;

	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		struct lp_table *t = program_make(&calls);

		rename_function(&calls, t, 99, names[k]);
		for (uint32_t i = 0; i < 5; i++)
			profile_change(&calls, t, i, 99, 0, 0, 0.02);
		profile_change(&calls, t, 4, 99, 0, 1, 2);
		group_compare(t, &g);
		assert_alone(&g, k == 0 ? 4 : 5);
		vector_group_release(&g);
		lp_table_free(t);
	}
}

/* Many functions of an image that are a few samples each are many together. */
static void test_images(void **state)
{
	struct profile p = calls;
	struct lp_table *t;
	struct vector_group g;
	struct vector_blame blame = {0};
	struct vector_culprit top[3];

	(void)state;
	p.metric = "samples";
	p.total = 60;
	p.noise = -1;
	t = profile_make(&p);
	for (uint32_t f = 60; f < 100; f++) {
		char name[32];

		snprintf(name, sizeof(name), "server:kernel:f%u", f);
		rename_function(&p, t, f, name);
		profile_change(&p, t, 2, f, 0, 1, 0.5);
	}
	group_compare(t, &g);
	assert_alone(&g, 2);
	assert_int_equal(vector_group_blame(&g, 2, 0, &blame), 0);
	assert_int_equal(vector_blame_top(&blame, &g.view.dimensions, top, 3), 1);
	assert_string_equal(g.view.dimensions.names[top[0].dimension], "server:kernel:*");
	/* Sums do not count as additional samples. */
	assert_true(place(&g, 0, 0)->own < 1.5 * 60 * 30);
	vector_blame_release(&blame);
	vector_group_release(&g);
	lp_table_free(t);
}

/* A member without data has no vote; and votes do not depend on the order of the rows. */
static void test_missing_and_order(void **state)
{
	struct lp_table *t = profile_make(&calls);
	struct vector_group g, turned;
	uint32_t n = t->n_components;

	(void)state;
	profile_change(&calls, t, 2, 0, 0, 2, 0);
	profile_lose(&calls, t, 1, 0, 60);
	group_compare(t, &g);
	assert_true(isnan(place(&g, 1, 0)->vote) && isnan(place(&g, 1, 0)->own));
	assert_true(place(&g, 2, 0)->vote >= VECTOR_SPREAD_LEAST);
	for (uint32_t i = 0; i < n / 2; i++) {
		struct lp_identity *c = t->components[i];

		t->components[i] = t->components[n - 1 - i];
		t->components[n - 1 - i] = c;
		for (uint32_t s = 0; s < t->n_slots; s++) {
			double value = profile_row(t, i)[s];

			profile_row(t, i)[s] = profile_row(t, n - 1 - i)[s];
			profile_row(t, n - 1 - i)[s] = value;
		}
	}
	group_compare(t, &turned);
	for (uint32_t w = 0; w < 3; w++)
		assert_true(place(&g, 2, w)->vote == place(&turned, 2, w)->vote &&
			place(&g, 2, w)->own == place(&turned, 2, w)->own);
	vector_group_release(&g);
	vector_group_release(&turned);
	lp_table_free(t);
}

/* A metric without a known floor is compared by distances only. */
static void test_unknown(void **state)
{
	struct profile p = calls;
	struct lp_table *t;
	struct vector_group g;

	(void)state;
	p.metric = "widgets";
	t = profile_make(&p);
	group_make(t, &g);
	assert_false(g.by_spread);
	vector_group_release(&g);
	lp_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_one_function),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_trouble),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_missing_and_order),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
