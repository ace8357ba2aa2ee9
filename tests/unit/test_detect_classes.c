/* Many that are slow: told by direction, until they are so many that nobody can tell. */
#include "detect_rig.h"

#include "detect/classes.h"

static const struct detect_options by_itself = {0};

#define MEMBERS 10

/* The first `n` of ten are three times as slow from slot `from` on, and do `load` times as much. */
static void fill(struct rig *r, uint32_t n, uint32_t from, double load)
{
	double *await, *work;

	rig_init(r, MEMBERS, 600);
	await = rig_add_noise(r, "await", "ms", 20, 0.1);
	work = rig_add_noise(r, "wr_sec", "sectors/s", 20000, 0.1);
	for (uint32_t i = 0; i < n; i++) {
		rig_scale(r, await, i, from, 3);
		rig_scale(r, work, i, 0, load);
	}
	rig_run(r, &by_itself);
}

static void check(uint32_t n, uint32_t from, double load, uint32_t accused, uint32_t unknown)
{
	struct rig r;

	fill(&r, n, from, load);
	assert_int_equal(rig_n_accused(r.verdict), accused);
	assert_int_equal(r.verdict->n_unknown, unknown);
	rig_release(&r);
}

/* Slower is worse: up to 40% of a group are suspects. */
static void test_by_direction(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 4; n++)
		check(n, 0, 1, n, 0);
}

/* From then on nobody is accused, and both are listed. */
static void test_two_classes(void **state)
{
	struct rig r;

	(void)state;
	for (uint32_t n = 4; n <= 6; n++)
		check(n, 0, 1, 0, 1);
	check(10, 0, 1, 0, 0);
	fill(&r, 5, 0, 1);
	assert_non_null(strstr(r.verdict->unknown[0], "which one is right cannot be told"));
	assert_non_null(strstr(r.verdict->unknown[0], "5 of them take 3."));
	for (uint32_t i = 0; i < r.verdict->n_components; i++)
		assert_non_null(strstr(r.verdict->unknown[0], r.verdict->components[i]->text));
	rig_release(&r);
}

/* Those who became slow are told by their own past, as long as they are fewer. */
static void test_own_past(void **state)
{
	(void)state;
	check(4, 200, 1, 4, 0);
}

/* Where most became slow, nobody is accused, and nothing is well; who was faster than most from the
 * beginning is better than they are. */
static void test_most(void **state)
{
	(void)state;
	check(7, 200, 1, 0, 1);
	check(8, 200, 1, 0, 1);
	check(9, 200, 1, 0, 0);
	check(7, 0, 1, 0, 0);
}

/* Who works more may be slower for it. */
static void test_load(void **state)
{
	(void)state;
	check(5, 0, 3, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_direction),
		cmocka_unit_test(test_two_classes),
		cmocka_unit_test(test_own_past),
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
