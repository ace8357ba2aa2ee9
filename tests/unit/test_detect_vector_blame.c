#include "detect/compare/vector_blame.h"

#include "vectors.h"
#include <stdio.h>

#define DIMENSIONS 40

/* Against plain sums over the windows. */
static void test_oracle(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		double own[DIMENSIONS], peer[DIMENSIONS], sums[DIMENSIONS] = {0};
		double owns[DIMENSIONS] = {0}, peers[DIMENSIONS] = {0}, last = INFINITY;
		struct vector_blame b = {0};
		struct vector a = {0}, c = {0};
		struct dimensions names = {0};
		struct vector_culprit top[10];
		uint32_t n_windows = 1 + vectors_below(5), id, n_blamed = 0;
		bool told[DIMENSIONS] = {false};
		int n;

		for (uint32_t d = 0; d < DIMENSIONS; d++) {
			char name[8];

			snprintf(name, sizeof(name), "f%u", d);
			assert_int_equal(dimensions_intern(&names, name, &id), 0);
		}
		for (uint32_t w = 0; w < n_windows; w++) {
			vectors_random(&a, own, DIMENSIONS, vectors_below(20));
			vectors_random(&c, peer, DIMENSIONS, vectors_below(20));
			assert_int_equal(vector_blame_add(&b, &a, &c, NULL), 0);
			for (uint32_t d = 0; d < DIMENSIONS; d++) {
				sums[d] += fabs(own[d] - peer[d]);
				owns[d] += own[d];
				peers[d] += peer[d];
			}
		}
		n = vector_blame_top(&b, &names, top, 10);
		for (uint32_t d = 0; d < DIMENSIONS; d++)
			n_blamed += sums[d] > 0;
		assert_int_equal(n, n_blamed < 10 ? n_blamed : 10);
		for (int i = 0; i < n; i++) {
			uint32_t d = top[i].dimension;

			assert_true(top[i].distance == sums[d] && sums[d] <= last);
			assert_true(top[i].own == owns[d] / n_windows);
			assert_true(top[i].peer == peers[d] / n_windows);
			assert_false(told[d]);
			told[d] = true;
			last = sums[d];
		}
		/* Dimensions that are not listed are not blamed more than the last. */
		for (uint32_t d = 0; d < DIMENSIONS; d++)
			assert_true(told[d] || n == 0 || sums[d] <= last);
		vector_blame_release(&b);
		vector_release(&a);
		vector_release(&c);
		dimensions_release(&names);
	}
}

/* Equals stand in the order of their names, not of their numbers. */
static void test_equals(void **state)
{
	static const double own[3] = {5, 5, 5}, peer[3] = {0, 10, 5};
	struct dimensions names = {0};
	struct vector_blame b = {0};
	struct vector a = {0}, c = {0};
	struct vector_culprit top[10];
	uint32_t id;

	(void)state;
	assert_int_equal(dimensions_intern(&names, "write", &id), 0);
	assert_int_equal(dimensions_intern(&names, "read", &id), 0);
	assert_int_equal(dimensions_intern(&names, "poll", &id), 0);
	vectors_of(&a, own, 3);
	vectors_of(&c, peer, 3);
	assert_int_equal(vector_blame_add(&b, &a, &c, NULL), 0);
	assert_int_equal(vector_blame_top(&b, &names, top, 10), 2);
	assert_int_equal(top[0].dimension, 1);
	assert_true(top[0].own == 5 && top[0].peer == 10 && top[0].distance == 5);
	assert_int_equal(top[1].dimension, 0);
	assert_true(top[0].share == 0.5 && top[1].share == 0.5);
	assert_int_equal(vector_blame_top(&b, &names, top, 1), 1);
	assert_true(top[0].share == 0.5); /* of all, also of those that were not asked for */
	vector_blame_release(&b);
	assert_int_equal(vector_blame_top(&b, &names, top, 10), 0);
	vector_release(&a);
	vector_release(&c);
	dimensions_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_equals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
