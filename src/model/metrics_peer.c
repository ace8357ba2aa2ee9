/* Metrics of the remote ends of connections that traced processes opened: the servers, as their
 * client sees them (`limpet trace syscalls`). */
#include "model/metric_def.h"

extern const struct lp_metric metrics_peer[];
const struct lp_metric metrics_peer[] = {
	{"ncread", "ms", "time to read one whole response from a server, mean", "network", "peer",
		true, {"read_ns", "read_n"}, metric_mean_ms, LP_ROLE_SERVICE, 0.1, true, "ncreads"},
	{"ncreads", "1/s", "whole responses read per second", "network", "peer", false, {"read_n"},
		metric_rate, LP_ROLE_WORK, 1, false},
	{"waiting", "s", "time since data was sent, if nothing has come back since", "network",
		"peer", true, {"waiting_us"}, metric_value_s, LP_ROLE_OTHER, 0, false},
	{"requests", "1/s", "messages sent per second", "network", "peer", false, {"requests"},
		metric_rate, LP_ROLE_WORK, 0, false},
	{"responses", "1/s", "messages received per second", "network", "peer", false,
		{"responses"}, metric_rate, LP_ROLE_WORK, 0, false},
	{NULL},
};
