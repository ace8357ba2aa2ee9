#include "collect/tcp_index.h"
#include "unit.h"
#include <stdbool.h>

static bool has(const struct tcp_index *x, uint64_t hash, uint32_t position)
{
	uint32_t i = tcp_index_first(x, hash);

	while (i != TCP_INDEX_END && i != position)
		i = x->next[i];
	return i == position;
}

static void test_insert_and_remove(void **state)
{
	struct tcp_index x;

	(void)state;
	assert_int_equal(tcp_index_init(&x, 100), 0);
	assert_int_equal(tcp_index_first(&x, 5), TCP_INDEX_END);
	for (uint32_t i = 0; i < 100; i++)
		tcp_index_insert(&x, i % 3, i); /* long chains */
	for (uint32_t i = 0; i < 100; i++)
		assert_true(has(&x, i % 3, i));
	tcp_index_remove(&x, 0, 99); /* the head, the middle and the end of a chain */
	tcp_index_remove(&x, 0, 48);
	tcp_index_remove(&x, 0, 0);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(has(&x, i % 3, i), i != 99 && i != 48 && i != 0);
	tcp_index_insert(&x, 1, 48); /* the place goes to another key */
	assert_true(has(&x, 1, 48));
	assert_false(has(&x, 0, 48));
	tcp_index_clear(&x);
	for (uint32_t i = 0; i < 100; i++)
		assert_false(has(&x, i % 3, i));
	tcp_index_release(&x);
}

static void test_high_bits_of_the_hash_count(void **state)
{
	struct tcp_index x;

	(void)state;
	assert_int_equal(tcp_index_init(&x, 0), 0);
	tcp_index_release(&x);
	assert_int_equal(tcp_index_init(&x, 4), 0);
	tcp_index_insert(&x, UINT64_C(1) << 32, 2);
	assert_int_equal(tcp_index_first(&x, 0), TCP_INDEX_END);
	assert_int_equal(tcp_index_first(&x, UINT64_C(1) << 32), 2);
	tcp_index_release(&x);
	tcp_index_release(&x); /* harmless */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_insert_and_remove),
		cmocka_unit_test(test_high_bits_of_the_hash_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
