#include "report/peer_lines.h"

#include "unit.h"
#include "verdict_rig.h"

static struct peer_lines make(const struct lp_verdict *v, uint32_t finding, uint32_t points,
	uint32_t peer_points, uint32_t peers)
{
	struct peer_lines l;

	assert_int_equal(peer_lines_make(v, &v->findings[finding],
				 &(struct peer_lines_options){points, peer_points, peers}, &l),
		0);
	return l;
}

/* With a point for each slot nothing is reduced. */
static void test_every_slot(void **state)
{
	struct lp_verdict *v = rig_verdict();
	const double *row = v->tables[0]->values + (size_t)(RIG_DISKS - 1 - RIG_SLOW) * RIG_SLOTS;
	struct peer_lines l = make(v, 0, RIG_SLOTS, RIG_SLOTS, 40);

	(void)state;
	assert_int_equal(l.n_points, RIG_SLOTS);
	for (uint32_t i = 0; i < RIG_SLOTS; i++)
		assert_true(l.own[i] == row[i] && l.low[i] == row[i] && l.high[i] == row[i]);
	assert_int_equal(l.n_others, RIG_DISKS - 1);
	assert_int_equal(l.n_peers, RIG_DISKS - 1);
	assert_int_equal(l.n_median, RIG_DISKS - 1);
	peer_lines_release(&l);
	lp_verdict_free(v);
}

static void test_reduced(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct peer_lines l = make(v, 0, 600, 200, 10);
	double low = 0;

	(void)state;
	assert_int_equal(l.n_points, 600);
	assert_int_equal(l.n_peer_points, 200);
	assert_int_equal(l.n_peers, 10);
	assert_int_equal(l.n_others, 23);
	for (uint32_t i = 0; i < 600; i++) {
		assert_true(l.low[i] <= l.own[i] && l.own[i] <= l.high[i]);
		assert_true(l.median[i] > 4 && l.median[i] < 20);
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
	struct peer_lines l = make(v, 2, 600, 200, 40);

	(void)state;
	assert_true(!isnan(l.own[0]) && isnan(l.own[599]) && isnan(l.low[599]));
	assert_false(isnan(l.median[599]));
	peer_lines_release(&l);
	v->row_of[0][RIG_LOST] = UINT32_MAX;
	v->row_of[0][0] = UINT32_MAX;
	l = make(v, 2, 600, 200, 40);
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
	l = make(v, 0, 600, 200, 40);
	assert_true(l.top > 40 && l.top < 100);
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
	l = make(v, 0, 600, 200, 40);
	assert_true(isnan(l.own[0]) && isnan(l.median[0]));
	assert_int_equal(l.n_peers, 0);
	assert_true(l.top == 1);
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
		cmocka_unit_test(test_nothing_to_draw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
