/* Peers that wait for work have no latency, and are not faster for it. */
#include "detect_rig.h"

#include "detect/load.h"

static const struct detect_options by_itself = {0};

#define BUSY 2

/* All take 5 ms a request, `BUSY` takes `own`; the others have nothing to do in most seconds. */
static void fill(struct rig *r, double own, uint32_t idle_percent)
{
	double *values;

	rig_init(r, 6, 300);
	values = rig_add(r, "await", "ms");
	for (uint32_t i = 0; i < r->n_components; i++) {
		for (uint32_t s = 0; s < r->n_slots; s++)
			values[(size_t)i * r->n_slots + s] = i == BUSY
				? own + oracle_uniform()
				: (oracle_below(100) >= idle_percent) * (5 + oracle_uniform());
	}
}

static bool accused(double own, uint32_t idle_percent)
{
	struct rig r;
	bool ret;

	fill(&r, own, idle_percent);
	ret = rig_accused(rig_run(&r, &by_itself), BUSY);
	/* It is out of step in any case: the rule decides, not the comparison. */
	assert_non_null(rig_finding(r.verdict, BUSY, "await"));
	rig_release(&r);
	return ret;
}

static void test_like_the_peers_at_work(void **state)
{
	(void)state;
	assert_false(accused(6, 80));
	assert_false(accused(8.5, 80)); /* a queue of its own */
}

/* A component that does no more than its peers has no load that would explain anything. */
static void test_no_more_load(void **state)
{
	const struct lp_finding *f;
	struct rig r;

	(void)state;
	fill(&r, 6, 80);
	rig_add_noise(&r, "rd_sec", "sectors/s", 20000, 0.2);
	f = rig_finding(rig_run(&r, &by_itself), BUSY, "await");
	assert_non_null(f);
	assert_true(f->load_ratio > 0.9 && f->load_ratio < 1.1);
	assert_false(f->explained_by_load);
	assert_true(f->explained_by_idle);
	rig_release(&r);
}

static void test_slower_at_work(void **state)
{
	(void)state;
	assert_true(accused(20, 80));
	assert_true(accused(13, 80));
}

/* Two of six are slow and never idle: together they are at work for longer than the others, who
 * wait for them. They are no measure of each other. */
static void test_several_slow(void **state)
{
	struct rig r;
	double *values;

	(void)state;
	rig_init(&r, 6, 300);
	values = rig_add(&r, "await", "ms");
	for (uint32_t i = 0; i < r.n_components; i++) {
		for (uint32_t s = 0; s < r.n_slots; s++)
			values[(size_t)i * r.n_slots + s] = i < 2
				? 20 + oracle_uniform()
				: (oracle_below(100) >= 85) * (5 + oracle_uniform());
	}
	rig_run(&r, &by_itself);
	assert_true(rig_accused(r.verdict, 0));
	assert_true(rig_accused(r.verdict, 1));
	assert_int_equal(rig_n_accused(r.verdict), 2);
	rig_release(&r);
}

/* All work in a fifth to two fifths of the seconds; one stops. It is absent from then on, and no
 * other is. */
static void test_now_and_then(void **state)
{
	(void)state;
	for (uint32_t percent = 20; percent <= 40; percent += 10) {
		struct rig r;
		double *values;

		rig_init(&r, 8, 900);
		values = rig_add(&r, "wr_sec", "sectors/s");
		for (uint32_t i = 0; i < r.n_components; i++) {
			for (uint32_t s = 0; s < r.n_slots; s++) {
				bool works = oracle_below(100) < percent;

				values[(size_t)i * r.n_slots + s] = works && (i != BUSY || s < 300)
					? 2e4 + 1e4 * oracle_uniform()
					: 0;
			}
		}
		rig_run(&r, &by_itself);
		assert_non_null(rig_finding(r.verdict, BUSY, "wr_sec"));
		for (uint32_t i = 0; i < r.verdict->n_findings; i++) {
			assert_int_equal(r.verdict->findings[i].component, BUSY);
			assert_int_equal(r.verdict->findings[i].direction, LP_MARK_ABSENT);
		}
		rig_release(&r);
	}
}

/* Where the peers are hardly ever idle, zeroes are no excuse. */
static void test_peers_at_work(void **state)
{
	(void)state;
	assert_true(accused(20, 5));
}

static void test_too_little_to_tell(void **state)
{
	struct rig r;
	struct lp_finding f;

	(void)state;
	fill(&r, 6, 80);
	f = *rig_finding(rig_run(&r, &by_itself), BUSY, "await");
	assert_true(load_idle_explains(r.verdict, &f));
	f.last_us = f.first_us + 4000000; /* four values of its own, and not the one before */
	assert_false(load_idle_explains(r.verdict, &f));
	f.last_us = f.first_us - 90000000;
	assert_false(load_idle_explains(r.verdict, &f));
	rig_release(&r);
}

/* What was done before the finding began does not count, nor is anything of it left out. */
static void test_work_of_its_time(void **state)
{
	const struct lp_verdict *v;
	double *work;
	struct rig r;

	(void)state;
	fill(&r, 6, 80);
	work = rig_add(&r, "rd_sec", "sectors/s");
	for (uint32_t s = 0; s < r.n_slots; s++)
		work[(size_t)BUSY * r.n_slots + s] = s == 9 ? 1e6 : 100 + s;
	v = rig_run(&r, &by_itself);
	/* The slots 10 to 12, which end at 1010, 1011 and 1012 s. */
	assert_true(load_work(v, BUSY, 1009000000, 1012000000) == 111);
	assert_true(isnan(load_work(v, BUSY, 1009000000, 1009000000)));
	assert_true(isnan(load_work(v, BUSY, 2000000000, 2100000000)));
	assert_true(load_work(v, BUSY, 1298000000, 2100000000) == 399);
	assert_true(load_work_of_peers(v, 0, BUSY, 1009000000, 1012000000) == 0);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like_the_peers_at_work),
		cmocka_unit_test(test_no_more_load),
		cmocka_unit_test(test_slower_at_work),
		cmocka_unit_test(test_several_slow),
		cmocka_unit_test(test_now_and_then),
		cmocka_unit_test(test_peers_at_work),
		cmocka_unit_test(test_too_little_to_tell),
		cmocka_unit_test(test_work_of_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
