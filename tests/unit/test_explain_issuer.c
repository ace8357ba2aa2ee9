#include "intrepid_rig.h"

/* A server's own load on all LUNs that it sees, of both priorities (and more, where asked). */
static void load_server(struct rig *r, double load_ratio, unsigned n_primaries)
{
	unsigned done = 0;

	for (unsigned lun = 0; lun < LUNS; lun += 8) {
		const char *second = attachment(1, (lun + 4) % LUNS, 2);

		if (done++ < n_primaries)
			rig_find(r, attachment(1, lun, 1), "await", LP_MARK_ABOVE, 6, 2, 5, 39)
				->load_ratio = load_ratio;
		rig_find(r, second, "await", LP_MARK_ABOVE, 6, 0, 5, 39)->load_ratio = load_ratio;
	}
}

static void test_workload(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	load_server(&r, NAN, 9);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 0);
	assert_int_equal(r.v->n_asymmetries, 18);
	for (uint32_t i = 0; i < r.v->n_asymmetries; i++)
		assert_string_equal(r.v->asymmetries[i].cause, "server-workload");
	rig_release(&r);
}

/* Slower for the same work: not load, but trouble of the server. */
static void test_sick_server(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	load_server(&r, 1, 9);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 18);
	rig_expect_incidents(&r, 1);
	assert_string_equal(r.v->incidents[0].part, "server:fs8");
	rig_release(&r);
}

/* Some of its attachments only: that is no workload of the server. */
static void test_some_attachments(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	for (unsigned lun = 0; lun < 24; lun += 8)
		find_slow(&r, 1, lun, 5, 39);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 3);
	rig_release(&r);
}

static void test_without_priorities(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	topology_free(r.topology);
	r.topology = NULL;
	load_server(&r, NAN, 9);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 18);
	rig_release(&r);
}

/* One LUN is slow in its own right while its server runs a workload at another time. */
static void test_other_time(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	for (unsigned lun = 8; lun < LUNS; lun += 8) {
		find_slow(&r, 1, lun, 0, 8);
		rig_find(
			&r, attachment(1, (lun + 4) % LUNS, 2), "await", LP_MARK_ABOVE, 6, 0, 0, 8);
	}
	find_slow(&r, 1, 0, 0, 39);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 1);
	assert_non_null(rig_suspect(&r, attachment(1, 0, 1)));
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_workload),
		cmocka_unit_test(test_sick_server),
		cmocka_unit_test(test_some_attachments),
		cmocka_unit_test(test_without_priorities),
		cmocka_unit_test(test_other_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
