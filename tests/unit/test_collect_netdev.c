#include "collect_run.h"

#define REST " 1 0 0 0 0 0 0 "
#define LINE(name, rx, tx) "  " name ": " rx REST tx REST "\n"

static void put_nets(const char *dir, const char *lines)
{
	char text[1024];

	snprintf(text, sizeof(text), "Inter-| Receive | Transmit\n face |bytes |bytes\n%s", lines);
	tree_put(dir, "proc/net/dev", text);
}

static void put_ifindex(const char *dir, const char *name, const char *ifindex)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/class/net/%s/ifindex", name);
	tree_put(dir, path, ifindex);
}

static void assert_recorded(const char *const *globs, unsigned n_globs, const char *want)
{
	struct run r;

	run_init_tree(&r, "netdev", "kernel-2.6.32", 1);
	r.config.nets = globs;
	r.config.n_nets = n_globs;
	run_sample(&r);
	run_assert_names(&r, want);
	assert_int_equal(run_value(&r, "eth1", "rx_bytes", 0), 2000000000);
	assert_int_equal(run_value(&r, "eth1", "tx_packets", 0), 1000000);
	run_close(&r);
}

static void test_which_interfaces(void **state)
{
	const char *globs[] = {"l*", "eth1"}, *but[] = {"!eth0"};

	(void)state;
	assert_recorded(NULL, 0, "eth0 eth1");
	assert_recorded(globs, 2, "lo eth1");
	assert_recorded(but, 1, "eth1");
}

static void test_labels(void **state)
{
	struct run r;

	(void)state;
	run_init_tree(&r, "netdev", "kernel-6.1-nvme", 2);
	run_sample(&r);
	run_assert_label(&r, "ens1f1np1", "ifindex", "3");
	run_assert_label(&r, "ens1f1np1", "speed", "100000");
	run_assert_label(&r, "ens1f1np1", "mac", "b8:ce:f6:00:00:02");
	run_assert_label(&r, "ens1f1np1", "driver", "mlx5_core");
	run_close(&r);
}

static void test_rename(void **state)
{
	struct run r;

	(void)state;
	run_init_tree(&r, "netdev", "vanish", 1);
	run_all_moments(&r);
	run_assert_names(&r, "eth0 eth1 eth9");
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(run_state(&r, "eth0", i), i ? LP_PRESENT : LP_PRESENT | LP_FRESH);
		assert_int_equal(run_state(&r, "eth1", i) & LP_PRESENT, i < 3 ? LP_PRESENT : 0);
	}
	assert_int_equal(run_state(&r, "eth9", 2), LP_ABSENT);
	assert_int_equal(run_state(&r, "eth9", 3), LP_PRESENT | LP_FRESH);
	assert_int_equal(run_state(&r, "eth9", 4), LP_PRESENT);
	run_close(&r);
}

static void test_swap_of_names(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	put_nets(dir, LINE("a", "100", "100") LINE("b", "500", "500") LINE("c", "7", "7"));
	put_ifindex(dir, "a", "2\n");
	put_ifindex(dir, "b", "3\n");
	put_ifindex(dir, "c", "4\n");
	run_init(&r, "netdev", dir);
	run_sample(&r);
	/* The kernel's order stays, the names change: for "a" the counters seem to go on. */
	put_nets(dir, LINE("b", "501", "501") LINE("a", "502", "502") LINE("c", "8", "8"));
	put_ifindex(dir, "a", "3\n");
	put_ifindex(dir, "b", "2\n");
	run_sample(&r);
	assert_int_equal(run_state(&r, "a", 1), LP_PRESENT | LP_FRESH);
	assert_int_equal(run_state(&r, "b", 1), LP_PRESENT | LP_FRESH);
	assert_int_equal(run_state(&r, "c", 1), LP_PRESENT);
	run_assert_label(&r, "a", "ifindex", "3");
	run_close(&r);
	tree_remove(dir);
}

static void test_others_go_on_when_one_leaves(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	put_nets(dir, LINE("a", "1", "1") LINE("b", "2", "2") LINE("c", "3", "3"));
	put_ifindex(dir, "b", "3\n");
	run_init(&r, "netdev", dir);
	run_sample(&r);
	put_nets(dir, LINE("b", "3", "3") LINE("c", "4", "4"));
	run_sample(&r);
	assert_int_equal(run_state(&r, "a", 1), LP_ABSENT);
	assert_int_equal(run_state(&r, "b", 1), LP_PRESENT);
	/* Nothing proves that c is the same, so no rate is taken. */
	assert_int_equal(run_state(&r, "c", 1), LP_PRESENT | LP_FRESH);
	put_nets(dir, LINE("b", "0", "3") LINE("c", "5", "5"));
	run_sample(&r); /* b was reset */
	assert_int_equal(run_state(&r, "b", 2), LP_PRESENT | LP_FRESH);
	assert_int_equal(run_state(&r, "c", 2), LP_PRESENT);
	run_close(&r);
	tree_remove(dir);
}

static void test_bad_lines_are_said_once(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	put_nets(dir, "rubbish\n" LINE("eth0:1", "1", "1") "eth1: 5\n" LINE("e\xc3\xbc", "1", "1"));
	run_init(&r, "netdev", dir);
	run_sample(&r);
	run_sample(&r);
	run_assert_names(&r, "eth0:1 e\\xc3\\xbc");
	assert_int_equal(r.warn.count, 1);
	run_close(&r);
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_interfaces),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_rename),
		cmocka_unit_test(test_swap_of_names),
		cmocka_unit_test(test_others_go_on_when_one_leaves),
		cmocka_unit_test(test_bad_lines_are_said_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
