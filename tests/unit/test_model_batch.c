#include <limpet/batch.h>

#include "unit.h"
#include <errno.h>
#include <math.h>

#define CAP 4

static int setup(void **state)
{
	*state = lp_batch_new(CAP);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	lp_batch_free(*state);
	return 0;
}

static struct lp_batch_kind *kind_of(struct lp_batch *b, uint32_t schema, uint32_t n_columns)
{
	struct lp_batch_kind *k = NULL;

	assert_int_equal(lp_batch_kind_get(b, schema, n_columns, NULL, &k), 0);
	return k;
}

static uint32_t add(struct lp_batch *b, struct lp_batch_kind *k, uint32_t id)
{
	uint32_t row = UINT32_MAX;

	assert_int_equal(lp_batch_add_component(b, k, id, &row), 0);
	return row;
}

/* Mark a component present in the current sample, with `value` + column number in each column. */
static void set(struct lp_batch *b, struct lp_batch_kind *k, uint32_t row, int64_t value)
{
	size_t cell = (size_t)row * b->cap_samples + b->n_samples - 1;

	k->state[cell] = LP_PRESENT;
	for (uint32_t c = 0; c < k->n_columns; c++) {
		if (k->columns[c])
			k->columns[c][cell] = value + c;
	}
}

static void test_samples_until_full(void **state)
{
	struct lp_batch *b = *state;

	for (int64_t i = 0; i < CAP; i++)
		assert_int_equal(lp_batch_add_sample(b, 1000 + i, i), 0);
	assert_int_equal(lp_batch_add_sample(b, 9999, 9999), -ENOSPC);
	assert_int_equal(b->n_samples, CAP);
	assert_int_equal(b->wall_us[CAP - 1], 1000 + CAP - 1);
	assert_int_equal(b->mono_us[CAP - 1], CAP - 1);
}

static void test_kind_is_found_again(void **state)
{
	struct lp_batch *b = *state;
	struct lp_batch_kind *again;

	kind_of(b, 3, 2);
	kind_of(b, 5, 1);
	again = kind_of(b, 3, 2);
	assert_int_equal(b->n_kinds, 2);
	assert_ptr_equal(again, &b->kinds[0]);
	assert_int_equal(again->schema, 3);
	assert_int_equal(again->n_columns, 2);
}

static void test_only_selected_columns_exist(void **state)
{
	struct lp_batch *b = *state;
	uint64_t mask[LP_COLUMNS_MAX / 64] = {UINT64_C(1) << 1, UINT64_C(1) << 2};
	struct lp_batch_kind *k;

	assert_int_equal(lp_batch_kind_get(b, 0, 70, mask, &k), 0);
	for (uint32_t c = 0; c < 70; c++) {
		if (c == 1 || c == 66)
			assert_non_null(k->columns[c]);
		else
			assert_null(k->columns[c]);
	}
}

static void test_new_component_is_absent(void **state)
{
	struct lp_batch *b = *state;
	struct lp_batch_kind *k = kind_of(b, 0, 1);
	uint32_t first = add(b, k, 10), late;

	lp_batch_add_sample(b, 1, 1);
	set(b, k, first, 100);
	lp_batch_add_sample(b, 2, 2);
	late = add(b, k, 11);
	set(b, k, late, 200);
	lp_batch_add_sample(b, 3, 3);

	assert_int_equal(k->state[first * CAP + 0], LP_PRESENT);
	assert_int_equal(k->state[first * CAP + 1], LP_ABSENT);
	assert_int_equal(k->state[late * CAP + 0], LP_ABSENT);
	assert_int_equal(k->state[late * CAP + 1], LP_PRESENT);
	assert_int_equal(k->state[late * CAP + 2], LP_ABSENT);
	assert_int_equal(k->columns[0][late * CAP + 1], 200);
}

static void test_growing_keeps_values(void **state)
{
	struct lp_batch *b = *state;
	struct lp_batch_kind *k = kind_of(b, 0, 3);

	lp_batch_add_sample(b, 1, 1);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(add(b, k, 7000 + i), i);
		set(b, k, i, (int64_t)i * 10);
	}
	assert_int_equal(k->n_components, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(k->ids[i], 7000 + i);
		assert_int_equal(k->state[(size_t)i * CAP], LP_PRESENT);
		assert_int_equal(k->columns[2][(size_t)i * CAP], i * 10 + 2);
	}
}

static void test_clear_keeps_the_memory(void **state)
{
	struct lp_batch *b = *state;
	struct lp_batch_kind *k = kind_of(b, 0, 1);
	const int64_t *cells;

	lp_batch_add_sample(b, 1, 1);
	set(b, k, add(b, k, 10), 5);
	cells = k->columns[0];
	b->carry = true;
	lp_batch_clear(b);
	assert_int_equal(b->n_samples, 0);
	assert_false(b->carry);
	assert_int_equal(b->kinds[0].n_components, 0);
	assert_ptr_equal(kind_of(b, 0, 1)->columns[0], cells);
	/* What was there before does not shine through. */
	lp_batch_add_sample(b, 2, 2);
	assert_int_equal(add(b, k, 11), 0);
	assert_int_equal(k->state[0], LP_ABSENT);
}

static void test_carry_takes_the_last_sample(void **state)
{
	struct lp_batch *from = *state, *to = lp_batch_new(2);
	struct lp_batch_kind *k = kind_of(from, 4, 2);
	uint32_t gone = add(from, k, 10), stays = add(from, k, 11);

	assert_non_null(to);
	lp_batch_add_sample(from, 100, 1);
	set(from, k, gone, 1000);
	set(from, k, stays, 2000);
	lp_batch_add_sample(from, 200, 2);
	set(from, k, stays, 3000);
	k->state[stays * CAP + 1] |= LP_FRESH;
	/* `to` is not new: what it held is forgotten. */
	add(to, kind_of(to, 4, 2), 99);
	lp_batch_add_sample(to, 1, 1);

	assert_int_equal(lp_batch_carry(to, from), 0);
	assert_true(to->carry);
	assert_int_equal(to->n_samples, 1);
	assert_int_equal(to->wall_us[0], 200);
	assert_int_equal(to->mono_us[0], 2);
	assert_int_equal(to->kinds[0].n_components, 1);
	assert_int_equal(to->kinds[0].ids[0], 11);
	assert_int_equal(to->kinds[0].state[0], LP_PRESENT);
	assert_int_equal(to->kinds[0].columns[0][0], 3000);
	assert_int_equal(to->kinds[0].columns[1][0], 3001);
	lp_batch_free(to);
}

static void test_carry_of_many_components(void **state)
{
	struct lp_batch *from = *state, *to = lp_batch_new(3);
	struct lp_batch_kind *k = kind_of(from, 0, 1);

	assert_non_null(to);
	lp_batch_add_sample(from, 1, 1);
	for (uint32_t i = 0; i < 100; i++)
		set(from, k, add(from, k, i), i);
	assert_int_equal(lp_batch_carry(to, from), 0);
	assert_int_equal(to->kinds[0].n_components, 100);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(to->kinds[0].ids[i], i);
		assert_int_equal(to->kinds[0].columns[0][(size_t)i * 3], i);
	}
	lp_batch_free(to);
}

static void test_carry_keeps_the_selection(void **state)
{
	struct lp_batch *from = *state, *to = lp_batch_new(2);
	uint64_t mask[LP_COLUMNS_MAX / 64] = {2};
	struct lp_batch_kind *k;

	assert_non_null(to);
	assert_int_equal(lp_batch_kind_get(from, 0, 3, mask, &k), 0);
	lp_batch_add_sample(from, 1, 1);
	set(from, k, add(from, k, 10), 50);
	assert_int_equal(lp_batch_carry(to, from), 0);
	assert_null(to->kinds[0].columns[0]);
	assert_int_equal(to->kinds[0].columns[1][0], 51);
	assert_null(to->kinds[0].columns[2]);
	lp_batch_free(to);
}

static void test_carry_of_nothing(void **state)
{
	struct lp_batch *from = *state, *to = lp_batch_new(2);

	assert_non_null(to);
	lp_batch_add_sample(to, 1, 1);
	assert_int_equal(lp_batch_carry(to, from), 0);
	assert_int_equal(to->n_samples, 0);
	assert_false(to->carry);
	lp_batch_free(to);
}

static void test_reals_keep_every_bit(void **state)
{
	static const double values[] = {0.0, -0.0, 1.5, -1e308, 5e-324, INFINITY};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		double back = lp_cell_to_real(lp_cell_from_real(values[i]));

		assert_memory_equal(&back, &values[i], sizeof(back));
	}
	assert_true(isnan(lp_cell_to_real(lp_cell_from_real(NAN))));
}

static void test_free_of_nothing(void **state)
{
	(void)state;
	lp_batch_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Memory of many short-lived components is freed; necessary memory is not. */
static void test_carry_gives_back(void **state)
{
	struct lp_batch *a = lp_batch_new(2), *b = lp_batch_new(2);
	struct lp_batch_kind *k;
	uint32_t row;

	(void)state;
	assert_int_equal(lp_batch_add_sample(a, 0, 0), 0);
	assert_int_equal(lp_batch_kind_get(a, 0, 1, NULL, &k), 0);
	for (uint32_t id = 0; id < 5000; id++) {
		assert_int_equal(lp_batch_add_component(a, k, id, &row), 0);
		k->state[(size_t)row * 2] = id < 3 ? LP_PRESENT : LP_ABSENT;
		k->columns[0][(size_t)row * 2] = id;
	}
	assert_int_equal(lp_batch_carry(b, a), 0);
	assert_int_equal(b->kinds[0].n_components, 3);
	assert_int_equal(lp_batch_carry(a, b), 0);
	assert_int_equal(a->kinds[0].n_components, 3);
	assert_true(a->kinds[0].cap_components < 200);
	assert_int_equal(a->kinds[0].columns[0][2 * 2], 2);
	lp_batch_free(a);
	lp_batch_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_samples_until_full),
		TEST(test_kind_is_found_again),
		TEST(test_only_selected_columns_exist),
		TEST(test_new_component_is_absent),
		TEST(test_growing_keeps_values),
		TEST(test_clear_keeps_the_memory),
		TEST(test_carry_takes_the_last_sample),
		TEST(test_carry_of_many_components),
		TEST(test_carry_keeps_the_selection),
		TEST(test_carry_of_nothing),
		TEST(test_reals_keep_every_bit),
		TEST(test_free_of_nothing),
		cmocka_unit_test(test_carry_gives_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
