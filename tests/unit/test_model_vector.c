#include "base/array.h"
#include "base/fixed_sum.h"
#include "vectors.h"

#include <stdio.h>

#define N 10000

static void test_dimensions(void **state)
{
	struct dimensions d = {0};
	char name[32];
	uint32_t id = 7;

	(void)state;
	assert_false(dimensions_find(&d, "f0", &id));
	for (uint32_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		assert_int_equal(dimensions_intern(&d, name, &id), 0);
		assert_int_equal(id, i);
	}
	assert_int_equal(dimensions_intern(&d, "f77", &id), 0);
	assert_int_equal(id, 77);
	assert_int_equal(d.n, N);
	assert_string_equal(d.names[77], "f77");
	assert_true(dimensions_find(&d, "f9999", &id));
	assert_int_equal(id, 9999);
	dimensions_release(&d);
	assert_int_equal(d.n, 0);
}

/* Added in any order, repeatedly, with what is no value between. */
static void test_add(void **state)
{
	static const struct {
		uint32_t dimension;
		double value;
	} added[] = {{9, 1}, {2, 5}, {9, 2}, {4, NAN}, {4, INFINITY}, {2, -5}, {0, 3}, {7, 0},
		{5, 1e301}, {1, -4}};
	static const double expected[10] = {3, -4, 0, 0, 0, 0, 0, 0, 0, 3};
	struct vector v = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(added); i++)
		assert_int_equal(vector_add(&v, added[i].dimension, added[i].value), 0);
	vector_finish(&v);
	vectors_check(&v, expected, 10);
	assert_true(vector_total(&v) == 2);
	assert_true(vector_get(&v, UINT32_MAX) == 0);
	vector_clear(&v);
	vector_finish(&v);
	assert_true(v.n == 0 && v.largest == 0 && vector_total(&v) == 0);
	vector_release(&v);
	assert_null(v.entries);
}

/* Added again after it was finished. */
static void test_add_again(void **state)
{
	static const double expected[4] = {0, 8, 0, 3};
	struct vector v = {0};

	(void)state;
	assert_int_equal(vector_add(&v, 3, 1), 0);
	assert_int_equal(vector_add(&v, 1, 8), 0);
	vector_finish(&v);
	assert_int_equal(vector_add(&v, 3, 2), 0);
	vector_finish(&v);
	vectors_check(&v, expected, 4);
	vector_release(&v);
}

/* Intervals become a window: the same as sums of arrays. */
static void test_merge(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		uint32_t n = 1 + vectors_below(i % 50 ? 100 : N);
		double *sum = calloc(n, sizeof(*sum)), *plain = calloc(n, sizeof(*plain));
		struct vector window = {0}, interval = {0};

		for (int k = 0; k < 6; k++) {
			vectors_random(&interval, plain, n, vectors_below(n + 1));
			assert_int_equal(vector_merge(&window, &interval), 0);
			for (uint32_t d = 0; d < n; d++)
				sum[d] += plain[d];
			vectors_check(&window, sum, n);
			vectors_check(&interval, plain, n);
		}
		vector_release(&window);
		vector_release(&interval);
		free(sum);
		free(plain);
	}
}

/* What cancels is gone. */
static void test_merge_cancels(void **state)
{
	static const double one[5] = {1, 0, -2, 3, 0}, two[5] = {-1, 4, 2, 1, 0},
			    sum[5] = {0, 4, 0, 4, 0}, half[5] = {0, 2, 0, 2, 0};
	struct vector a = {0}, b = {0};

	(void)state;
	vectors_of(&a, one, 5);
	vectors_of(&b, two, 5);
	assert_int_equal(vector_merge(&a, &b), 0);
	vectors_check(&a, sum, 5);
	vector_scale(&a, 0.5);
	vectors_check(&a, half, 5);
	vector_clear(&b);
	assert_int_equal(vector_merge(&a, &b), 0);
	vectors_check(&a, half, 5);
	vector_scale(&a, 0);
	assert_int_equal(a.n, 0);
	vector_release(&a);
	vector_release(&b);
}

/* Memory grows with what is not zero, however many dimensions there are. */
static void test_sparse(void **state)
{
	struct vector v = {0};

	(void)state;
	for (uint32_t i = 0; i < 1000000; i++)
		assert_int_equal(vector_add(&v, i, i % 250000 == 7 ? 1 : 0), 0);
	vector_finish(&v);
	assert_int_equal(v.n, 4);
	assert_true(v.cap <= 64);
	vector_release(&v);
}

static void check_distance(uint32_t n)
{
	double *p = calloc(n, sizeof(*p)), *q = calloc(n, sizeof(*q)), more, less, d;
	struct vector a = {0}, b = {0};

	vectors_random(&a, p, n, vectors_below(n + 1));
	vectors_random(&b, q, n, vectors_below(n + 1));
	d = vector_distance(&a, &b, &more);
	assert_true(vectors_close(d, vectors_distance(p, q, n)));
	assert_true(d == vector_distance(&b, &a, &less));
	assert_true(vectors_close(d, more + less));
	/* All that one has more than the other, less what it has less, is the difference. */
	assert_true(fabs((more - less) - (vector_total(&a) - vector_total(&b))) <= 1e-12 * d);
	assert_true(vector_distance(&a, &a, NULL) == 0);
	vector_release(&a);
	vector_release(&b);
	free(p);
	free(q);
}

static void test_distance(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		check_distance(1 + vectors_below(i % 100 ? 200 : N));
}

/* The triangle inequality, and what moves in both moves nothing. */
static void test_distance_properties(void **state)
{
	enum { DIMENSIONS = 60 };
	double p[3][DIMENSIONS];
	struct vector v[3] = {0};

	(void)state;
	for (int i = 0; i < 300; i++) {
		double d;

		for (int k = 0; k < 3; k++)
			vectors_random(&v[k], p[k], DIMENSIONS, vectors_below(DIMENSIONS));
		d = vector_distance(&v[0], &v[1], NULL);
		assert_true(d <= (vector_distance(&v[0], &v[2], NULL) +
					 vector_distance(&v[2], &v[1], NULL)) *
				(1 + 1e-12));
		vector_scale(&v[0], 0.25);
		vector_scale(&v[1], 0.25);
		assert_true(vector_distance(&v[0], &v[1], NULL) == d / 4);
	}
	for (int k = 0; k < 3; k++)
		vector_release(&v[k]);
}

/* Numbers of dimensions are given as names turn up; whichever came first, sums are the same to the
 * last bit, which sums of doubles are not. */
static void test_order_of_dimensions(void **state)
{
	uint32_t *order = calloc(N, sizeof(*order));
	struct vector a = {0}, b = {0}, c = {0}, d = {0};

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		order[i] = i;
	for (uint32_t i = N; i > 1; i--) {
		uint32_t k = vectors_below(i), kept = order[i - 1];

		order[i - 1] = order[k];
		order[k] = kept;
	}
	for (uint32_t i = 0; i < N; i++) {
		double x = exp(40 * vectors_uniform()), y = vectors_uniform() / 3;

		assert_int_equal(vector_add(&a, i, x), 0);
		assert_int_equal(vector_add(&b, i, y), 0);
		assert_int_equal(vector_add(&c, order[i], x), 0);
		assert_int_equal(vector_add(&d, order[i], y), 0);
	}
	vector_finish(&a);
	vector_finish(&b);
	vector_finish(&c);
	vector_finish(&d);
	assert_true(vector_distance(&a, &b, NULL) == vector_distance(&c, &d, NULL));
	assert_true(vector_total(&a) == vector_total(&c) && vector_total(&b) == vector_total(&d));
	vector_release(&a);
	vector_release(&b);
	vector_release(&c);
	vector_release(&d);
	free(order);
}

/* Tiny values, and the largest that are taken. */
static void test_extremes(void **state)
{
	static const double levels[] = {1e-270, 1e-9, 1, 1e300};
	struct vector a = {0}, b = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		vector_clear(&a);
		assert_int_equal(vector_add(&a, 3, levels[i]), 0);
		assert_int_equal(vector_add(&a, 5, levels[i]), 0);
		vector_finish(&a);
		assert_true(vector_total(&a) == 2 * levels[i]);
		assert_true(vector_distance(&a, &b, NULL) == 2 * levels[i]);
	}
	vector_release(&a);
}

static void test_fixed_sum(void **state)
{
	static const double values[] = {1e16, 1, -1e16, 0.125, 2};
	struct fixed_sum empty = fixed_sum_for(0);

	(void)state;
	/* Doubles would have lost the 1. */
	assert_true(fixed_sum_of(values, ARRAY_SIZE(values)) == 3.125);
	assert_true(fixed_sum_of(values, 0) == 0);
	assert_true(fixed_sum_value(&empty) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dimensions),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_add_again),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_cancels),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_distance_properties),
		cmocka_unit_test(test_order_of_dimensions),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_fixed_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
