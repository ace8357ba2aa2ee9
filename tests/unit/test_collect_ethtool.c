#include "collect/ethtool_names.h"
#include "collect_run.h"
#include <errno.h>

static void test_names(void **state)
{
	static const struct {
		const char *name;
		int column;
	} all[] = {
		{"rx_crc_errors", LINK_CRC_ERRORS},	 /* e1000e, ixgbe */
		{"rx_crc_errors_phy", LINK_CRC_ERRORS},	 /* mlx5 */
		{"port.rx_crc_errors", LINK_CRC_ERRORS}, /* ice, i40e */
		{"rx_fcs_errors", LINK_CRC_ERRORS},	 /* tg3 */
		{"rx_pause_ctrl_phy", LINK_PAUSE_RX},
		{"tx_pause_ctrl_phy", LINK_PAUSE_TX},
		{"rx_flow_control_xoff", LINK_PAUSE_RX},
		{"tx_flow_control_xoff", LINK_PAUSE_TX},
		{"rx_flow_control_xon", -1},
		{"rx_prio3_pause", -1},
		{"tx_pause_storm_warning_events", -1},
		{"rx_out_of_buffer", LINK_RX_DROPS},
		{"rx_discards_phy", LINK_RX_DROPS},
		{"tx_discards_phy", LINK_TX_DROPS},
		{"rx_missed_errors", LINK_RX_DROPS},
		{"rx_no_dma_resources", LINK_RX_DROPS},
		{"rx_queue_0_drops", LINK_QUEUE_DROPS}, /* virtio, veth */
		{"rx-3.rx_dropped", LINK_QUEUE_DROPS},
		{"rx3_xdp_drop", -1}, /* as it was told to */
		{"rx_vlan_dropped", -1},
		{"rx_packets", -1},
		{"", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (ethtool_parse_name(all[i].name) != all[i].column)
			fail_msg("%s: %d", all[i].name, ethtool_parse_name(all[i].name));
	}
}

static void test_recorded_trees_have_none(void **state)
{
	struct lp_err err = {0};
	struct run r;

	(void)state;
	run_init_tree(&r, "ethtool", "kernel-4.18", 1);
	assert_int_equal(r.collector->open(&r.config, &r.state, &err), -EOPNOTSUPP);
	run_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_recorded_trees_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
