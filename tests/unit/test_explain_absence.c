#include "explain_rig.h"

#include "explain/absence.h"

#define N 200

static void make(struct rig *r)
{
	rig_init(r, N);
	rig_disks(r, 5);
	rig_add(r, "disk", "oss1/disk:sdc");
	rig_metric(r, "disk", "wr_sec");
}

/* Every `every`-th value of a component is there, or is not 0, before slot `end`. */
static void thin(struct rig *r, const char *component, uint32_t every, uint32_t end, double rest)
{
	struct lp_table *t = r->v->tables[0];
	uint32_t row = r->v->row_of[0][rig_component(r, component)];

	for (uint32_t s = 0; s < end; s++) {
		if (s % every)
			t->values[(size_t)row * t->n_slots + s] = rest;
	}
}

static const struct lp_finding *absent(
	struct rig *r, const char *component, double own, uint32_t first, uint32_t last)
{
	return rig_find(r, component, "wr_sec", LP_MARK_ABSENT, own, 10, first, last);
}

static void test_what_is_gone(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	assert_int_equal(absence_of(r.v, absent(&r, "oss1/disk:sdb", 0, 100, 150)), LP_GONE_WORK);
	assert_int_equal(absence_of(r.v, absent(&r, "oss1/disk:sdb", NAN, 100, 150)), LP_GONE_DATA);
	assert_int_equal(
		absence_of(r.v, absent(&r, "oss2/disk:sdb", NAN, 100, 150)), LP_GONE_OBSERVER);
	assert_int_equal(
		absence_of(
			r.v, rig_find(&r, "oss3/disk:sdb", "wr_sec", LP_MARK_ABOVE, 20, 10, 9, 19)),
		LP_GONE_NOTHING);
	rig_release(&r);
}

/* A component that always worked is soon missing; one with few requests, later. */
static void test_chance(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	assert_false(absence_is_chance(r.v, absent(&r, "oss1/disk:sdb", 0, 100, 110)));
	assert_false(absence_is_chance(r.v, absent(&r, "oss2/disk:sdb", NAN, 100, 110)));
	thin(&r, "oss3/disk:sdb", 5, 100, 0);
	thin(&r, "oss4/disk:sdb", 5, 100, NAN);
	assert_true(absence_is_chance(r.v, absent(&r, "oss3/disk:sdb", 0, 100, 110)));
	assert_true(absence_is_chance(r.v, absent(&r, "oss4/disk:sdb", NAN, 100, 110)));
	assert_false(absence_is_chance(r.v, absent(&r, "oss3/disk:sdb", 0, 100, 198)));
	assert_false(absence_is_chance(r.v, absent(&r, "oss4/disk:sdb", NAN, 100, 198)));
	rig_release(&r);
}

/* Windows in which little was done are not without work. */
static void test_still_some(void **state)
{
	const struct lp_finding *f;
	struct rig r;

	(void)state;
	make(&r);
	f = absent(&r, "oss1/disk:sdb", 10, 100, 198);
	thin(&r, "oss1/disk:sdb", 20, N, 0);
	assert_true(absence_is_chance(r.v, f));
	rig_release(&r);
}

/* Absent components have a separate list, and so do those that follow from them; a component that
 * is also slow counts as slow. */
static void test_apart(void **state)
{
	const struct lp_suspect *s;
	struct rig r;

	(void)state;
	rig_init(&r, N);
	rig_disks(&r, 6);
	rig_metric(&r, "disk", "wr_sec");
	rig_metric(&r, "disk", "await");
	absent(&r, "oss1/disk:sdb", 0, 50, 198);
	rig_find(&r, "oss2/disk:sdb", "await", LP_MARK_ABOVE, 40, 10, 50, 198);
	absent(&r, "oss3/disk:sdb", 0, 100, 198);
	rig_find(&r, "oss3/disk:sdb", "await", LP_MARK_ABOVE, 40, 10, 20, 99);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 2);
	assert_int_equal(r.v->n_absent, 1);
	assert_int_equal(r.v->absent[0].component, rig_component(&r, "oss1/disk:sdb"));
	assert_int_equal(r.v->absent[0].gone, LP_GONE_WORK);
	assert_string_equal(r.v->absent[0].cause, "lost-path");
	s = rig_suspect(&r, "oss3/disk:sdb");
	assert_int_equal(s->level, LP_LEVEL_SUSPECT);
	assert_string_equal(s->cause, "disk-busy");
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_gone),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_still_some),
		cmocka_unit_test(test_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
