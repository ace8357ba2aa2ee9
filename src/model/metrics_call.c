/* Metrics of one kind of call on one kind of file of one traced process (`limpet trace syscalls`).
 * For the eye: none of them is judged. Its columns h0..h39 are the histogram: hB counts calls of
 * 2^B to 2^(B+1) ns. */
#include "model/metric_def.h"

extern const struct lp_metric metrics_call[];
const struct lp_metric metrics_call[] = {
	{"calls", "1/s", "calls per second", "host", "call", true, {"n"}, metric_rate,
		LP_ROLE_OTHER, 0, false},
	{"calltime", "ms", "time that a call takes, mean", "host", "call", true, {"ns", "n"},
		metric_mean_ms, LP_ROLE_OTHER, 0, false},
	{"callbytes", "bytes/s", "bytes read or written per second", "host", "call", false,
		{"bytes"}, metric_rate, LP_ROLE_OTHER, 0, false},
	{"callfail", "1/s", "calls that failed per second", "host", "call", false, {"errors"},
		metric_rate, LP_ROLE_OTHER, 0, false},
	{NULL},
};
