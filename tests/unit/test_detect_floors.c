/* Floors of latencies: disks that rotate, and drives whose requests take a tenth of a millisecond.
 */
#include "engine/engine.h"
#include "engine_rig.h"

#define SERVERS 6
#define SECONDS 2400

/* Requests take `parts` times less than the rig's 4 to 6 ms. */
static void rig_hasten(struct rig *r, int64_t parts)
{
	for (uint32_t i = 0; i < r->n; i++) {
		for (uint32_t s = 0; s < r->servers[i].n_samples; s++) {
			for (uint32_t d = 0; d < RIG_DISKS; d++)
				r->servers[i].cells[s][d][RD_TICKS] /= parts;
		}
	}
}

static struct lp_engine *engine_of(struct rig *r)
{
	static const char *const metrics[] = {"await"};
	static const struct lp_diagnose_options o = {.metrics = metrics, .n_metrics = 1};
	struct lp_engine *e = rig_engine(&o);

	rig_feed_all(r, e, SECONDS);
	rig_advance(e, SECONDS);
	return e;
}

/* The floor of await on the fast horizon. */
static double floor_of(int64_t parts)
{
	struct lp_engine *e;
	struct rig r;
	double floor;

	rig_init(&r, SERVERS, SECONDS, NULL, 5);
	rig_hasten(&r, parts);
	e = engine_of(&r);
	assert_non_null(e->lanes[0].peers);
	assert_non_null(peers_get(e->lanes[0].peers, 0, "await"));
	floor = peers_get(e->lanes[0].peers, 0, "await")->floor;
	lp_engine_free(e);
	rig_release(&r);
	return floor;
}

static void test_floor(void **state)
{
	(void)state;
	assert_true(floor_of(1) == 1); /* 5 ms: the catalogue's */
	assert_float_equal(floor_of(10), 0.5, 0.05);
	assert_float_equal(floor_of(50), 0.1, 0.02);
	assert_float_equal(floor_of(500), 0.1, 1e-9); /* 0.01 ms: no less than a tenth of it */
}

static uint32_t suspects_of(const struct rig_fault *f, int64_t parts)
{
	struct lp_engine *e;
	struct lp_verdict *v;
	struct rig r;
	uint32_t n;

	rig_init(&r, SERVERS, SECONDS, f, 6);
	rig_hasten(&r, parts);
	e = engine_of(&r);
	v = rig_verdict_of(e);
	n = v->n_suspects;
	if (n)
		assert_string_equal(v->components[v->suspects[0].component]->text, "oss2/disk:sdb");
	lp_verdict_free(v);
	lp_engine_free(e);
	rig_release(&r);
	return n;
}

/* 0.8 ms instead of 0.1 are a fault of a drive, though no operator of rotating disks would mind. */
static void test_slow_drive(void **state)
{
	const struct rig_fault slow = {
		.server = 2, .disk = 1, .from = 900, .to = SECONDS, .factor = 8};

	(void)state;
	assert_int_equal(suspects_of(&slow, 50), 1);
	assert_int_equal(suspects_of(NULL, 50), 0);
	/* A few hundredths of a millisecond do not matter. */
	assert_int_equal(suspects_of(&slow, 1000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_floor),
		cmocka_unit_test(test_slow_drive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
