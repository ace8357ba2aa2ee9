/* Pruning: bounds hold, and votes by dominance are those of all distances. */
#include "unit.h"

#include "detect/compare/dominance.h"
#include "detect/compare/measure.h"
#include "detect/compare/profile.h"
#include "oracle.h"
#include <errno.h>

static void fill(struct oracle_case *c, struct measure_scratch *s, struct profiles *p,
	double *bounds, double missing)
{
	oracle_case_make(c, (enum oracle_shape)oracle_below(N_SHAPES), 2 + oracle_below(300),
		4 + oracle_below(80), missing);
	assert_int_equal(profiles_fill(&c->w, s, p), 0);
	assert_int_equal(p->n, c->w.n_with_data);
	assert_int_equal(prune_bounds(p, s, bounds), 0);
}

static void test_bounds(void **state)
{
	struct measure_scratch *s = measure_scratch_new();

	(void)state;
	for (int round = 0; round < 300; round++) {
		double bounds[302];
		uint64_t work[302];
		struct oracle_case c;
		struct profiles p;

		fill(&c, s, &p, bounds, round % 2 * 0.1);
		for (uint32_t i = 0; p.n > 1 && i < p.n; i++)
			assert_true(profiles_vote(&p, i, work) <= bounds[i]);
		oracle_case_free(&c);
	}
	measure_scratch_free(s);
}

static void test_votes(void **state)
{
	struct measure_scratch *s = measure_scratch_new();
	unsigned n_told = 0;

	(void)state;
	for (int round = 0; round < 600; round++) {
		double bounds[302];
		uint64_t work[302];
		struct oracle_case c;
		struct profiles p;
		struct dominance d;

		fill(&c, s, &p, bounds, round % 3 * 0.01);
		if (p.n < 2) {
			oracle_case_free(&c);
			continue;
		}
		assert_int_equal(dominance_make(&p, bounds, 1 + oracle_below(p.n), s, &d), 0);
		assert_int_equal(d.n_inner + d.n_outer + d.n_odd, p.n);
		for (uint32_t i = 0; i < p.n; i++) {
			double vote = dominance_vote(&d, &p, i, work);

			n_told += !isnan(vote);
			assert_true(isnan(vote) || vote == profiles_vote(&p, i, work));
		}
		oracle_case_free(&c);
	}
	assert_true(n_told > 1000);
	measure_scratch_free(s);
}

static void test_distances(void **state)
{
	struct measure_scratch *s = measure_scratch_new();

	(void)state;
	for (int round = 0; round < 100; round++) {
		struct oracle_case c;
		struct profiles p;

		oracle_case_make(&c, (enum oracle_shape)oracle_below(N_SHAPES), 3 + oracle_below(9),
			4 + oracle_below(80), round % 4 * 0.1);
		assert_int_equal(profiles_fill(&c.w, s, &p), 0);
		for (uint32_t i = 0; i < p.n; i++) {
			assert_true(profiles_distance(&p, i, i) == 0);
			for (uint32_t k = 0; k < p.n; k++) {
				double ik = profiles_distance(&p, i, k);

				assert_true(ik == profiles_distance(&p, k, i));
				for (uint32_t m = 0; m < p.n; m++)
					assert_true(ik <= (profiles_distance(&p, i, m) +
								  profiles_distance(&p, m, k)) *
							(1 + 1e-12));
			}
		}
		oracle_case_free(&c);
	}
	measure_scratch_free(s);
}

static void test_too_long(void **state)
{
	struct measure_scratch *s = measure_scratch_new();
	const double *rows[] = {NULL};
	struct window w = {rows, 1, PROFILE_SAMPLES_MAX + 1, 0};
	struct profiles p;

	(void)state;
	assert_int_equal(profiles_fill(&w, s, &p), -ERANGE);
	measure_scratch_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_votes),
		cmocka_unit_test(test_distances),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
