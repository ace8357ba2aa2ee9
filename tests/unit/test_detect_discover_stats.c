#include "unit.h"

#include "base/array.h"
#include "detect/group/discover_work.h"
#include <math.h>
#include <string.h>

static void test_mad(void **state)
{
	double y[] = {1, 2, 3, 4, 100}, z[] = {1, 1, 1};

	(void)state;
	assert_true(fabs(stats_mad(y, 5) - 1.4826 * 1.206) < 1e-12);
	assert_true(stats_mad(z, 3) == 0);
}

static void test_spread(void **state)
{
	/* Three observers with three, three and four values; one that is missing; one too small. */
	const double x[] = {1, 10, 2, 20, 3, 21, NAN, 40, 22, 41, 42, 43, 99};
	const uint32_t of[] = {0, 1, 0, 2, 0, 2, 1, 3, 2, 3, 3, 3, 1};
	double scratch[ARRAY_SIZE(x) + 3 * 4];
	struct stats_spread s;

	(void)state;
	stats_spread(x, of, ARRAY_SIZE(x), 4, 3, scratch, &s);
	assert_int_equal(s.n, 3); /* medians 2, 21, 41.5; MADs 1, 1, 1 */
	assert_true(fabs(s.size - 10.0 / 3) < 1e-12);
	assert_true(fabs(s.between - 1.4826 * 1.495 * 19) < 1e-9);
	assert_true(fabs(s.within - 1.4826 * 1.495) < 1e-9);
}

/* Three observers with the same values, in any order: without the smallest, which is the median's
 * own, the deviations are 1, 1, 5 and 6. */
static void test_spread_without_smallest(void **state)
{
	const double x[] = {16, 10, 5, 11, 9, 5, 16, 9, 10, 11, 9, 11, 16, 5, 10};
	const uint32_t of[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2};
	double scratch[ARRAY_SIZE(x) + 3 * 3];
	struct stats_spread s;

	(void)state;
	stats_spread(x, of, ARRAY_SIZE(x), 3, 3, scratch, &s);
	assert_int_equal(s.n, 3);
	assert_true(s.between == 0);
	assert_true(fabs(s.within - 1.4826 * 3) < 1e-9);
}

static bool cut(const double *values, size_t n, size_t least, struct stats_cut *ret)
{
	double x[256], scratch[256];

	memcpy(x, values, n * sizeof(*x));
	return stats_cut(x, n, least, 0.05, 0.4, scratch, ret);
}

static void test_cut(void **state)
{
	double x[60];
	struct stats_cut c;

	(void)state;
	for (int i = 0; i < 60; i++)
		x[i] = i % 3 ? 5 + 0.01 * i : 1 + 0.01 * i;
	assert_true(cut(x, 60, 5, &c));
	assert_int_equal(c.n_low, 20);
	assert_int_equal(c.n_high, 40);
	assert_true(c.at > 2 && c.at < 5);
	assert_true(c.low < 2 && c.high > 5 && c.score > 4);
	assert_false(cut(x, 60, 21, &c)); /* the lower class is too small */
	x[1] = 3;			  /* one between them: still clear */
	assert_true(cut(x, 60, 5, &c));
	x[2] = 3.1; /* two of sixty: not any more */
	assert_false(cut(x, 60, 5, &c));
}

static void test_no_cut(void **state)
{
	double x[100];
	struct stats_cut c;

	(void)state;
	for (int i = 0; i < 100; i++)
		x[i] = i; /* evenly spread */
	assert_false(cut(x, 100, 10, &c));
	for (int i = 0; i < 100; i++)
		x[i] = 7;
	assert_false(cut(x, 100, 10, &c));
	for (int i = 0; i < 100; i++)
		x[i] = i % 2 ? 1 : 1.3; /* apart, but not by what matters */
	assert_false(cut(x, 100, 10, &c));
	for (int i = 0; i < 100; i++)
		x[i] = i % 2 ? 1 : 1.5;
	assert_true(cut(x, 100, 10, &c));
	assert_false(cut(x, 9, 5, &c));
	assert_false(cut(x, 0, 0, &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mad),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_spread_without_smallest),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_no_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
