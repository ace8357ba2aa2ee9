#include "intrepid_rig.h"

static void test_one_suspect(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	find_slow(&r, 2, 34, 5, 39);
	rig_explain(&r);
	rig_expect_incidents(&r, 1);
	assert_string_equal(r.v->incidents[0].part, attachment(2, 34, 1));
	assert_string_equal(r.v->incidents[0].cause, "disk-busy");
	assert_int_equal(r.v->incidents[0].n_components, 1);
	assert_int_equal(r.v->incidents[0].n_of_part, 1);
	assert_non_null(r.v->incidents[0].summary);
	assert_non_null(r.v->incidents[0].advice);
	rig_release(&r);
}

/* Thesis, January 16th: jittery await for 11 LUNs of one array, spread over its controllers. */
static void test_drawer(void **state)
{
	const struct lp_incident *incident;
	struct rig r;

	(void)state;
	intrepid_init(&r);
	for (unsigned i = 0; i < 11; i++)
		find_slow(&r, 1, i * 6 + i % 3, 5 + i, 20 + i);
	rig_explain(&r);
	rig_expect_incidents(&r, 1);
	incident = rig_incident(&r, "array:ddn1");
	assert_non_null(incident);
	assert_int_equal(incident->n_components, 11);
	assert_int_equal(incident->n_of_part, LUNS);
	assert_int_equal(incident->first_us, RIG_START_US + 4 * RIG_STEP_US);
	assert_int_equal(incident->last_us, RIG_START_US + 31 * RIG_STEP_US);
	assert_int_equal(strncmp(incident->summary, "array ddn1 ", strlen("array ddn1 ")), 0);
	rig_release(&r);
}

static void test_fifty_luns(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	for (unsigned i = 0; i < 50; i++)
		find_slow(&r, 3, i, 5, 39);
	rig_explain(&r);
	rig_expect_incidents(&r, 1);
	assert_non_null(rig_incident(&r, "array:ddn3"));
	rig_release(&r);
}

/* All primaries through one controller are gone, and their load is elsewhere. */
static void test_failed_controller(void **state)
{
	const struct lp_incident *incident;
	struct rig r;

	(void)state;
	intrepid_init(&r);
	for (unsigned lun = 0; lun < LUNS; lun++) {
		if (lun % 8 < 4) {
			find_lost(&r, 2, lun, NAN);
			find_load(&r, 2, lun);
		}
	}
	rig_explain(&r);
	rig_expect_incidents(&r, 1);
	incident = rig_incident(&r, "controller:ddn2a");
	assert_non_null(incident);
	assert_string_equal(incident->cause, "lost-path");
	assert_int_equal(incident->n_components, LUNS); /* lost ones, and those with their load */
	assert_int_equal(incident->n_of_part, LUNS / 2);
	assert_non_null(strstr(incident->summary, "36 of its 36"));
	rig_release(&r);
}

/* The block devices exist, but are not used ("0" await). */
static void test_idle_controller(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	for (unsigned lun = 0; lun < LUNS; lun++) {
		if (lun % 8 >= 4 && lun != 45) /* nearly all */
			find_lost(&r, 0, lun, 0);
	}
	rig_explain(&r);
	rig_expect_incidents(&r, 1);
	assert_non_null(rig_incident(&r, "controller:ddn0b"));
	rig_release(&r);
}

static void find_dead_server(struct rig *r, unsigned array, unsigned server)
{
	for (unsigned lun = server; lun < LUNS; lun += 8) {
		find_lost(r, array, lun, NAN);
		find_load(r, array, lun);
		/* It sees other LUNs in second place, and these, too, are gone. */
		rig_find(r, attachment(array, (lun + 4) % LUNS, 2), "await", LP_MARK_ABSENT, NAN, 0,
			5, 39);
	}
}

static void test_dead_server(void **state)
{
	const struct lp_incident *incident;
	struct rig r;

	(void)state;
	intrepid_init(&r);
	find_dead_server(&r, 2, 0);
	rig_explain(&r);
	rig_expect_incidents(&r, 1);
	incident = rig_incident(&r, "observer:fs16");
	assert_non_null(incident);
	assert_string_equal(incident->cause, "server-down");
	assert_int_equal(incident->n_of_part, 18);
	assert_int_equal(incident->n_components, 27);
	assert_string_equal(incident->summary, "no data from fs16 since 2011-05-09T00:04:00Z");
	rig_release(&r);
}

/* A server that has one component only. */
static void test_dead_small_server(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 40);
	rig_disks(&r, 4);
	rig_metric(&r, "disk", "await");
	rig_find(&r, "oss3/disk:sdb", "await", LP_MARK_ABSENT, NAN, 10, 9, 39);
	rig_explain(&r);
	rig_expect_incidents(&r, 1);
	assert_string_equal(r.v->incidents[0].part, "observer:oss3");
	assert_string_equal(r.v->incidents[0].cause, "server-down");
	rig_release(&r);
}

static void test_two_problems(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	for (unsigned i = 0; i < 11; i++)
		find_slow(&r, 1, i * 6 + i % 3, 5, 39);
	find_dead_server(&r, 2, 3);
	find_slow(&r, 3, 70, 5, 39);
	rig_explain(&r);
	rig_expect_incidents(&r, 3);
	assert_non_null(rig_incident(&r, "array:ddn1"));
	assert_non_null(rig_incident(&r, "observer:fs19"));
	assert_non_null(rig_incident(&r, attachment(3, 70, 1)));
	/* Absent ones come last, whatever their severity. */
	assert_true(r.v->incidents[0].severity >= r.v->incidents[1].severity);
	assert_int_equal(r.v->incidents[1].level, LP_LEVEL_SUSPECT);
	assert_int_equal(r.v->incidents[2].level, LP_LEVEL_ABSENT);
	assert_string_equal(r.v->incidents[2].part, "observer:fs19");
	rig_release(&r);
}

/* A large problem that shows in all groups does not hide a small one in one group. */
static void test_large_beside_small(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	for (unsigned lun = 0; lun < LUNS; lun++) {
		for (unsigned array = 0; array < 3; array++) {
			find_lost(&r, array, lun, 0);
			rig_find(&r, attachment(array, lun, 2), "await", LP_MARK_ABSENT, 0, 1, 5,
				39);
		}
		if (lun % 8 == 5 && lun > 8) /* the worst of all, nearly a server's */
			rig_find(&r, attachment(3, lun, 1), "await", LP_MARK_ABSENT, 0, 10, 3, 39);
	}
	rig_explain(&r);
	rig_expect_incidents(&r, 4);
	assert_non_null(rig_incident(&r, "server:fs29"));
	assert_int_equal(rig_incident(&r, "server:fs29")->n_components, 8);
	rig_release(&r);
}

/* The same array, but at different times, or in different ways. */
static void test_other_times_and_ways(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	for (unsigned i = 0; i < 6; i++) {
		find_slow(&r, 1, i * 5, 2, 15);
		find_slow(&r, 1, i * 5 + 40, 18, 39);
	}
	rig_explain(&r);
	rig_expect_incidents(&r, 2);
	assert_int_equal(r.v->incidents[0].n_components, 6);
	assert_int_equal(r.v->incidents[1].n_components, 6);
	rig_release(&r);

	intrepid_init(&r);
	for (unsigned lun = 0; lun < LUNS; lun++) {
		if (lun % 8 < 4)
			find_lost(&r, 2, lun, 0);
		else
			find_slow(&r, 2, lun, 5, 39);
	}
	rig_explain(&r);
	rig_expect_incidents(&r, 2);
	assert_non_null(rig_incident(&r, "controller:ddn2a"));
	assert_non_null(rig_incident(&r, "controller:ddn2b"));
	rig_release(&r);
}

/* Two of the many disks of a server are two problems; all of them are one of the server. */
static void test_disks_of_a_server(void **state)
{
	struct rig r;

	(void)state;
	for (unsigned n = 1; n <= 12; n++) {
		rig_init(&r, 40);
		for (unsigned i = 0; i < 10 * 12; i++) {
			char name[64];

			snprintf(name, sizeof(name), "oss%u/disk:sd%c", i / 12,
				(char)('a' + i % 12));
			rig_add(&r, "disk", name);
		}
		rig_metric(&r, "disk", "await");
		for (unsigned i = 0; i < n; i++)
			rig_find(&r, r.v->components[36 + i]->text, "await", LP_MARK_ABOVE, 50, 10,
				5, 39);
		rig_explain(&r);
		rig_expect_incidents(&r, n <= 2 ? n : 1);
		if (n > 2)
			assert_string_equal(r.v->incidents[0].part, "observer:oss3");
		rig_release(&r);
	}
}

/* Loss on the way to a server is seen by its clients, at their ends. */
static void test_remote(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 40);
	for (unsigned c = 0; c < 8; c++) {
		for (unsigned s = 1; s <= 6; s++) {
			char name[64];

			snprintf(name, sizeof(name), "client%u/tcp:10.0.0.%u:out", c, s);
			rig_add(&r, "tcp", name);
		}
	}
	rig_metric(&r, "tcp", "cwnd");
	for (unsigned c = 0; c < 7; c++)
		rig_find(&r, r.v->components[c * 6 + 3]->text, "cwnd", LP_MARK_BELOW, 4, 40, 5, 39);
	rig_explain(&r);
	rig_expect_incidents(&r, 1);
	assert_string_equal(r.v->incidents[0].part, "remote:10.0.0.4");
	assert_string_equal(r.v->incidents[0].cause, "packet-loss");
	assert_int_equal(r.v->incidents[0].n_of_part, 8);
	rig_release(&r);
}

/* The same, seen from both ends: the topology knows the addresses of the servers. */
static void test_remote_is_observer(void **state)
{
	struct rig r;
	char name[64];

	(void)state;
	rig_init(&r, 40);
	rig_topology(&r,
		"version: 1\ncomponents:\n"
		"  - match: 'oss{n}/*'\n    attributes: {address: '10.0.0.{n}'}\n");
	for (unsigned c = 1; c <= 8; c++) {
		for (unsigned s = 1; s <= 6; s++) {
			snprintf(name, sizeof(name), "client%u/tcp:10.0.0.%u:out", c, s);
			rig_add(&r, "tcp out", name);
			snprintf(name, sizeof(name), "oss%u/tcp:10.0.1.%u:in", s, c);
			rig_add(&r, "tcp in", name);
		}
	}
	rig_metric(&r, "tcp", "cwnd");
	for (unsigned c = 1; c <= 8; c++) {
		snprintf(name, sizeof(name), "client%u/tcp:10.0.0.4:out", c);
		rig_find(&r, name, "cwnd", LP_MARK_BELOW, 4, 40, 5, 39);
		snprintf(name, sizeof(name), "oss4/tcp:10.0.1.%u:in", c);
		rig_find(&r, name, "cwnd", LP_MARK_BELOW, 4, 40, 5, 39);
	}
	rig_explain(&r);
	rig_expect_incidents(&r, 1);
	assert_string_equal(r.v->incidents[0].part, "observer:oss4");
	assert_int_equal(r.v->incidents[0].n_components, 16);
	rig_release(&r);
}

static void test_nothing(void **state)
{
	struct rig r;

	(void)state;
	intrepid_init(&r);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects + r.v->n_incidents + r.v->n_asymmetries, 0);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_suspect),
		cmocka_unit_test(test_drawer),
		cmocka_unit_test(test_fifty_luns),
		cmocka_unit_test(test_failed_controller),
		cmocka_unit_test(test_idle_controller),
		cmocka_unit_test(test_dead_server),
		cmocka_unit_test(test_dead_small_server),
		cmocka_unit_test(test_two_problems),
		cmocka_unit_test(test_large_beside_small),
		cmocka_unit_test(test_other_times_and_ways),
		cmocka_unit_test(test_disks_of_a_server),
		cmocka_unit_test(test_remote),
		cmocka_unit_test(test_remote_is_observer),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
