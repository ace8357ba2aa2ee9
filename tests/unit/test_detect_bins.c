#include "unit.h"

#include "detect/compare/measure.h"
#include "detect/compare/profile.h"
#include "oracle.h"

static void test_sturges(void **state)
{
	(void)state;
	assert_int_equal(bins_sturges(1), 1);
	assert_int_equal(bins_sturges(2), 2);
	assert_int_equal(bins_sturges(60), 7);
	assert_int_equal(bins_sturges(64), 7);
	assert_int_equal(bins_sturges(65), 8);
	assert_int_equal(bins_sturges(UINT32_MAX), 33);
}

static void freedman(const double *values, size_t n, uint32_t n_samples, bool robust,
	struct measure_scratch *scratch, struct bins *ret)
{
	struct window_values pool = {values, n, values[0], values[0]};

	for (size_t i = 0; i < n; i++) {
		pool.low = fmin(pool.low, values[i]);
		pool.high = fmax(pool.high, values[i]);
	}
	assert_int_equal(bins_freedman(&pool, n_samples, robust, scratch, ret), 0);
}

static void test_freedman(void **state)
{
	static const double eight[] = {1, 2, 3, 4, 5, 6, 7, 100}, same[] = {3, 3, 3},
			    most[] = {2, 2, 2, 2, 2, 2, 2, 502};
	struct measure_scratch *s = measure_scratch_new();
	struct bins b;

	(void)state;
	/* Quartiles 2.75 and 6.25, of 8 samples the cubic root is 2. */
	freedman(eight, 8, 8, false, s, &b);
	assert_true(b.low == 1 && b.size == 2 * 3.5 * pow(8, -1.0 / 3));
	assert_int_equal(b.n, 29);
	/* The median is 4.5, deviations from it 0.5, 0.5, 1.5, 1.5, 2.5, 2.5, 3.5, 95.5. */
	freedman(eight, 8, 8, true, s, &b);
	assert_true(b.size == 2 * 2 * pow(8, -1.0 / 3));
	/* No range, no bins; no spread, a thousand. */
	freedman(same, 3, 8, false, s, &b);
	assert_int_equal(b.n, 0);
	freedman(most, 8, 8, false, s, &b);
	assert_int_equal(b.n, BINS_MAX);
	assert_true(b.size == 0.5);
	assert_int_equal(bins_of(&b, 2), 0);
	assert_int_equal(bins_of(&b, 2.5), 1);
	assert_int_equal(bins_of(&b, 502), 999);
	measure_scratch_free(s);
}

/* Whatever comes, a bin is one of them. */
static void test_of(void **state)
{
	static const double odd[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, -5, 0, 10, 11};
	static const struct bins some = {0, 0.5, 20}, one = {0, 10, 1};

	(void)state;
	for (unsigned i = 0; i < 9; i++) {
		assert_true(bins_of(&some, odd[i]) < 20);
		assert_int_equal(bins_of(&one, odd[i]), 0);
	}
	assert_int_equal(bins_of(&some, 0.49), 0);
	assert_int_equal(bins_of(&some, 0.5), 1);
	assert_int_equal(bins_of(&some, 10), 19);
}

static void test_pool(void **state)
{
	static const double a[] = {NAN, 5, INFINITY}, b[] = {-3, NAN, 1e305};
	const double *rows[] = {a, NULL, b};
	struct window w = {rows, 3, 3, 2};
	struct measure_scratch *s = measure_scratch_new();
	struct window_values pool;

	(void)state;
	assert_int_equal(window_values_fill(&w, s, &pool), 0);
	assert_int_equal(pool.n, 2);
	assert_true(pool.low == -3 && pool.high == 5);
	assert_true(pool.values[0] == 5 && pool.values[1] == -3);
	w.n_members = 0;
	assert_int_equal(window_values_fill(&w, s, &pool), 0);
	assert_int_equal(pool.n, 0);
	assert_int_equal(bins_equal(&pool, 7).n, 0);
	measure_scratch_free(s);
}

static void test_scratch(void **state)
{
	struct measure_scratch *s = measure_scratch_new();
	char *first = scratch_get(s, SCRATCH_BINS, 100, 2);

	(void)state;
	assert_non_null(first);
	assert_int_equal((uintptr_t)first % 64, 0);
	assert_ptr_equal(scratch_get(s, SCRATCH_BINS, 10, 2), first);
	assert_non_null(scratch_get(s, SCRATCH_BINS, 0, 2));
	assert_null(scratch_get(s, SCRATCH_KEYS, SIZE_MAX / 4, 8));
	assert_null(scratch_get(s, SCRATCH_KEYS, SIZE_MAX, 1));
	assert_null(scratch_get(s, SCRATCH_KEYS, SIZE_MAX / 2, 1));
	assert_non_null(scratch_get(s, SCRATCH_KEYS, 1, 8));
	measure_scratch_free(s);
	measure_scratch_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sturges),
		cmocka_unit_test(test_freedman),
		cmocka_unit_test(test_of),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_scratch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
