/* Layers of the I/O stack: answers are late because of the network, or of what is behind it. */
#include "explain_rig.h"

/* Four servers, each with its layers and what its clients see of it. */
static void make_servers(struct rig *r, bool disks)
{
	static const char *const layers[] = {"server", "storage", "block"};

	rig_init(r, 40);
	for (int i = 1; i <= 4; i++) {
		char name[64], group[64];

		for (int n = 0; n < (disks ? 3 : 1); n++) {
			snprintf(name, sizeof(name), "oss%d/layer:%s", i, layers[n]);
			snprintf(group, sizeof(group), "layer %s", layers[n]);
			rig_add(r, group, name);
		}
		snprintf(name, sizeof(name), "oss%d/peer:clients", i);
		rig_add(r, "peer clients", name);
	}
	rig_metric(r, "layer", "served");
	rig_metric(r, "peer", "answer");
}

/* So many ms instead of 10. */
static void find_slow(struct rig *r, const char *component, const char *metric, double ms)
{
	rig_find(r, component, metric, LP_MARK_ABOVE, ms, 10, 5, 39);
}

static void test_network(void **state)
{
	struct rig r;

	(void)state;
	make_servers(&r, true);
	find_slow(&r, "oss2/peer:clients", "answer", 30);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss2/peer:clients"), "slow-network");
	rig_expect_incidents(&r, 1);
	rig_release(&r);
}

/* Whatever else is slow: a slow disk is the cause of it. */
static void test_disk(void **state)
{
	struct rig r;

	(void)state;
	make_servers(&r, true);
	find_slow(&r, "oss2/peer:clients", "answer", 80);
	find_slow(&r, "oss2/layer:server", "served", 60);
	find_slow(&r, "oss2/layer:block", "served", 200);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss2/peer:clients"), "disk-busy");
	assert_string_equal(rig_cause(&r, "oss2/layer:server"), "disk-busy");
	assert_string_equal(rig_cause(&r, "oss2/layer:block"), "disk-busy");
	rig_expect_incidents(&r, 1);
	rig_release(&r);
}

/* The server works longer on requests, its files and disk do not: their data arrives late. */
static void test_arriving(void **state)
{
	struct rig r;

	(void)state;
	make_servers(&r, true);
	find_slow(&r, "oss2/peer:clients", "answer", 50);
	find_slow(&r, "oss2/layer:server", "served", 30);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss2/peer:clients"), "slow-network");
	assert_string_equal(rig_cause(&r, "oss2/layer:server"), "slow-network");
	rig_release(&r);
}

/* Clients wait for nothing but the server; or nothing is known of its files and disk; or its
 * clients do not wait. */
static void test_server(void **state)
{
	struct rig r;

	(void)state;
	for (int disks = 0; disks < 2; disks++) {
		make_servers(&r, disks);
		find_slow(&r, "oss2/peer:clients", "answer", disks ? 32 : 50);
		find_slow(&r, "oss2/layer:server", "served", 30);
		rig_explain(&r);
		assert_string_equal(rig_cause(&r, "oss2/peer:clients"), "disk-busy");
		assert_string_equal(rig_cause(&r, "oss2/layer:server"), "disk-busy");
		rig_release(&r);
	}
	make_servers(&r, true);
	find_slow(&r, "oss2/layer:server", "served", 30);
	find_slow(&r, "oss3/peer:clients", "answer", 50);
	rig_explain(&r);
	assert_string_equal(rig_cause(&r, "oss2/layer:server"), "disk-busy");
	assert_string_equal(rig_cause(&r, "oss3/peer:clients"), "slow-network");
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_network),
		cmocka_unit_test(test_disk),
		cmocka_unit_test(test_arriving),
		cmocka_unit_test(test_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
