#include "base/idmap.h"
#include "unit.h"

static void test_put_and_get(void **state)
{
	struct idmap m = {0};
	uint32_t v = 7;

	(void)state;
	assert_false(idmap_get(&m, 1, &v));
	assert_int_equal(v, 7);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(idmap_put(&m, (uint64_t)i << 40 | (i % 3), i), 0);
	assert_int_equal(m.n, 5000);
	for (uint32_t i = 0; i < 5000; i++) {
		assert_true(idmap_get(&m, (uint64_t)i << 40 | (i % 3), &v));
		assert_int_equal(v, i);
	}
	assert_int_equal(idmap_put(&m, 0, 9), 0);
	assert_true(idmap_get(&m, 0, &v));
	assert_int_equal(v, 9);
	assert_int_equal(m.n, 5000);
	idmap_release(&m);
	assert_int_equal(m.cap, 0);
}

static void test_reserve_and_clear(void **state)
{
	struct idmap m = {0};
	const void *slots;
	uint32_t v;

	(void)state;
	idmap_clear(&m); /* harmless */
	assert_int_equal(idmap_reserve(&m, 1000), 0);
	slots = m.slots;
	for (unsigned round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 1000; i++)
			assert_int_equal(idmap_put(&m, i * UINT64_C(7919), i + round), 0);
		assert_true(idmap_get(&m, 7919, &v));
		assert_int_equal(v, 1 + round);
		assert_ptr_equal(m.slots, slots); /* nothing was allocated */
		idmap_clear(&m);
		assert_int_equal(m.n, 0);
		assert_false(idmap_get(&m, 7919, &v));
	}
	idmap_release(&m);
}

/* Against a plain array, with many removals: nothing is lost that was pushed aside. */
static void test_remove(void **state)
{
	enum { KEYS = 300 };
	uint32_t have[KEYS] = {0}, v;
	struct idmap m = {0};
	uint64_t random = 1;
	size_t n = 0;

	(void)state;
	idmap_remove(&m, 5);
	for (unsigned step = 0; step < 20000; step++) {
		uint32_t k;

		random = random * 6364136223846793005u + 1442695040888963407u;
		k = (uint32_t)(random >> 33) % KEYS;
		n -= have[k] != 0;
		have[k] = random >> 63 ? step + 1 : 0;
		n += have[k] != 0;
		if (have[k])
			assert_int_equal(idmap_put(&m, k, have[k]), 0);
		else
			idmap_remove(&m, k);
		assert_int_equal(m.n, n);
	}
	for (uint32_t k = 0; k < KEYS; k++) {
		assert_int_equal(idmap_get(&m, k, &v), have[k] != 0);
		if (have[k])
			assert_int_equal(v, have[k]);
	}
	idmap_release(&m);
}

static void test_next(void **state)
{
	struct idmap m = {0};
	uint64_t key, keys = 0, values = 0;
	size_t at = 0, n = 0;
	uint32_t v;

	(void)state;
	assert_false(idmap_next(&m, &at, &key, &v));
	for (uint32_t k = 1; k <= 100; k++)
		assert_int_equal(idmap_put(&m, k, 2 * k), 0);
	for (at = 0; idmap_next(&m, &at, &key, &v); n++) {
		keys += key;
		values += v;
	}
	assert_int_equal(n, 100);
	assert_int_equal(keys, 5050);
	assert_int_equal(values, 10100);
	idmap_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_and_get),
		cmocka_unit_test(test_reserve_and_clear),
		cmocka_unit_test(test_remove),
		cmocka_unit_test(test_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
