/* Many that become slow together. */
#include "detect_rig.h"

#include "detect/crowd.h"

#define MEMBERS 20
#define SLOTS 600

/* The first `n` are `factor` times as slow from slot `from` on, and do `load` times as much. What
 * is found among the rows of that, without any comparison before it. */
static size_t find(
	uint32_t n, uint32_t from, double factor, double load, struct lp_finding *ret_first)
{
	static const struct detect_options by_itself = {0};
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
	/* Once more: nobody is told of twice. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
