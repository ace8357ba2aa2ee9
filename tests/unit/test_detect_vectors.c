#include "detect/compare/vectors.h"

#include "openmp.h"
#include "vectors.h"
#include <omp.h>
#include <stdio.h>

#define MEMBERS_MAX 12

struct group {
	uint32_t n, n_dimensions;
	double *plain[MEMBERS_MAX];
	struct vector vectors[MEMBERS_MAX];
	const struct vector *members[MEMBERS_MAX];
	char names[MEMBERS_MAX][8];
	const char *name_of[MEMBERS_MAX];
	struct vector_window w;
};

static void group_make(struct group *g, uint32_t n, uint32_t n_dimensions)
{
	*g = (struct group){.n = n, .n_dimensions = n_dimensions};
	for (uint32_t i = 0; i < n; i++) {
		g->plain[i] = calloc(n_dimensions, sizeof(double));
		assert_non_null(g->plain[i]);
		g->members[i] = &g->vectors[i];
		snprintf(g->names[i], sizeof(g->names[i]), "oss%u", i);
		g->name_of[i] = g->names[i];
	}
	g->w = (struct vector_window){g->members, g->name_of, n};
}

static void group_random(struct group *g)
{
	group_make(g, 1 + vectors_below(MEMBERS_MAX), 1 + vectors_below(80));
	for (uint32_t i = 0; i < g->n; i++) {
		vectors_random(&g->vectors[i], g->plain[i], g->n_dimensions,
			vectors_below(g->n_dimensions + 1));
		if (!vectors_below(6))
			g->members[i] = NULL;
	}
}

static void group_release(struct group *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		free(g->plain[i]);
		vector_release(&g->vectors[i]);
	}
}

static double plain_total(const struct group *g, uint32_t member)
{
	long double sum = 0;

	for (uint32_t d = 0; d < g->n_dimensions; d++)
		sum += g->plain[member][d];
	return (double)sum;
}

/* Sorts. */
static double plain_median(double *v, uint32_t n)
{
	qsort(v, n, sizeof(*v), vectors_ascending);
	return n ? (v[(n - 1) / 2] + v[n / 2]) / 2 : NAN;
}

static void check_member(const struct group *g, uint32_t m, const struct vector_place *p)
{
	double distances[MEMBERS_MAX], totals[MEMBERS_MAX], vote;
	uint32_t n = 0;

	for (uint32_t o = 0; o < g->n; o++) {
		if (o == m || !g->members[o])
			continue;
		distances[n] = vectors_distance(g->plain[m], g->plain[o], g->n_dimensions);
		totals[n++] = plain_total(g, o);
	}
	vote = g->members[m] ? vectors_vote(distances, n) : NAN;
	assert_true(vectors_close(p->vote, vote));
	assert_true(vectors_close(p->peers, plain_median(totals, n)));
	assert_true(vectors_close(p->own, g->members[m] ? plain_total(g, m) : NAN));
	if (isnan(vote)) {
		assert_true(p->peer == VECTOR_NOBODY);
		return;
	}
	assert_true(p->peer < g->n && p->peer != m && g->members[p->peer]);
	assert_true(vectors_close(
		vectors_distance(g->plain[m], g->plain[p->peer], g->n_dimensions), vote));
	/* More and less together are the distance, and their difference is that of the totals. */
	assert_true(p->more >= 0 && p->more <= p->vote);
	assert_true(fabs((2 * p->more - p->vote) - (plain_total(g, m) - plain_total(g, p->peer))) <=
		1e-9 * fmax(1, plain_total(g, m) + plain_total(g, p->peer)));
}

static void test_oracle(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct vector_place places[MEMBERS_MAX];
		struct group g;

		group_random(&g);
		assert_int_equal(vectors_compare_window(&g.w, places), 0);
		for (uint32_t m = 0; m < g.n; m++)
			check_member(&g, m, &places[m]);
		group_release(&g);
	}
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void check_same(const struct vector_place *a, const struct vector_place *b)
{
	assert_true(same(a->vote, b->vote) && a->more == b->more);
	assert_true(same(a->own, b->own) && same(a->peers, b->peers));
}

/* Who stands where in the group, and how many threads there are, shows nowhere. */
static void test_order_and_threads(void **state)
{
	int threads = omp_get_max_threads();

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct vector_place places[MEMBERS_MAX], turned[MEMBERS_MAX];
		const struct vector *members[MEMBERS_MAX];
		const char *names[MEMBERS_MAX];
		struct group g;
		struct vector_window w;

		group_random(&g);
		w = (struct vector_window){members, names, g.n};
		for (uint32_t m = 0; m < g.n; m++) {
			/* Many are alike, so that names must decide. */
			if (g.members[m] && vectors_below(2))
				g.members[m] = &g.vectors[0];
			members[g.n - 1 - m] = g.members[m];
			names[g.n - 1 - m] = g.name_of[m];
		}
		omp_set_num_threads(1);
		assert_int_equal(vectors_compare_window(&g.w, places), 0);
		omp_set_num_threads(3);
		assert_int_equal(vectors_compare_window(&w, turned), 0);
		for (uint32_t m = 0; m < g.n; m++) {
			uint32_t peer = turned[g.n - 1 - m].peer;

			check_same(&places[m], &turned[g.n - 1 - m]);
			assert_int_equal(
				places[m].peer, peer == VECTOR_NOBODY ? peer : g.n - 1 - peer);
		}
		group_release(&g);
	}
	omp_set_num_threads(threads);
}

/* By hand: three alike and one that moved 10 from one function to another and has 4 more. */
static void test_by_hand(void **state)
{
	static const double usual[] = {100, 50, 0, 7}, other[] = {90, 50, 10, 11};
	struct vector_place places[4];
	struct group g;

	(void)state;
	group_make(&g, 4, 4);
	for (uint32_t i = 0; i < 4; i++)
		vectors_of(&g.vectors[i], i == 2 ? other : usual, 4);
	assert_int_equal(vectors_compare_window(&g.w, places), 0);
	assert_true(places[0].vote == 0 && places[1].vote == 0 && places[3].vote == 0);
	assert_true(places[2].vote == 24 && places[2].more == 14);
	assert_int_equal(places[2].peer, 0);
	assert_true(places[2].own == 161 && places[2].peers == 157);
	group_release(&g);
}

/* One member alone, and none at all. */
static void test_few(void **state)
{
	struct vector_place places[3];
	struct group g;
	double plain[5];

	(void)state;
	group_make(&g, 3, 5);
	vectors_random(&g.vectors[1], plain, 5, 5);
	g.members[0] = g.members[2] = NULL;
	assert_int_equal(vectors_compare_window(&g.w, places), 0);
	assert_true(isnan(places[1].vote) && isnan(places[1].peers) && places[1].own > 0);
	assert_true(isnan(places[0].own) && places[0].peers == places[1].own);
	g.members[1] = NULL;
	assert_int_equal(vectors_compare_window(&g.w, places), 0);
	assert_true(isnan(places[1].own) && isnan(places[1].peers));
	/* Vectors of zeros are data. */
	vector_clear(&g.vectors[0]);
	vector_clear(&g.vectors[1]);
	g.members[0] = &g.vectors[0];
	g.members[1] = &g.vectors[1];
	assert_int_equal(vectors_compare_window(&g.w, places), 0);
	assert_true(places[0].vote == 0 && places[0].own == 0 && places[0].peers == 0);
	group_release(&g);
}

static void test_reduce(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		double least = vectors_value();
		struct vector *vectors[MEMBERS_MAX];
		struct group g;

		group_random(&g);
		for (uint32_t m = 0; m < g.n; m++)
			vectors[m] = g.members[m] ? &g.vectors[m] : NULL;
		for (uint32_t d = 0; d < g.n_dimensions; d++) {
			bool keep = false;

			for (uint32_t m = 0; m < g.n; m++)
				keep |= vectors[m] && g.plain[m][d] >= least;
			for (uint32_t m = 0; m < g.n; m++)
				g.plain[m][d] *= keep;
		}
		assert_int_equal(vectors_reduce(vectors, g.n, least), 0);
		for (uint32_t m = 0; m < g.n; m++) {
			if (vectors[m])
				vectors_check(vectors[m], g.plain[m], g.n_dimensions);
		}
		group_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_order_and_threads),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_reduce),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
