/* Metrics of one kind of call on one kind of file of one traced process (`limpet trace syscalls`).
 * They are only shown, and never judged. The columns h0..h39 are the histogram: hB counts calls of
 * 2^B to 2^(B+1) ns. */
#include "model/metric_def.h"

extern const struct lp_metric metrics_call[];
const struct lp_metric metrics_call[] = {
	{.name = "calls",
		.unit = "1/s",
		.help = "calls per second",
		.resource = "host",
		.kind = "call",
		.headline = true,
		.inputs = {"n"},
		.eval = metric_rate},
	{.name = "calltime",
		.unit = "ms",
		.help = "average time a call takes",
		.resource = "host",
		.kind = "call",
		.headline = true,
		.inputs = {"ns", "n"},
		.eval = metric_mean_ms},
	{.name = "callbytes",
		.unit = "bytes/s",
		.help = "bytes read or written per second",
		.resource = "host",
		.kind = "call",
		.inputs = {"bytes"},
		.eval = metric_rate},
	{.name = "callfail",
		.unit = "1/s",
		.help = "calls that failed per second",
		.resource = "host",
		.kind = "call",
		.inputs = {"errors"},
		.eval = metric_rate},
	{.name = NULL},
};
