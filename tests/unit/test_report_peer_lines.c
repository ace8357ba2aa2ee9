#include "report/peer_lines.h"

#include "unit.h"
#include "verdict_rig.h"

static struct peer_lines make(const struct lp_verdict *v, uint32_t finding, uint32_t points)
{
	const struct lp_finding *f = &v->findings[finding];
	struct peer_lines l;

	assert_int_equal(peer_lines_make(v, f->component, f->group, f->metric, points, &l), 0);
	return l;
}

/* With a point for each slot nothing is reduced. */
static void test_every_slot(void **state)
{
	struct lp_verdict *v = rig_verdict();
	const double *row = v->tables[0]->values + (size_t)(RIG_DISKS - 1 - RIG_SLOW) * RIG_SLOTS;
	struct peer_lines l = make(v, 0, RIG_SLOTS);

	(void)state;
	assert_int_equal(l.n_points, RIG_SLOTS);
	for (uint32_t i = 0; i < RIG_SLOTS; i++)
		assert_true(l.own[i] == row[i] && l.low[i] == row[i] && l.high[i] == row[i]);
	assert_int_equal(l.n_others, RIG_DISKS - 1);
	assert_int_equal(l.n_median, RIG_DISKS - 1);
	peer_lines_release(&l);
	lp_verdict_free(v);
}

static void test_reduced(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct peer_lines l = make(v, 0, 600);
	double low = 0;

	(void)state;
	assert_int_equal(l.n_points, 600);
	assert_int_equal(l.n_others, 23);
	for (uint32_t i = 0; i < 600; i++) {
		assert_true(l.low[i] <= l.own[i] && l.own[i] <= l.high[i]);
		assert_true(l.median[i] > 4 && l.median[i] < 20);
		assert_true(l.bottom[i] <= l.median[i] && l.median[i] <= l.top[i]);
		low += l.own[i] < l.median[i] * 1.5;
	}
	/* It is slow from a third of the time on. */
	assert_true(low == 200);
	peer_lines_release(&l);
	lp_verdict_free(v);
}

/* The lost path has no await at its end, and no row at all is no data either. */
static void test_missing(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct peer_lines l = make(v, 2, 600);

	(void)state;
	assert_true(!isnan(l.own[0]) && isnan(l.own[599]) && isnan(l.low[599]));
	assert_false(isnan(l.median[599]));
	peer_lines_release(&l);
	v->row_of[0][RIG_LOST] = UINT32_MAX;
	v->row_of[0][0] = UINT32_MAX;
	l = make(v, 2, 600);
	assert_true(isnan(l.own[0]));
	assert_int_equal(l.n_others, RIG_DISKS - 2);
	peer_lines_release(&l);
	lp_verdict_free(v);
}

/* One spike must not flatten everything else. */
static void test_top_ignores_a_spike(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct peer_lines l;

	(void)state;
	v->tables[0]->values[(size_t)(RIG_DISKS - 1 - RIG_SLOW) * RIG_SLOTS + 7] = 1e6;
	l = make(v, 0, 600);
	assert_true(l.ceiling > 40 && l.ceiling < 100);
	peer_lines_release(&l);
	lp_verdict_free(v);
}

/* Of the group alone: no own line, and every member is a peer. */
static void test_group_alone(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct peer_lines l;
	double own[600];

	(void)state;
	assert_int_equal(peer_lines_make(v, UINT32_MAX, 0, 0, 600, &l), 0);
	assert_int_equal(l.n_others, RIG_DISKS);
	assert_true(isnan(l.own[0]) && isfinite(l.median[0]));
	peer_lines_release(&l);
	l = make(v, 0, 600);
	peer_lines_own(v, RIG_SLOW, 0, 600, own);
	assert_memory_equal(own, l.own, sizeof(own));
	peer_lines_release(&l);
	lp_verdict_free(v);
}

static void test_nothing_to_draw(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct peer_lines l;

	(void)state;
	for (size_t i = 0; i < (size_t)RIG_DISKS * RIG_SLOTS; i++)
		v->tables[0]->values[i] = i % 2 ? NAN : INFINITY;
	v->groups[0].n_members = 1;
	v->groups[0].members[0] = RIG_SLOW;
	l = make(v, 0, 600);
	assert_true(isnan(l.own[0]) && isnan(l.median[0]));
	assert_true(l.ceiling == 1);
	peer_lines_release(&l);
	lp_verdict_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_slot),
		cmocka_unit_test(test_reduced),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_top_ignores_a_spike),
		cmocka_unit_test(test_group_alone),
		cmocka_unit_test(test_nothing_to_draw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
