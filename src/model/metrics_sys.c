/* Metrics of traced processes, all of one name together (`limpet trace syscalls`). */
#include "model/metric_def.h"

extern const struct lp_metric metrics_sys[];
const struct lp_metric metrics_sys[] = {
	{"dread", "ms", "time that a read of a storage file takes, mean", "storage", "sys", true,
		{"dread_ns", "dread_n"}, metric_mean_ms, LP_ROLE_SERVICE, 1, true, "dreads"},
	{"dwrite", "ms", "time that a write to a storage file takes, mean", "storage", "sys", true,
		{"dwrite_ns", "dwrite_n"}, metric_mean_ms, LP_ROLE_SERVICE, 1, true, "dwrites"},
	{"nsread", "ms", "time to read one whole request from a client, mean", "network", "sys",
		true, {"nsread_ns", "nsread_n"}, metric_mean_ms, LP_ROLE_SERVICE, 0.1, true,
		"nsreads"},
	{"dreads", "1/s", "reads of storage files per second", "storage", "sys", false, {"dread_n"},
		metric_rate, LP_ROLE_WORK, 1, false},
	{"dwrites", "1/s", "writes of storage files per second", "storage", "sys", false,
		{"dwrite_n"}, metric_rate, LP_ROLE_WORK, 1, false},
	{"nsreads", "1/s", "whole requests read per second", "network", "sys", false, {"nsread_n"},
		metric_rate, LP_ROLE_WORK, 1, false},
	{"callrate", "1/s", "system calls per second", "host", "sys", true, {"calls"}, metric_rate,
		LP_ROLE_WORK, 0, false},
	{"callerr", "1/s", "system calls that failed per second", "host", "sys", true, {"errors"},
		metric_rate, LP_ROLE_OTHER, 0, false},
	{"stuck", "calls", "calls that should not wait and have taken 5 s or longer", "host", "sys",
		true, {"stuck"}, metric_value, LP_ROLE_OTHER, 0, false},
	{"oldest", "s", "how long the oldest of them has taken", "host", "sys", false,
		{"oldest_us"}, metric_value_s, LP_ROLE_OTHER, 0, false},
	{"lost", "1/s", "events that the tracer lost per second", "host", "sys", false, {"lost"},
		metric_rate, LP_ROLE_OTHER, 0, false},
	{NULL},
};
