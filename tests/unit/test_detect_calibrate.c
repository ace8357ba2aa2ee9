/* Thresholds that are learnt from votes of earlier epochs, beside those learnt from all windows
 * anew. */
#include "engine/engine.h"
#include "engine_rig.h"

/* The thresholds of all groups and metrics of a lane are the same. */
static void lanes_equal(const struct lane *a, const struct lane *b)
{
	const struct peers *p = a->peers, *q = b->peers;

	assert_int_equal(!p, !q);
	if (!p || !q)
		return;
	assert_int_equal(p->v->n_groups, q->v->n_groups);
	assert_int_equal(p->v->n_tables, q->v->n_tables);
	for (size_t i = 0; i < (size_t)p->v->n_groups * p->v->n_tables; i++) {
		assert_int_equal(p->worth[i], q->worth[i]);
		if (p->worth[i])
			assert_true(p->looks[i].threshold == q->looks[i].threshold);
	}
}

/* Advance both by a minute at a time; `forgetful` learns from all windows at every epoch. */
static uint32_t epochs_compare(
	struct lp_engine *keeps, struct lp_engine *forgetful, uint32_t end, size_t *ret_bytes)
{
	uint32_t epochs = 0;
	int64_t looked = 0;

	*ret_bytes = 0;
	for (uint32_t second = 60; second <= end; second += 60) {
		for (uint32_t i = 0; i < forgetful->n_lanes; i++)
			kept_votes_release(&forgetful->lanes[i].kept);
		rig_advance(keeps, second);
		rig_advance(forgetful, second);
		for (uint32_t i = 0; i < keeps->n_lanes; i++) {
			lanes_equal(&keeps->lanes[i], &forgetful->lanes[i]);
			*ret_bytes += keeps->lanes[i].kept.bytes;
		}
		epochs += keeps->lanes[0].looked != looked;
		looked = keeps->lanes[0].looked;
	}
	return epochs;
}

static void compare_on(struct rig *r, uint32_t end)
{
	static const char *const metrics[] = {"await", "rd_sec"};
	const struct lp_diagnose_options o = {.metrics = metrics, .n_metrics = 2};
	struct lp_engine *keeps = rig_engine(&o), *forgetful = rig_engine(&o);
	size_t bytes;

	rig_feed_all(r, keeps, end);
	rig_feed_all(r, forgetful, end);
	/* The span of the fast horizon is half an hour: it has moved on several times. */
	assert_true(epochs_compare(keeps, forgetful, end, &bytes) > 6);
	assert_true(bytes > 0);
	lp_engine_free(keeps);
	lp_engine_free(forgetful);
}

static void test_same_thresholds(void **state)
{
	const struct rig_fault slow = {
		.server = 2, .disk = 1, .from = 2000, .to = 2600, .factor = 6};
	struct rig r;

	(void)state;
	rig_init(&r, 6, 5400, &slow, 7);
	compare_on(&r, 5400);
	rig_release(&r);
}

/* A server with later data changes the members that thresholds are learnt from. */
static void test_new_member(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 6, 5400, NULL, 11);
	for (uint32_t i = 0; i < 5400; i++) {
		if (i < 2500)
			memset(r.servers[3].cells[i], 0, sizeof(r.servers[3].cells[i]));
	}
	compare_on(&r, 5400);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_thresholds),
		cmocka_unit_test(test_new_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
