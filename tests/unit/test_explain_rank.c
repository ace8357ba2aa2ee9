#include "explain_rig.h"

#include "explain/rank.h"

static void test_size(void **state)
{
	struct lp_finding f = {.direction = LP_MARK_ABOVE,
		.own = 40,
		.peers = 10,
		.ratio = 4,
		.distance = 6,
		.threshold = 5};

	(void)state;
	assert_float_equal(rank_size(&f, 0), 2, 1e-9);
	assert_float_equal(rank_size(&f, 1), 2, 1e-9);
	f.ratio = f.own = 0.25;
	f.peers = 1;
	f.direction = LP_MARK_BELOW;
	assert_float_equal(rank_size(&f, 0), 2, 1e-9);
	/* Peers that do nothing: the floor keeps it finite; without one it is capped. */
	f = (struct lp_finding){.direction = LP_MARK_ABOVE, .own = 8, .ratio = INFINITY};
	assert_float_equal(rank_size(&f, 2), 2, 1e-9);
	assert_float_equal(rank_size(&f, 0), RANK_SIZE_MAX, 1e-9);
	f.own = 1e9;
	assert_float_equal(rank_size(&f, 1), RANK_SIZE_MAX, 1e-9);
	f.direction = LP_MARK_ABSENT;
	assert_float_equal(rank_size(&f, 1), RANK_SIZE_ABSENT, 1e-9);
	/* The median is the same, the spread is not. */
	f = (struct lp_finding){.direction = LP_MARK_ABOVE,
		.own = 10,
		.peers = 10,
		.ratio = 1,
		.distance = 35,
		.threshold = 5};
	assert_float_equal(rank_size(&f, 1), 1.5, 1e-9);
	f.ratio = f.own = NAN;
	assert_true(isfinite(rank_size(&f, 1)));
}

static void test_severity(void **state)
{
	double short_and_terrible = rank_severity(10, 3, 3);
	double long_and_mild = rank_severity(0.6, 2000, 2000);
	double short_and_mild = rank_severity(0.6, 3, 3);

	(void)state;
	assert_true(short_and_terrible > 3 * short_and_mild);
	assert_true(long_and_mild > 3 * short_and_mild);
	/* Continuing trouble is worse than trouble that is over. */
	assert_true(rank_severity(2, 40, 40) > rank_severity(2, 0, 40));
	for (uint32_t n = 0; n < 100; n++) {
		assert_true(rank_severity(2, n + 1, n + 1) > rank_severity(2, n, n + 1));
		assert_true(rank_severity(2, n, n + 1) > rank_severity(2, n, n));
		assert_true(rank_severity(2.1, n, n) > rank_severity(2, n, n));
	}
}

static double uniform(void)
{
	return rand() / (double)RAND_MAX;
}

static struct rank_grounds any_grounds(void)
{
	return (struct rank_grounds){.margin = 1 + 20 * uniform() * uniform(),
		.share = uniform(),
		.n_windows = 1 + (uint32_t)(200 * uniform()),
		.n_peers = 2 + (uint32_t)(100 * uniform()),
		.n_metrics = 1 + (uint32_t)(5 * uniform())};
}

/* More of anything that speaks for it never makes limpet less sure. */
static void test_confidence_grows(void **state)
{
	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		struct rank_grounds g = any_grounds(), more;
		double c = rank_confidence(&g);

		assert_true(c >= 0 && c <= 1);
		more = g;
		more.margin *= 1.1;
		assert_true(rank_confidence(&more) > c);
		more = g;
		more.share = fmin(g.share * 1.1, 1);
		assert_true(rank_confidence(&more) >= c);
		more = g;
		more.n_windows++;
		assert_true(rank_confidence(&more) > c);
		more = g;
		more.n_peers++;
		assert_true(rank_confidence(&more) > c);
		more = g;
		more.n_metrics++;
		assert_true(rank_confidence(&more) > c);
		more = g;
		more.trained = true;
		assert_true(rank_confidence(&more) > c);
		assert_true(rank_joint_confidence(c, 0.1) >= c);
		assert_true(rank_joint_confidence(c, 1) <= 1);
	}
}

static void test_confidence_ends(void **state)
{
	struct rank_grounds best = {1e6, 1, 100000, 100000, 30, true},
			    weak = {1, 0.05, 3, 2, 1, false};
	struct rank_grounds odd = {NAN, 2, 3, 2, 1, false};

	(void)state;
	assert_true(rank_confidence(&best) > 0.99);
	assert_true(rank_confidence(&weak) < 0.5);
	assert_true(rank_confidence(&odd) >= 0 && rank_confidence(&odd) <= 1);
}

static void test_order(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 100);
	rig_disks(&r, 8);
	rig_metric(&r, "disk", "await");
	rig_find(&r, "oss1/disk:sdb", "await", LP_MARK_ABOVE, 15, 10, 90, 94);
	rig_find(&r, "oss2/disk:sdb", "await", LP_MARK_ABOVE, 15, 10, 0, 99);
	rig_find(&r, "oss3/disk:sdb", "await", LP_MARK_ABOVE, 9000, 10, 95, 99);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 3);
	assert_int_equal(r.v->suspects[0].component, 2);
	assert_int_equal(r.v->suspects[1].component, 1);
	assert_int_equal(r.v->suspects[2].component, 0);
	assert_int_equal(r.v->suspects[1].persistence, 100);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(r.v->suspects[i].confidence > 0.5 && r.v->suspects[i].confidence < 1);
	assert_int_equal(r.v->suspects[0].first_us, RIG_START_US + 94 * RIG_STEP_US);
	assert_int_equal(r.v->suspects[0].last_us, RIG_START_US + 100 * RIG_STEP_US);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_severity),
		cmocka_unit_test(test_confidence_grows),
		cmocka_unit_test(test_confidence_ends),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
