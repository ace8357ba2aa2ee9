#include "explain/coverage.h"

#include "unit.h"
#include "verdict_rig.h"

/* A server's data ends before, or begins with, a slot; its disks have no marks where they have no
 * data. */
static void cut(struct lp_verdict *v, const char *server, uint32_t from, uint32_t to)
{
	for (uint32_t m = 0; m < v->n_tables; m++) {
		const struct lp_series *s = &v->series[m];

		for (uint32_t d = 0; d < RIG_DISKS; d++) {
			double *row = v->tables[m]->values + (size_t)v->row_of[m][d] * RIG_SLOTS;

			if (strncmp(v->components[d]->text, server, strlen(server)) != 0)
				continue;
			for (uint32_t i = 0; i < RIG_SLOTS; i++)
				row[i] = i >= from && i < to ? row[i] : NAN;
			for (uint32_t w = 0; w < s->n_windows; w++) {
				if (s->first[w] < from || s->last[w] >= to)
					s->marks[(size_t)d * s->n_windows + w] = LP_MARK_NONE;
			}
		}
	}
}

static void test_times(void **state)
{
	struct lp_verdict *v = rig_healthy();
	struct coverage c = {0};
	const struct observer_coverage *o;

	(void)state;
	cut(v, "fs1/", 0, 1000);
	cut(v, "fs2/", 400, 1200);
	cut(v, "fs3/", 1200, RIG_SLOTS);
	assert_int_equal(coverage_make(v, &c), 0);
	assert_int_equal(c.n, 3);
	o = coverage_find(&c, "fs1");
	assert_true(o->first_us == RIG_START_US);
	assert_true(o->last_us == RIG_START_US + 1000 * RIG_STEP_US);
	assert_false(coverage_is_alone(&c, o));
	o = coverage_find(&c, "fs3");
	assert_true(o->first_us == RIG_START_US + 1200 * RIG_STEP_US);
	assert_true(coverage_has_data(o));
	assert_true(coverage_is_alone(&c, o));
	assert_true(o->n_compared > 0); /* its disks are peers of one another */
	assert_null(coverage_find(&c, "fs4"));
	coverage_release(&c);
	lp_verdict_free(v);
}

static void test_nobody_else(void **state)
{
	struct lp_verdict *v = rig_healthy();
	struct coverage c = {0};

	(void)state;
	assert_int_equal(coverage_make(v, &c), 0);
	assert_int_equal(c.n_compared, RIG_WINDOWS);
	coverage_release(&c);
	for (uint32_t d = 2; d < RIG_DISKS; d++)
		cut(v, v->components[d]->text, 0, 0);
	assert_int_equal(coverage_make(v, &c), 0);
	assert_int_equal(c.n_compared, 0); /* two cannot be compared */
	assert_false(coverage_has_data(coverage_find(&c, "fs2")));
	coverage_release(&c);
	lp_verdict_free(v);
}

static void test_had_peers(void **state)
{
	struct lp_verdict *v = rig_healthy();
	struct lp_finding f = {.component = RIG_SLOW, .member = RIG_SLOW};

	(void)state;
	cut(v, v->components[RIG_SLOW]->text, 0, 1000);
	assert_true(coverage_had_peers(v, &f));
	for (uint32_t d = 1; d < RIG_DISKS; d++) {
		if (d != RIG_SLOW)
			cut(v, v->components[d]->text, 1000, RIG_SLOTS);
	}
	assert_false(coverage_had_peers(v, &f)); /* one is not enough */
	cut(v, v->components[RIG_SLOW]->text, 0, 0);
	assert_true(coverage_had_peers(v, &f));
	lp_verdict_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_nobody_else),
		cmocka_unit_test(test_had_peers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
