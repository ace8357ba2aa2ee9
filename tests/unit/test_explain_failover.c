#include "intrepid_rig.h"

static bool has_evidence(const struct lp_suspect *s, const char *words)
{
	for (uint32_t i = 0; i < s->n_evidence; i++) {
		if (strstr(s->evidence[i], words))
			return true;
	}
	return false;
}

static void test_load_follows_lost_path(void **state)
{
	const struct lp_suspect *s;
	struct rig r;

	(void)state;
	intrepid_init(&r);
	find_lost(&r, 2, 10, 0);
	find_load(&r, 2, 10);
	rig_explain(&r);
	s = rig_suspect(&r, attachment(2, 10, 2));
	assert_non_null(s);
	assert_string_equal(s->cause, "lost-path");
	assert_true(has_evidence(s, "carries the load of fs18/disk:2.10"));
	rig_expect_incidents(&r, 1);
	assert_string_equal(r.v->incidents[0].part, attachment(2, 10, 1));
	assert_int_equal(r.v->incidents[0].n_components, 2);
	rig_release(&r);
}

/* The lost server delivers nothing and is not even in the data: only its load is seen. */
static void test_load_alone(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	find_load(&r, 2, 10);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, attachment(2, 10, 2)), "lost-path");
	assert_true(has_evidence(rig_suspect(&r, attachment(2, 10, 2)), "preferred path"));
	rig_release(&r);
}

/* No work at all. */
static void idle(struct rig *r, const char *component)
{
	uint32_t m = rig_metric_find(r, "rd_sec");
	struct lp_table *t = r->v->tables[m];
	uint32_t row = r->v->row_of[m][rig_component(r, component)];

	for (uint32_t i = 0; i < t->n_slots; i++)
		t->values[(size_t)row * t->n_slots + i] = 0;
}

/* Thesis, June 25th: await without any work on an unused path is a slow LUN. */
static void test_slow_without_work(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	idle(&r, attachment(2, 10, 2));
	rig_find(&r, attachment(2, 10, 2), "await", LP_MARK_ABOVE, 40, 0, 5, 39);
	/* This one works, too, though not so much that it is anomalous. */
	rig_find(&r, attachment(1, 11, 2), "await", LP_MARK_ABOVE, 40, 0, 5, 39);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, attachment(2, 10, 2)), "disk-busy");
	assert_string_equal(rig_cause(&r, attachment(1, 11, 2)), "lost-path");
	rig_release(&r);
}

/* Another LUN, another time, or the same name on servers that share nothing. */
static void test_unrelated(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	find_lost(&r, 2, 10, 0);
	idle(&r, attachment(2, 11, 2));
	rig_find(&r, attachment(2, 11, 2), "await", LP_MARK_ABOVE, 40, 0, 5, 39);
	rig_explain(&r);
	rig_expect_incidents(&r, 2);
	rig_release(&r);

	rig_init(&r, 40);
	rig_disks(&r, 8);
	rig_metric(&r, "disk", "rd_sec");
	rig_find(&r, "oss1/disk:sdb", "rd_sec", LP_MARK_ABSENT, 0, 10, 5, 39);
	rig_find(&r, "oss2/disk:sdb", "rd_sec", LP_MARK_ABOVE, 9e3, 0, 5, 39);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss2/disk:sdb"), "disk-hog");
	rig_expect_incidents(&r, 2);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load_follows_lost_path),
		cmocka_unit_test(test_load_alone),
		cmocka_unit_test(test_slow_without_work),
		cmocka_unit_test(test_unrelated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
