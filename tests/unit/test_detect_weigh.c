#include "detect_rig.h"

#include "detect/weigh.h"

static void test_bar(void **state)
{
	double before = 0;

	(void)state;
	assert_true(weigh_bar(1) == 5);
	assert_true(weigh_bar(6) == 5);
	assert_true(weigh_bar(20) == 10);
	assert_true(fabs(weigh_bar(100) - 25) < 1e-9);
	assert_true(weigh_bar(1e6) == 100);
	for (uint32_t n = 1; n < 100000; n += 1 + n / 10) {
		assert_true(weigh_bar(n) >= before);
		before = weigh_bar(n);
	}
}

static void test_culprit(void **state)
{
	(void)state;
	for (int role = LP_ROLE_OTHER; role <= LP_ROLE_TROUBLE; role++)
		assert_true(weigh_culprit(role, LP_MARK_ABSENT));
	assert_true(weigh_culprit(LP_ROLE_LATENCY, LP_MARK_ABOVE));
	assert_false(weigh_culprit(LP_ROLE_LATENCY, LP_MARK_BELOW));
	assert_true(weigh_culprit(LP_ROLE_WINDOW, LP_MARK_BELOW));
	assert_false(weigh_culprit(LP_ROLE_WINDOW, LP_MARK_ABOVE));
	assert_true(weigh_culprit(LP_ROLE_TROUBLE, LP_MARK_ABOVE));
}

/* Short and terrible, long and mild: both count; short and mild does not. */
static void test_short_and_long(void **state)
{
	static const struct {
		uint32_t from, to;
		double factor;
		bool counts;
	} cases[] = {
		{600, 780, 20, true},
		{0, 2400, 1.8, true},
		{600, 780, 1.8, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static const struct detect_options by_itself = {0};
		struct rig r;
		double *await;

		rig_init(&r, 8, 2400);
		await = rig_add_noise(&r, "await", "ms", 20, 0.3);
		rig_scale(&r, await, 1, cases[i].from, cases[i].factor);
		rig_scale(&r, await, 1, cases[i].to, 1 / cases[i].factor);
		rig_run(&r, &by_itself);
		assert_int_equal(rig_n_accused(r.verdict), cases[i].counts);
		assert_true(cases[i].counts || r.verdict->n_anomalies > 0);
		rig_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bar),
		cmocka_unit_test(test_culprit),
		cmocka_unit_test(test_short_and_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
