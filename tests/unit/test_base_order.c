#include "unit.h"

#include "base/median.h"
#include "oracle.h"

#define N 3000

static double some_value(unsigned kind)
{
	double u = oracle_uniform();

	switch (kind) {
	case 0:
		return u;
	case 1:
		return u - 0.5;
	case 2:
		return floor(u * 5) - 2;
	case 3:
		return pow(10, 600 * u - 300) * (u < 0.3 ? -1 : 1);
	case 4:
		return 7;
	case 5:
		return u < 0.999 ? 0 : u * 1e-300;
	default:
		return u < 0.5 ? 0.0 : -0.0;
	}
}

static void test_keys(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		double a = some_value(i % 7), b = some_value(i / 7 % 7);

		assert_true(order_value(order_key(a)) == a);
		assert_int_equal(a < b, order_key(a) < order_key(b));
		assert_int_equal(a == b, order_key(a) == order_key(b));
	}
	assert_true(order_key(-INFINITY) < order_key(-1e308));
	assert_true(order_key(INFINITY) > order_key(1e308));
}

/* Every rank, against sorting. */
static void test_ranks(void **state)
{
	static double v[N];
	static uint64_t keys[N], copy[N], work[N];

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		size_t n = 1 + oracle_below(round % 10 ? 100 : N), ranks[8];
		uint64_t found[8];

		for (size_t i = 0; i < n; i++) {
			v[i] = some_value(round % 7);
			keys[i] = order_key(v[i]);
		}
		for (unsigned k = 0; k < 8; k++)
			ranks[k] = k == 0 ? 0 : k == 1 ? n - 1 : oracle_below((uint32_t)n);
		memcpy(copy, keys, sizeof(copy));
		order_ranks(keys, n, ranks, 8, work, found);
		assert_memory_equal(copy, keys, n * sizeof(*keys));
		qsort(v, n, sizeof(*v), oracle_ascending);
		for (unsigned k = 0; k < 8; k++) {
			assert_true(order_value(found[k]) == v[ranks[k]]);
			memcpy(copy, keys, sizeof(copy));
			assert_true(order_value(order_select(copy, n, ranks[k])) == v[ranks[k]]);
		}
	}
}

static void test_quantile(void **state)
{
	static double v[N];
	static uint64_t keys[N], work[N];

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		size_t n = 1 + oracle_below(200);

		for (size_t i = 0; i < n; i++) {
			v[i] = some_value(round % 7);
			keys[i] = order_key(v[i]);
		}
		for (unsigned k = 0; k <= 8; k++)
			assert_true(order_quantile(keys, n, k / 8.0, work) ==
				oracle_quantile(v, n, k / 8.0));
	}
	/* As R says: quantile(c(1, 2, 3, 4, 10), c(0.25, 0.5, 0.75), type = 7); then of 4. */
	for (unsigned i = 0; i < 5; i++)
		keys[i] = order_key((double[]){4, 1, 10, 3, 2}[i]);
	assert_true(order_quantile(keys, 5, 0.25, work) == 2);
	assert_true(order_quantile(keys, 5, 0.75, work) == 4);
	assert_true(order_quantile(keys, 4, 0.25, work) == 2.5);
	assert_true(order_quantile(keys, 4, 0.5, work) == 3.5);
	assert_true(order_quantile(keys, 4, 0.75, work) == 5.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_quantile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
