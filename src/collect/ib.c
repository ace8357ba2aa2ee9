/* Ports of InfiniBand and RoCE adapters: the counters in /sys/class/infiniband. */
#include "base/array.h"
#include "collect/parse_sys.h"
#include "collect/sysattr.h"
#include "collect/tree.h"

enum {
	RCV_WORDS,
	XMIT_WORDS,
	RCV_PACKETS,
	XMIT_PACKETS,
	XMIT_WAIT,
	SYMBOL_ERRORS,
	LINK_RECOVERIES,
	LINK_DOWNED,
	RCV_ERRORS,
	REMOTE_ERRORS,
	XMIT_DISCARDS,
	INTEGRITY_ERRORS,
	OVERRUNS,
	SEQ_ERRORS,
	OUT_OF_SEQUENCE,
	OUT_OF_BUFFER,
	ACK_TIMEOUTS,
	RNR_RETRIES,
	CNP_SENT,
	CNP_HANDLED,
	ECN_MARKED,
	RATE_MBPS,
	WIDTH,
	ACTIVE,
	N_COLUMNS,
};

static const struct lp_column columns[N_COLUMNS] = {
	[RCV_WORDS] = {"rcv_words", "words", LP_COUNTER, 64},
	[XMIT_WORDS] = {"xmit_words", "words", LP_COUNTER, 64},
	[RCV_PACKETS] = {"rcv_packets", "packets", LP_COUNTER, 64},
	[XMIT_PACKETS] = {"xmit_packets", "packets", LP_COUNTER, 64},
	[XMIT_WAIT] = {"xmit_wait", "ticks", LP_COUNTER, 64},
	[SYMBOL_ERRORS] = {"symbol_errors", "errors", LP_COUNTER, 64},
	[LINK_RECOVERIES] = {"link_recoveries", "events", LP_COUNTER, 64},
	[LINK_DOWNED] = {"link_downed", "events", LP_COUNTER, 64},
	[RCV_ERRORS] = {"rcv_errors", "packets", LP_COUNTER, 64},
	[REMOTE_ERRORS] = {"remote_errors", "packets", LP_COUNTER, 64},
	[XMIT_DISCARDS] = {"xmit_discards", "packets", LP_COUNTER, 64},
	[INTEGRITY_ERRORS] = {"integrity_errors", "errors", LP_COUNTER, 64},
	[OVERRUNS] = {"overruns", "errors", LP_COUNTER, 64},
	[SEQ_ERRORS] = {"seq_errors", "packets", LP_COUNTER, 64},
	[OUT_OF_SEQUENCE] = {"out_of_sequence", "packets", LP_COUNTER, 64},
	[OUT_OF_BUFFER] = {"out_of_buffer", "packets", LP_COUNTER, 64},
	[ACK_TIMEOUTS] = {"ack_timeouts", "requests", LP_COUNTER, 64},
	[RNR_RETRIES] = {"rnr_retries", "requests", LP_COUNTER, 64},
	[CNP_SENT] = {"cnp_sent", "packets", LP_COUNTER, 64},
	[CNP_HANDLED] = {"cnp_handled", "packets", LP_COUNTER, 64},
	[ECN_MARKED] = {"ecn_marked", "packets", LP_COUNTER, 64},
	[RATE_MBPS] = {"rate_mbps", "Mb/s", LP_GAUGE, 0},
	[WIDTH] = {"width", "lanes", LP_GAUGE, 0},
	[ACTIVE] = {"active", "0 or 1", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"ib", columns, ARRAY_SIZE(columns)};

static unsigned ib_rate(const char *text, int64_t *values)
{
	return parse_ib_rate(text, &values[RATE_MBPS], &values[WIDTH]);
}

static unsigned ib_state(const char *text, int64_t *values)
{
	return parse_ib_state(text, &values[ACTIVE]);
}

/* Bytes in words, for adapters that do not have the standard counters. */
static unsigned words(const char *text, int64_t *ret)
{
	int64_t bytes;

	if (*ret != LP_MISSING || !parse_number(text, &bytes))
		return 0;
	*ret = bytes / 4;
	return 1;
}

static unsigned ib_rx_bytes(const char *text, int64_t *values)
{
	return words(text, &values[RCV_WORDS]);
}

static unsigned ib_tx_bytes(const char *text, int64_t *values)
{
	return words(text, &values[XMIT_WORDS]);
}

#define PORT "/sys/class/infiniband/*/ports/*/"
#define HW PORT "hw_counters/"

/* Reading a counter may involve the firmware of the adapter, so errors are read less often than
 * traffic. The names in hw_counters are the driver's: mlx5's first, then those of bnxt_re, EFA and
 * rxe. */
static const struct tree_file files[] = {
	{{PORT "counters_ext/port_rcv_data_64", PORT "counters/port_rcv_data"}, NULL, RCV_WORDS,
		false},
	{{PORT "counters_ext/port_xmit_data_64", PORT "counters/port_xmit_data"}, NULL, XMIT_WORDS,
		false},
	{{PORT "counters_ext/port_rcv_packets_64", PORT "counters/port_rcv_packets", HW "rx_pkts",
		 HW "rcvd_pkts"},
		NULL, RCV_PACKETS, false},
	{{PORT "counters_ext/port_xmit_packets_64", PORT "counters/port_xmit_packets", HW "tx_pkts",
		 HW "sent_pkts"},
		NULL, XMIT_PACKETS, false},
	{{HW "rx_bytes"}, ib_rx_bytes, 0, false},
	{{HW "tx_bytes"}, ib_tx_bytes, 0, false},
	{{PORT "counters/port_xmit_wait"}, NULL, XMIT_WAIT, false},
	{{PORT "counters/symbol_error"}, NULL, SYMBOL_ERRORS, true},
	{{PORT "counters/link_error_recovery"}, NULL, LINK_RECOVERIES, true},
	{{PORT "counters/link_downed"}, NULL, LINK_DOWNED, true},
	{{PORT "counters/port_rcv_errors"}, NULL, RCV_ERRORS, true},
	{{PORT "counters/port_rcv_remote_physical_errors"}, NULL, REMOTE_ERRORS, true},
	{{PORT "counters/port_xmit_discards"}, NULL, XMIT_DISCARDS, true},
	{{PORT "counters/local_link_integrity_errors"}, NULL, INTEGRITY_ERRORS, true},
	{{PORT "counters/excessive_buffer_overrun_errors"}, NULL, OVERRUNS, true},
	{{HW "packet_seq_err", HW "seq_err_naks_rcvd", HW "rcvd_seq_err"}, NULL, SEQ_ERRORS, true},
	{{HW "out_of_sequence", HW "oos_drop_count", HW "out_of_seq_request"}, NULL,
		OUT_OF_SEQUENCE, true},
	{{HW "out_of_buffer", HW "rx_drops"}, NULL, OUT_OF_BUFFER, true},
	{{HW "local_ack_timeout_err", HW "to_retransmits", HW "retrans_timeout_events"}, NULL,
		ACK_TIMEOUTS, true},
	{{HW "rnr_nak_retry_err", HW "rnr_naks_rcvd", HW "rcvd_rnr_err"}, NULL, RNR_RETRIES, true},
	{{HW "np_cnp_sent", HW "tx_cnp_pkts"}, NULL, CNP_SENT, true},
	{{HW "rp_cnp_handled", HW "rx_cnp_pkts"}, NULL, CNP_HANDLED, true},
	{{HW "np_ecn_marked_roce_packets", HW "rx_ecn_marked_pkts"}, NULL, ECN_MARKED, true},
	{{PORT "rate"}, ib_rate, 0, true},
	{{PORT "state"}, ib_state, 0, true},
};

static void ib_labels(
	const struct proc_root *root, const struct tree_match *m, struct strbuf *labels)
{
	char buf[SYSATTR_MAX];

	if (sysattr_read(root, buf, "/sys/class/infiniband/%s/ports/%s/link_layer", m->star[0],
		    m->star[1]))
		label_add(labels, "link_layer", buf);
	if (sysattr_read(
		    root, buf, "/sys/class/infiniband/%s/ports/%s/rate", m->star[0], m->star[1]))
		label_add(labels, "rate", buf);
	if (sysattr_read(root, buf, "/sys/class/infiniband/%s/fw_ver", m->star[0]))
		label_add(labels, "firmware", buf);
	if (sysattr_read(root, buf, "/sys/class/infiniband/%s/node_guid", m->star[0]))
		label_add(labels, "guid", buf);
}

static const char *const patterns[] = {"/sys/class/infiniband/*/ports/*", NULL};

static const struct tree_def def = {
	.what = "InfiniBand ports",
	.schema = &schema,
	.patterns = patterns,
	.files = files,
	.n_files = ARRAY_SIZE(files),
	.labels = ib_labels,
};

static int ib_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return tree_open(&def, config, ret_state, err);
}

extern const struct collector collector_ib;
const struct collector collector_ib = {
	.name = "ib",
	.summary = "InfiniBand and RoCE ports: traffic, waits, errors, rate",
	.description =
		"Records the counters of each port of the adapters in /sys/class/infiniband, with "
		"those that "
		"RoCE adapters have in hw_counters, its rate and width. Traffic is read in every "
		"sample, errors every ten seconds. Data is counted in words of four bytes.",
	.schema = &schema,
	.if_present = true,
	.open = ib_open,
	.sample = tree_sample,
	.close = tree_close,
};
