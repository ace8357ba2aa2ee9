/* The statistics of network adapters. Their names depend on the driver. */
#ifndef COLLECT_ETHTOOL_NAMES_H
#define COLLECT_ETHTOOL_NAMES_H

enum link_column {
	LINK_CRC_ERRORS,
	LINK_RX_DROPS,
	LINK_TX_DROPS,
	LINK_QUEUE_DROPS,
	LINK_PAUSE_RX,
	LINK_PAUSE_TX,
	LINK_SPEED_MBPS,
	LINK_MAX_MBPS,
	LINK_CARRIER_CHANGES,
	LINK_N,
};

/* The column to which a statistic with this name is added; -1: none. Single queues
 * ("rx_queue_0_drops", "rx3_wqe_err") are added to LINK_QUEUE_DROPS or not at all, so that nothing
 * counts twice. */
int ethtool_parse_name(const char *name);

#endif
