/* Metrics of Lustre OSTs, measured by their server. */
#include "model/metric_def.h"

/* The first input, in us, divided by the second, in ms. If the time is 0, requests were not
 * timed. */
static double timed_ms(const double *in, double dt_s)
{
	(void)dt_s;
	return in[0] > 0 || in[1] <= 0 ? metric_ratio(in[0], in[1]) / 1000 : NAN;
}

/* The used share of the second input, in percent; the first input is the free part. */
static double used(const double *in, double dt_s)
{
	(void)dt_s;
	return 100 * metric_ratio(in[1] - in[0], in[1]);
}

extern const struct lp_metric metrics_ost[];
const struct lp_metric metrics_ost[] = {
	{.name = "ost_rd",
		.unit = "bytes/s",
		.help = "bytes read per second",
		.resource = "storage",
		.kind = "ost",
		.headline = true,
		.inputs = {"rd_bytes"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 131072,
		.judged = true},
	{.name = "ost_wr",
		.unit = "bytes/s",
		.help = "bytes written per second",
		.resource = "storage",
		.kind = "ost",
		.headline = true,
		.inputs = {"wr_bytes"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 131072,
		.judged = true},
	{.name = "ost_ops",
		.unit = "1/s",
		.help = "reads and writes per second",
		.resource = "storage",
		.kind = "ost",
		.inputs = {"rd_ops?+wr_ops?"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 1},
	{.name = "ost_await",
		.unit = "ms",
		.help = "average time a read or a write takes (Lustre 2.13 and later)",
		.resource = "storage",
		.kind = "ost",
		.headline = true,
		.inputs = {"rd_us?+wr_us?", "rd_ops?+wr_ops?"},
		.eval = timed_ms,
		.role = LP_ROLE_LATENCY,
		.floor = 1,
		.judged = true},
	{.name = "brw_await",
		.unit = "ms",
		.help = "average time of a disk I/O, by the histogram of brw_stats",
		.resource = "storage",
		.kind = "ost",
		.headline = true,
		.inputs = {"io_ms", "io_times"},
		.eval = metric_each,
		.role = LP_ROLE_LATENCY,
		.floor = 1,
		.judged = true},
	{.name = "ost_other",
		.unit = "1/s",
		.help = "requests that are neither reads nor writes per second",
		.resource = "storage",
		.kind = "ost",
		.inputs = {"other_ops"},
		.eval = metric_rate},
	{.name = "ost_clients",
		.unit = "clients",
		.help = "clients that are connected",
		.resource = "storage",
		.kind = "ost",
		.inputs = {"clients"},
		.eval = metric_value},
	{.name = "ost_used",
		.unit = "%",
		.help = "share of the target that is full",
		.resource = "storage",
		.kind = "ost",
		.headline = true,
		.inputs = {"free_kb", "total_kb"},
		.eval = used},
	{.name = NULL},
};
