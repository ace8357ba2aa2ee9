#include "base/array.h"
#include "unit.h"
#include <errno.h>
#include <stdlib.h>

static void test_grows_and_keeps(void **state)
{
	int *items = NULL;
	size_t cap = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(array_reserve(&items, &cap, (size_t)i + 1, sizeof(*items)), 0);
		assert_in_range(cap, i + 1, 2 * i + 8);
		assert_int_equal(items[i], 0);
		items[i] = i * 3 + 1;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i], i * 3 + 1);
	free(items);
}

static void test_room_is_zeroed(void **state)
{
	uint64_t *items = NULL;
	size_t cap = 0;

	(void)state;
	assert_int_equal(array_reserve(&items, &cap, 1, sizeof(*items)), 0);
	for (size_t i = 0; i < cap; i++) {
		assert_int_equal(items[i], 0);
		items[i] = UINT64_MAX;
	}
	assert_int_equal(array_reserve(&items, &cap, 100, sizeof(*items)), 0);
	assert_int_equal(items[7], UINT64_MAX);
	for (size_t i = 8; i < cap; i++)
		assert_int_equal(items[i], 0);
	free(items);
}

static void test_enough_room_changes_nothing(void **state)
{
	char *items = NULL, *before;
	size_t cap = 0;

	(void)state;
	assert_int_equal(array_reserve(&items, &cap, 20, 1), 0);
	before = items;
	assert_int_equal(cap, 32);
	assert_int_equal(array_reserve(&items, &cap, 32, 1), 0);
	assert_int_equal(array_reserve(&items, &cap, 0, 1), 0);
	assert_ptr_equal(items, before);
	assert_int_equal(cap, 32);
	free(items);
}

static void test_too_much_is_refused(void **state)
{
	uint64_t *items = NULL;
	size_t cap = 0;

	(void)state;
	assert_int_equal(array_reserve(&items, &cap, 4, sizeof(*items)), 0);
	items[3] = 42;
	/* The number of bytes does not fit into a size_t. */
	assert_int_equal(array_reserve(&items, &cap, SIZE_MAX / 4, sizeof(*items)), -ENOMEM);
	assert_int_equal(array_reserve(&items, &cap, SIZE_MAX, sizeof(*items)), -ENOMEM);
	assert_int_equal(cap, 8);
	assert_int_equal(items[3], 42);
	free(items);
}

static void test_array_size(void **state)
{
	static const uint16_t three[] = {1, 2, 3};

	(void)state;
	assert_int_equal(ARRAY_SIZE(three), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows_and_keeps),
		cmocka_unit_test(test_room_is_zeroed),
		cmocka_unit_test(test_enough_room_changes_nothing),
		cmocka_unit_test(test_too_much_is_refused),
		cmocka_unit_test(test_array_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
