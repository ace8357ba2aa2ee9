/* Groups with many slow members: those that became slow together, and those that cannot be
 * decided. */
#include "detect_rig.h"

#include "detect/crowd.h"

static const struct detect_options by_itself = {0};

#define MEMBERS 20
#define SLOTS 600

/* The first `n` are `factor` times as slow from slot `from` on, and do `load` times as much. What
 * is found among the rows of that, without any comparison before it. */
static size_t find(
	uint32_t n, uint32_t from, double factor, double load, struct lp_finding *ret_first)
{
	struct findings found = {0};
	struct rig r;
	double *await, *work;
	size_t n_found;

	rig_init(&r, MEMBERS, SLOTS);
	await = rig_add_noise(&r, "await", "ms", 20, 0.1);
	work = rig_add_noise(&r, "wr_sec", "sectors/s", 20000, 0.1);
	for (uint32_t i = 0; i < n; i++) {
		rig_scale(&r, await, i, from, factor);
		rig_scale(&r, work, i, from, load);
	}
	rig_run(&r, &by_itself);
	assert_int_equal(crowd_find(r.verdict, &found), 0);
	n_found = found.n;
	if (found.n && ret_first)
		*ret_first = found.items[0];
	/* Once more: no component is reported twice. */
	assert_int_equal(crowd_find(r.verdict, &found), 0);
	assert_int_equal(found.n, n_found);
	free(found.items);
	rig_release(&r);
	return n_found;
}

/* From a fifth on, up to half of them. */
static void test_share(void **state)
{
	struct lp_finding first = {0};

	(void)state;
	assert_int_equal(find(0, 200, 4, 1, NULL), 0);
	assert_int_equal(find(3, 200, 4, 1, NULL), 0);
	assert_int_equal(find(4, 200, 4, 1, NULL), 4);
	assert_int_equal(find(6, 200, 4, 1, &first), 6);
	assert_int_equal(find(9, 200, 4, 1, NULL), 9);
	assert_int_equal(find(10, 200, 4, 1, NULL), 0);
	assert_int_equal(first.component, 0);
	assert_true(first.crowd && first.culprit && !first.ended);
	assert_int_equal(first.direction, LP_MARK_ABOVE);
	assert_float_equal(first.ratio, 4, 0.4);
	assert_float_equal(first.load_ratio, 1, 0.1);
	assert_true(first.n_anomalous < first.n_windows);
}

/* In the last quarter, too; but not for a moment. */
static void test_late(void **state)
{
	(void)state;
	assert_int_equal(find(6, 448, 8, 1, NULL), 6);
	assert_int_equal(find(6, SLOTS - 20, 4, 1, NULL), 0);
}

/* Slow since ever is a class, little is what an update does, and load explains. */
static void test_not(void **state)
{
	(void)state;
	assert_int_equal(find(6, 0, 4, 1, NULL), 0);
	assert_int_equal(find(6, 200, 1.7, 1, NULL), 0);
	assert_int_equal(find(6, 200, 4, 4, NULL), 0);
	assert_int_equal(find(6, 200, 4, 2, NULL), 6);
}

/* Until they are too many to decide. */

#define CLASS_MEMBERS 10

/* The first `n` of ten are three times as slow from slot `from` on, and do `load` times as much. */
static void classes_fill(struct rig *r, uint32_t n, uint32_t from, double load)
{
	double *await, *work;

	rig_init(r, CLASS_MEMBERS, 600);
	await = rig_add_noise(r, "await", "ms", 20, 0.1);
	work = rig_add_noise(r, "wr_sec", "sectors/s", 20000, 0.1);
	for (uint32_t i = 0; i < n; i++) {
		rig_scale(r, await, i, from, 3);
		rig_scale(r, work, i, 0, load);
	}
	rig_run(r, &by_itself);
}

static void classes_check(
	uint32_t n, uint32_t from, double load, uint32_t accused, uint32_t unknown)
{
	struct rig r;

	classes_fill(&r, n, from, load);
	assert_int_equal(rig_n_accused(r.verdict), accused);
	assert_int_equal(r.verdict->n_unknown, unknown);
	rig_release(&r);
}

/* Slower is worse: up to 40% of a group are suspects. */
static void test_by_direction(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 4; n++)
		classes_check(n, 0, 1, n, 0);
}

/* From then on no member is accused, and both classes are listed. */
static void test_two_classes(void **state)
{
	struct rig r;

	(void)state;
	for (uint32_t n = 4; n <= 6; n++)
		classes_check(n, 0, 1, 0, 1);
	classes_check(10, 0, 1, 0, 0);
	classes_fill(&r, 5, 0, 1);
	assert_non_null(strstr(r.verdict->unknown[0], "limpet cannot say which one is right"));
	assert_non_null(strstr(r.verdict->unknown[0], "5 of them take 3."));
	for (uint32_t i = 0; i < r.verdict->n_components; i++)
		assert_non_null(strstr(r.verdict->unknown[0], r.verdict->components[i]->text));
	rig_release(&r);
}

/* Members that became slow are found by their own past, as long as they are fewer. */
static void test_own_past(void **state)
{
	(void)state;
	classes_check(4, 200, 1, 4, 0);
}

/* If most became slow, none is accused, and the verdict is not fine; a member that was faster than
 * most from the beginning is better than they are. */
static void test_most_slow(void **state)
{
	(void)state;
	classes_check(7, 200, 1, 0, 1);
	classes_check(8, 200, 1, 0, 1);
	classes_check(9, 200, 1, 0, 0);
	classes_check(7, 0, 1, 0, 0);
}

/* Who works more may be slower for it. */
static void test_classes_load(void **state)
{
	(void)state;
	classes_check(5, 0, 3, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_not),
		cmocka_unit_test(test_by_direction),
		cmocka_unit_test(test_two_classes),
		cmocka_unit_test(test_own_past),
		cmocka_unit_test(test_most_slow),
		cmocka_unit_test(test_classes_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
