/* Every measure against its plain definition, on data of many shapes. */
#include "unit.h"

#include "detect/compare/measure.h"
#include "oracle.h"

struct fixture {
	struct oracle_case c;
	struct measure_scratch *scratch;
	double *votes, *expected, *plain;
};

static void make(struct fixture *f, enum oracle_shape shape, uint32_t n_members, uint32_t n_samples,
	double missing)
{
	oracle_case_make(&f->c, shape, n_members, n_samples, missing);
	f->scratch = measure_scratch_new();
	f->votes = calloc(n_members, sizeof(double));
	f->expected = calloc(n_members, sizeof(double));
	f->plain = calloc(n_members, sizeof(double));
	assert_true(f->scratch && f->votes && f->expected && f->plain);
}

static void release(struct fixture *f)
{
	oracle_case_free(&f->c);
	measure_scratch_free(f->scratch);
	free(f->votes);
	free(f->expected);
	free(f->plain);
}

static void random_case(struct fixture *f, uint32_t members_max)
{
	static const double missing[] = {0, 0, 0.02, 0.3, 0.48};

	make(f, (enum oracle_shape)oracle_below(N_SHAPES), 1 + oracle_below(members_max),
		4 + oracle_below(125), missing[oracle_below(5)]);
}

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || a == b;
}

static bool close_to(double a, double b)
{
	return same(a, b) || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) + 1e-12;
}

static void votes_by(struct fixture *f, const char *name)
{
	const struct measure *m = measure_find(name);

	assert_non_null(m);
	assert_int_equal(m->votes(&f->c.w, NULL, 0, f->scratch, f->votes), 0);
}

static void test_table(void **state)
{
	(void)state;
	for (const struct measure *const *m = measures; *m; m++) {
		assert_ptr_equal(measure_find((*m)->name), *m);
		assert_true((*m)->help && (*m)->help[0]);
		assert_true((*m)->defaults.win_size && (*m)->defaults.win_shift);
		assert_true((*m)->defaults.smooth && (*m)->defaults.k);
		assert_int_equal((*m)->defaults.step_us, 0);
	}
	assert_null(measure_find("no such measure"));
	assert_null(measure_find(""));
}

static void test_cdf(void **state)
{
	(void)state;
	for (int i = 0; i < 600; i++) {
		struct fixture f;

		random_case(&f, i % 100 == 0 ? 300 : 40);
		votes_by(&f, "cdf");
		oracle_pairwise(&f.c.w, true, f.expected, f.plain);
		for (uint32_t m = 0; m < f.c.w.n_members; m++) {
			assert_true(same(f.votes[m], f.expected[m]));
			assert_true(close_to(f.votes[m], f.plain[m]));
		}
		release(&f);
	}
}

static void test_kl(void **state)
{
	(void)state;
	for (int i = 0; i < 600; i++) {
		struct fixture f;

		random_case(&f, i % 100 == 0 ? 300 : 40);
		votes_by(&f, "kl");
		oracle_pairwise(&f.c.w, false, f.expected, NULL);
		for (uint32_t m = 0; m < f.c.w.n_members; m++)
			assert_true(close_to(f.votes[m], f.expected[m]));
		release(&f);
	}
}

static void test_median(void **state)
{
	(void)state;
	for (int i = 0; i < 600; i++) {
		struct fixture f;

		random_case(&f, 40);
		votes_by(&f, "median");
		oracle_median(&f.c.w, f.expected);
		for (uint32_t m = 0; m < f.c.w.n_members; m++)
			assert_true(close_to(f.votes[m], f.expected[m]));
		release(&f);
	}
}

/* A difference of two sums is as exact as these are. */
static double largest(const struct fixture *f)
{
	double max = 0;

	for (uint32_t m = 0; m < f->c.w.n_members; m++) {
		for (uint32_t i = 0; f->c.rows[m] && i < f->c.w.n_samples; i++) {
			if (oracle_value(f->c.rows[m][i]))
				max = fmax(max, fabs(f->c.rows[m][i]));
		}
	}
	return max * f->c.w.n_samples;
}

static void test_manhattan(void **state)
{
	(void)state;
	for (int i = 0; i < 600; i++) {
		struct fixture f;

		random_case(&f, i % 100 == 0 ? 300 : 40);
		votes_by(&f, "manhattan");
		oracle_manhattan(&f.c.w, f.expected);
		for (uint32_t m = 0; m < f.c.w.n_members; m++)
			assert_true(close_to(f.votes[m], f.expected[m]) ||
				fabs(f.votes[m] - f.expected[m]) <= 1e-12 * largest(&f));
		release(&f);
	}
}

static void test_thresh(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		struct fixture f;

		random_case(&f, 40);
		votes_by(&f, "thresh");
		oracle_thresh(&f.c.w, f.expected);
		for (uint32_t m = 0; m < f.c.w.n_members; m++)
			assert_true(same(f.votes[m], f.expected[m]));
		release(&f);
	}
}

/* Votes of some members are those that they have among all. */
static void test_members(void **state)
{
	(void)state;
	for (const struct measure *const *m = measures; *m; m++) {
		for (int i = 0; i < 30; i++) {
			uint32_t chosen[8];
			double votes[8];
			struct fixture f;

			random_case(&f, 40);
			votes_by(&f, (*m)->name);
			for (unsigned k = 0; k < 8; k++)
				chosen[k] = oracle_below(f.c.w.n_members);
			assert_int_equal((*m)->votes(&f.c.w, chosen, 8, f.scratch, votes), 0);
			for (unsigned k = 0; k < 8; k++)
				assert_true(same(votes[k], f.votes[chosen[k]]));
			release(&f);
		}
	}
}

/* One threshold for each member: random, or exactly a vote, or next to one. */
static void choose_thresholds(const double *votes, uint32_t n, double *ret)
{
	double scale = oracle_uniform() * 3;

	for (uint32_t m = 0; m < n; m++) {
		double vote = votes[oracle_below(n)];

		switch (oracle_below(6)) {
		case 0:
			ret[m] = votes[m];
			break;
		case 1:
			ret[m] = nextafter(votes[m], -INFINITY);
			break;
		case 2:
			ret[m] = oracle_below(4) ? 0 : oracle_below(2) ? INFINITY : NAN;
			break;
		case 3:
			ret[m] = oracle_uniform() * 100;
			break;
		default:
			ret[m] = vote * scale;
		}
	}
}

/* The results are those of the plain votes, and members that exceed have their exact votes. */
static void check_exceed(struct fixture *f, const struct measure *m)
{
	uint32_t n = f->c.w.n_members;
	double *thresholds = calloc(n, sizeof(*thresholds));

	votes_by(f, m->name);
	memcpy(f->expected, f->votes, n * sizeof(*f->votes));
	choose_thresholds(f->expected, n, thresholds);
	assert_int_equal(m->exceed(&f->c.w, thresholds, f->scratch, f->votes), 0);
	for (uint32_t i = 0; i < n; i++) {
		bool exceeds = f->expected[i] > thresholds[i];

		assert_int_equal(isnan(f->votes[i]), isnan(f->expected[i]));
		assert_int_equal(f->votes[i] > thresholds[i], exceeds);
		assert_true(!exceeds || f->votes[i] == f->expected[i]);
	}
	free(thresholds);
}

static void test_exceed(void **state)
{
	(void)state;
	for (const struct measure *const *m = measures; *m; m++) {
		for (int i = 0; (*m)->exceed && i < 3000; i++) {
			struct fixture f;

			random_case(&f, i % 100 == 0 ? 1000 : 40);
			check_exceed(&f, *m);
			release(&f);
		}
	}
}

/* The same case, changed: value v of member m becomes v * scale + add, member m another one. */
static void change(const struct fixture *f, double scale, double add, const uint32_t *order,
	struct fixture *ret)
{
	uint32_t n = f->c.w.n_members, n_samples = f->c.w.n_samples;

	make(ret, SHAPE_ZERO, n, n_samples, 0);
	ret->c.w.n_with_data = f->c.w.n_with_data;
	for (uint32_t m = 0; m < n; m++) {
		double *row = ret->c.block + (size_t)order[m] * n_samples;

		ret->c.rows[order[m]] = f->c.rows[m] ? row : NULL;
		for (uint32_t i = 0; f->c.rows[m] && i < n_samples; i++)
			row[i] = f->c.rows[m][i] * scale + add;
	}
}

static void shuffled(uint32_t *order, uint32_t n, bool shuffle)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n; shuffle && i > 1; i--) {
		uint32_t k = oracle_below(i), kept = order[i - 1];

		order[i - 1] = order[k];
		order[k] = kept;
	}
}

/* Votes of the changed case are `factor` times those of the case. */
static void check_changed(
	const char *name, const struct fixture *f, double scale, double add, double factor)
{
	uint32_t n = f->c.w.n_members, order[64];
	struct fixture g, h = *f;

	shuffled(order, n, scale == 1 && add == 0);
	change(f, scale, add, order, &g);
	votes_by(&h, name);
	votes_by(&g, name);
	for (uint32_t m = 0; m < n; m++)
		assert_true(same(g.votes[order[m]], f->votes[m] * factor));
	release(&g);
}

/* Values that are small integers, or missing: sums and products with powers of two are exact. */
static void round_values(struct fixture *f)
{
	uint32_t n = f->c.w.n_members * f->c.w.n_samples;

	for (uint32_t i = 0; i < n; i++)
		f->c.block[i] = f->c.block[i] > 1e6 ? 1e6 : floor(f->c.block[i] * 64);
}

static void test_properties(void **state)
{
	(void)state;
	for (const struct measure *const *m = measures; *m; m++) {
		for (int i = 0; i < 100; i++) {
			struct fixture f;
			bool scales = !strcmp((*m)->name, "cdf") || !strcmp((*m)->name, "kl");
			/* Sums of many samples, of which some are missing, are rounded. */
			bool adds = strcmp((*m)->name, "thresh") != 0 &&
				strcmp((*m)->name, "manhattan") != 0;

			random_case(&f, 40);
			check_changed((*m)->name, &f, 1, 0, 1); /* permuted */
			round_values(&f);
			check_changed((*m)->name, &f, 0.25, 0, scales ? 1 : 0.25);
			if (adds)
				check_changed((*m)->name, &f, 1, 4096, 1);
			release(&f);
		}
	}
}

/* Two that are alike and one that is not: only that one is far from more than half. */
static void test_three(void **state)
{
	static const double usual[] = {1, 2, 3, 4}, other[] = {11, 12, 13, 14};
	const double *rows[] = {usual, other, usual};
	struct window w = {rows, 3, 4, 3};
	struct measure_scratch *s = measure_scratch_new();
	double votes[3];

	(void)state;
	assert_int_equal(measure_find("cdf")->votes(&w, NULL, 0, s, votes), 0);
	/* x is 1 1 2 2 3 3 4 4 11 .. 14, its median 3.5, deviations from that 0.5 (4 of them), 1.5
	 * (2), 2.5 (2), 7.5 .. 10.5: MAD 2. BinSize is 4 * 4^(-1/3) = 2.52, so that 1 .. 3 are in
	 * bin 0, 4 in 1, 11 in 3, 12 and 13 in 4 and 14 in 5. */
	assert_true(votes[0] == 0 && votes[2] == 0);
	assert_true(votes[1] == (3 + 4 + 4 + 4) / 4.0);
	measure_scratch_free(s);
}

/* A single member has no distance. */
static void test_alone(void **state)
{
	static const double values[] = {1, 2, 3, 4};
	const double *rows[] = {NULL, values, NULL};
	struct window w = {rows, 3, 4, 1};
	struct measure_scratch *s = measure_scratch_new();

	(void)state;
	for (const struct measure *const *m = measures; *m; m++) {
		double votes[3];
		bool thresh = !strcmp((*m)->name, "thresh");

		assert_int_equal((*m)->votes(&w, NULL, 0, s, votes), 0);
		assert_true(isnan(votes[0]) && isnan(votes[2]));
		assert_true(thresh ? votes[1] == 4 : isnan(votes[1]));
	}
	measure_scratch_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_cdf),
		cmocka_unit_test(test_kl),
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_manhattan),
		cmocka_unit_test(test_thresh),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_exceed),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_three),
		cmocka_unit_test(test_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
