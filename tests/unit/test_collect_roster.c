#include "collect/roster.h"
#include "unit.h"
#include <stdio.h>
#include <string.h>

static void expect(struct roster *r, const char *name, int want)
{
	struct roster_entry *e = NULL;

	assert_int_equal(roster_next(r, name, strlen(name), &e), want);
	if (want != ROSTER_TWICE)
		assert_string_equal(e->name, name);
}

static void test_places(void **state)
{
	struct roster r = {0};

	(void)state;
	roster_begin(&r);
	expect(&r, "a", ROSTER_NEW);
	expect(&r, "b", ROSTER_NEW);
	expect(&r, "c", ROSTER_NEW);
	roster_begin(&r);
	expect(&r, "a", ROSTER_SAME);
	expect(&r, "b", ROSTER_SAME);
	expect(&r, "c", ROSTER_SAME);
	roster_begin(&r); /* b vanishes */
	expect(&r, "a", ROSTER_SAME);
	expect(&r, "c", ROSTER_MOVED);
	roster_begin(&r); /* b returns */
	expect(&r, "a", ROSTER_SAME);
	expect(&r, "b", ROSTER_NEW);
	expect(&r, "c", ROSTER_MOVED);
	roster_begin(&r); /* two swap their places */
	expect(&r, "b", ROSTER_MOVED);
	expect(&r, "a", ROSTER_MOVED);
	expect(&r, "c", ROSTER_SAME);
	assert_int_equal(r.n, 3);
	roster_release(&r);
}

static void test_twice(void **state)
{
	struct roster r = {0};

	(void)state;
	for (int i = 0; i < 3; i++) {
		roster_begin(&r);
		expect(&r, "a", i ? ROSTER_SAME : ROSTER_NEW);
		expect(&r, "a", ROSTER_TWICE);
	}
	roster_release(&r);
}

static void test_prefix_is_another(void **state)
{
	struct roster r = {0};

	(void)state;
	roster_begin(&r);
	expect(&r, "sda1", ROSTER_NEW);
	roster_begin(&r);
	expect(&r, "sda", ROSTER_NEW);
	roster_begin(&r);
	expect(&r, "sda1", ROSTER_NEW);
	roster_release(&r);
}

static void test_forgets_who_left(void **state)
{
	struct roster r = {0};
	struct roster_entry *e;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "veth%d", i);
		roster_begin(&r);
		assert_int_equal(roster_next(&r, "eth0", 4, &e), i ? ROSTER_SAME : ROSTER_NEW);
		assert_int_equal(e->identity, i ? 42 : 0);
		e->identity = 42;
		expect(&r, name, ROSTER_NEW);
		expect(&r, "eth1", i ? ROSTER_SAME : ROSTER_NEW);
		assert_true(r.n < 100);
	}
	roster_begin(&r);
	expect(&r, "veth4998", ROSTER_NEW);
	expect(&r, "veth4999", ROSTER_SAME);
	roster_release(&r);
}

static void test_went_back(void **state)
{
	struct roster_entry e = {0};

	(void)state;
	assert_false(roster_went_back(&e, 5, 6));
	assert_false(roster_went_back(&e, 5, 7));
	assert_true(roster_went_back(&e, 6, 6));
	assert_false(roster_went_back(&e, 6, 6));
	assert_true(roster_went_back(&e, 0, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_prefix_is_another),
		cmocka_unit_test(test_forgets_who_left),
		cmocka_unit_test(test_went_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
