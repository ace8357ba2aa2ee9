/* Connections with hosts that are not recorded. */
#include "explain_rig.h"

/* Six clients that connect to watched servers and to two strangers. */
static void rig_clients(struct rig *r, bool watched)
{
	rig_init(r, 20);
	for (uint32_t i = 1; i <= 6; i++) {
		char name[64];

		if (watched) {
			snprintf(name, sizeof(name), "c%u/tcp:all:out", i);
			rig_add(r, "tcp all out", name);
		}
		snprintf(name, sizeof(name), "c%u/tcp:10.0.0.4:out", i);
		rig_add(r, "tcp out", name);
		snprintf(name, sizeof(name), "c%u/tcp:10.0.0.5:out", i);
		rig_add(r, "tcp out", name);
	}
	rig_metric(r, "tcp", "rtt");
}

static void slow(struct rig *r, const char *component)
{
	rig_find(r, component, "rtt", LP_MARK_ABOVE, 40, 10, 5, 19);
}

/* A single one says nothing where others say that its observer is well. */
static void test_single(void **state)
{
	struct rig r;

	(void)state;
	rig_clients(&r, true);
	slow(&r, "c3/tcp:10.0.0.5:out");
	slow(&r, "c4/tcp:10.0.0.4:out");
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 0);
	assert_int_equal(r.v->n_asymmetries, 0);
	rig_release(&r);
}

/* Connections with recorded hosts, and those of an observer that has no others, count. */
static void test_others(void **state)
{
	struct rig r;

	(void)state;
	rig_clients(&r, true);
	slow(&r, "c3/tcp:all:out");
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 1);
	rig_release(&r);
	rig_clients(&r, false);
	slow(&r, "c3/tcp:10.0.0.5:out");
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 1);
	rig_release(&r);
}

/* What most say of the same stranger is believed. */
static void test_many(void **state)
{
	struct rig r;

	(void)state;
	rig_clients(&r, true);
	slow(&r, "c1/tcp:10.0.0.5:out");
	slow(&r, "c2/tcp:10.0.0.5:out");
	slow(&r, "c3/tcp:10.0.0.5:out");
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 0); /* half */
	rig_release(&r);
	rig_clients(&r, true);
	slow(&r, "c1/tcp:10.0.0.5:out");
	slow(&r, "c2/tcp:10.0.0.5:out");
	slow(&r, "c3/tcp:10.0.0.5:out");
	slow(&r, "c4/tcp:10.0.0.5:out");
	slow(&r, "c4/tcp:10.0.0.4:out");
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 4);
	assert_null(rig_suspect(&r, "c4/tcp:10.0.0.4:out"));
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
