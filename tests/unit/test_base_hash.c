#include "base/hash.h"

#include "unit.h"
#include <stdio.h>
#include <string.h>

/* Published values of FNV-1a, 64 bits. */
static void test_fnv1a(void **state)
{
	(void)state;
	assert_int_equal(hash_bytes("", 0), UINT64_C(0xcbf29ce484222325));
	assert_int_equal(hash_bytes("a", 1), UINT64_C(0xaf63dc4c8601ec8c));
	assert_int_equal(hash_bytes("foobar", 6), UINT64_C(0x85944171f73967e8));
}

static void test_empty_map(void **state)
{
	struct strmap m = {0};
	uint32_t value = 5;

	(void)state;
	assert_false(strmap_get(&m, "x", &value));
	assert_false(strmap_get(&m, "", &value));
	assert_int_equal(value, 5);
	strmap_release(&m);
}

static void test_put_and_get(void **state)
{
	struct strmap m = {0};
	char key[16] = "sda";
	uint32_t value = 0;

	(void)state;
	assert_int_equal(strmap_put(&m, key, 1), 0);
	assert_int_equal(strmap_put(&m, "", 2), 0);
	/* The map has its own copy of the key. */
	memcpy(key, "sdb", 4);
	assert_true(strmap_get(&m, "sda", &value));
	assert_int_equal(value, 1);
	assert_false(strmap_get(&m, "sdb", &value));
	assert_true(strmap_get(&m, "", &value));
	assert_int_equal(value, 2);
	strmap_release(&m);
}

static void test_put_again_replaces(void **state)
{
	struct strmap m = {0};
	uint32_t value = 0;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(strmap_put(&m, "same", i), 0);
	assert_int_equal(m.n, 1);
	assert_true(strmap_get(&m, "same", &value));
	assert_int_equal(value, 99);
	strmap_release(&m);
}

static void test_many(void **state)
{
	struct strmap m = {0};
	char key[32];
	uint32_t value = 0;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(key, sizeof(key), "fs%u/disk:%u", i % 37, i);
		assert_int_equal(strmap_put(&m, key, i ^ 0x5555), 0);
	}
	assert_int_equal(m.n, 20000);
	assert_int_equal(m.cap & (m.cap - 1), 0);
	assert_true(m.cap > m.n);
	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(key, sizeof(key), "fs%u/disk:%u", i % 37, i);
		assert_true(strmap_get(&m, key, &value));
		assert_int_equal(value, i ^ 0x5555);
		snprintf(key, sizeof(key), "fs%u/disk:%u", i % 37 + 1, i);
		assert_false(strmap_get(&m, key, &value));
	}
	strmap_release(&m);
}

/* Remaining keys are found, removed ones are not, in any order. */
static void test_remove(void **state)
{
	struct strmap m = {0};
	char key[32];
	uint32_t value = 0;

	(void)state;
	strmap_remove(&m, "x");
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 2000; i++) {
			snprintf(key, sizeof(key), "veth%u", i);
			assert_int_equal(strmap_put(&m, key, i), 0);
		}
		for (uint32_t i = 0; i < 2000; i++) {
			snprintf(key, sizeof(key), "veth%u", i * 7 % 2000);
			if (i * 7 % 2000 % 3 != round)
				strmap_remove(&m, key);
		}
		strmap_remove(&m, "x");
		for (uint32_t i = 0; i < 2000; i++) {
			snprintf(key, sizeof(key), "veth%u", i);
			assert_int_equal(strmap_get(&m, key, &value), i % 3 == round);
			assert_true(i % 3 != round || value == i);
		}
	}
	assert_int_equal(m.n, 666);
	assert_true(m.cap < 4096); /* it did not grow by what is gone */
	strmap_release(&m);
}

static void test_release_makes_it_new(void **state)
{
	struct strmap m = {0};
	uint32_t value;

	(void)state;
	assert_int_equal(strmap_put(&m, "x", 1), 0);
	strmap_release(&m);
	strmap_release(&m);
	assert_false(strmap_get(&m, "x", &value));
	assert_int_equal(strmap_put(&m, "x", 2), 0);
	assert_true(strmap_get(&m, "x", &value));
	assert_int_equal(value, 2);
	strmap_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fnv1a),
		cmocka_unit_test(test_empty_map),
		cmocka_unit_test(test_put_and_get),
		cmocka_unit_test(test_put_again_replaces),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_remove),
		cmocka_unit_test(test_release_makes_it_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
