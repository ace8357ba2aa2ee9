#include "lab/run_strain.h"
#include "unit.h"

/* Of nodes that wait, the one in the middle counts: a fault of one server does not. */
static void the_median_waits(void **state)
{
	struct strain before = {.n = 5}, after = {.n = 5};

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		before.nodes[i] = (struct strain_node){.ran_ns = 100, .waited_ns = 50};
		after.nodes[i] = (struct strain_node){.ran_ns = 200, .waited_ns = 50 + 100 * i};
	}
	after.nodes[4].waited_ns = 1000000;
	assert_float_equal(strain_cpu_wait(&before, &after), 2, 1e-9);
	before.n = after.n = 4;
	assert_float_equal(strain_cpu_wait(&before, &after), 1.5, 1e-9);
}

/* What did not run, or ran for less than before (threads have ended), says nothing. */
static void what_is_not_known_does_not_count(void **state)
{
	struct strain before = {.n = 3}, after = {.n = 3};

	(void)state;
	assert_float_equal(strain_cpu_wait(&before, &after), 0, 0);
	before.nodes[0] = (struct strain_node){.ran_ns = 100, .waited_ns = 10};
	before.nodes[1] = (struct strain_node){.ran_ns = 100, .waited_ns = 10};
	after.nodes[0] = (struct strain_node){.ran_ns = 50, .waited_ns = 900};
	after.nodes[1] = (struct strain_node){.ran_ns = 200, .waited_ns = 35};
	assert_float_equal(strain_cpu_wait(&before, &after), 0.25, 1e-9);
}

static void the_latest_disk_counts(void **state)
{
	struct strain before = {.n = 3}, after = {.n = 3};

	(void)state;
	assert_float_equal(strain_disk_late_ms(&before, &after), 0, 0);
	before.nodes[0] = (struct strain_node){.requests = 10, .late_us = 1000};
	after.nodes[0] = (struct strain_node){.requests = 20, .late_us = 6000};
	before.nodes[1] = (struct strain_node){.requests = 10, .late_us = 1000};
	after.nodes[1] = (struct strain_node){.requests = 20, .late_us = 31000};
	after.nodes[2] = (struct strain_node){.late_us = 31000};
	assert_float_equal(strain_disk_late_ms(&before, &after), 3, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_median_waits),
		cmocka_unit_test(what_is_not_known_does_not_count),
		cmocka_unit_test(the_latest_disk_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
