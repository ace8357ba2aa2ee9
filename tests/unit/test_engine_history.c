#include "unit.h"

#include "engine/history.h"
#include <math.h>
#include <stdio.h>

static struct kept mark(uint8_t m)
{
	return (struct kept){.own = 1, .peers = 2, .ratio = 0.5F, .distance = 3, .mark = m};
}

static void put(struct history *h, const char *component, int64_t number, uint8_t m)
{
	struct kept k = mark(m);
	struct tracks *all = history_metric(h, "await");
	uint32_t at;
	struct track *t = tracks_get(all, component, &at) == 0 ? &all->items[at] : NULL;

	assert_non_null(t);
	assert_int_equal(track_put(t, number, &k), 0);
}

static uint8_t get(const struct history *h, const char *component, int64_t number)
{
	return track_get(tracks_find(history_find(h, "await"), component), number).mark;
}

static void test_put_and_get(void **state)
{
	struct history h = {0};

	(void)state;
	assert_null(history_find(&h, "await"));
	put(&h, "a", 100, LP_MARK_ABOVE);
	put(&h, "a", 103, LP_MARK_NORMAL);
	put(&h, "b", 7, LP_MARK_BELOW);
	assert_int_equal(get(&h, "a", 99), LP_MARK_NONE);
	assert_int_equal(get(&h, "a", 100), LP_MARK_ABOVE);
	assert_int_equal(get(&h, "a", 101), LP_MARK_NONE);
	assert_int_equal(get(&h, "a", 103), LP_MARK_NORMAL);
	assert_int_equal(get(&h, "a", 104), LP_MARK_NONE);
	assert_int_equal(get(&h, "b", 7), LP_MARK_BELOW);
	assert_int_equal(get(&h, "c", 7), LP_MARK_NONE);
	assert_true(tracks_find(history_find(&h, "await"), "a")->first_slot == INT64_MAX);
	history_release(&h);
}

/* Forgotten windows take no memory, and the others are found. */
static void test_trim(void **state)
{
	struct history h = {0};
	char name[16];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		put(&h, name, i, LP_MARK_ABOVE);
		put(&h, name, i + 1, LP_MARK_NORMAL);
	}
	assert_int_equal(history_trim(&h, 990, 0), 0);
	assert_int_equal(history_find(&h, "await")->n, 11);
	assert_int_equal(get(&h, "c988", 988), LP_MARK_NONE);
	assert_int_equal(get(&h, "c989", 989), LP_MARK_NONE);
	assert_int_equal(get(&h, "c989", 990), LP_MARK_NORMAL);
	assert_int_equal(get(&h, "c999", 999), LP_MARK_ABOVE);
	assert_null(tracks_find(history_find(&h, "await"), "c5"));
	history_release(&h);
}

static void test_by_sample(void **state)
{
	struct history h = {0};

	(void)state;
	put(&h, "a", 5000, LP_MARK_ABOVE);
	put(&h, "a", 5001, LP_MARK_ABOVE);
	history_metric(&h, "await")->by_sample = true;
	assert_int_equal(history_trim(&h, 1000000, 5001), 0);
	assert_int_equal(get(&h, "a", 5000), LP_MARK_NONE);
	assert_int_equal(get(&h, "a", 5001), LP_MARK_ABOVE);
	history_release(&h);
}

/* A long time without windows takes no memory, and windows before and after it are found. */
static void test_ages(void **state)
{
	struct history h = {0};
	const struct track *t;

	(void)state;
	for (int64_t age = 0; age < 5; age++) {
		for (int64_t i = 0; i < 10; i++)
			put(&h, "a", age * 1000000000 + i, LP_MARK_ABOVE);
	}
	t = tracks_find(history_find(&h, "await"), "a");
	assert_int_equal(t->n, 50);
	for (int64_t age = 0; age < 5; age++) {
		assert_int_equal(get(&h, "a", age * 1000000000 + 9), LP_MARK_ABOVE);
		assert_int_equal(get(&h, "a", age * 1000000000 + 10), LP_MARK_NONE);
		assert_int_equal(get(&h, "a", age * 1000000000 - 1), LP_MARK_NONE);
		assert_int_equal(track_number(t, (uint32_t)age * 10), age * 1000000000);
	}
	assert_int_equal(history_trim(&h, 2000000005, 0), 0);
	assert_int_equal(t->n, 25);
	assert_int_equal(t->begin, 2000000005);
	assert_int_equal(get(&h, "a", 2000000004), LP_MARK_NONE);
	assert_int_equal(get(&h, "a", 3000000001), LP_MARK_ABOVE);
	assert_int_equal(get(&h, "a", 4000000009), LP_MARK_ABOVE);
	history_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_and_get),
		cmocka_unit_test(test_trim),
		cmocka_unit_test(test_by_sample),
		cmocka_unit_test(test_ages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
