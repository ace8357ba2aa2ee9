/* Metrics of GPFS file systems as a node sees them. */
#include "model/metric_def.h"

/* Microseconds of the first input for each of the second, in ms. */
static double per_ms(const double *in, double dt_s)
{
	(void)dt_s;
	return metric_ratio(in[0], in[1]) / 1000;
}

static double thousandth(const double *in, double dt_s)
{
	(void)dt_s;
	return in[0] / 1000;
}

extern const struct lp_metric metrics_gpfs[];
const struct lp_metric metrics_gpfs[] = {
	{.name = "gpfs_rd",
		.unit = "bytes/s",
		.help = "bytes read per second",
		.resource = "storage",
		.kind = "gpfs",
		.headline = true,
		.inputs = {"rd_bytes"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 131072},
	{.name = "gpfs_wr",
		.unit = "bytes/s",
		.help = "bytes written per second",
		.resource = "storage",
		.kind = "gpfs",
		.headline = true,
		.inputs = {"wr_bytes"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 131072},
	{.name = "gpfs_ops",
		.unit = "1/s",
		.help = "reads and writes per second",
		.resource = "storage",
		.kind = "gpfs",
		.inputs = {"rd_calls+wr_calls"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 1},
	{.name = "gpfs_opens",
		.unit = "1/s",
		.help = "opens per second",
		.resource = "storage",
		.kind = "gpfs",
		.inputs = {"opens"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 1},
	{.name = "rhist_lat",
		.unit = "ms",
		.help = "average time of I/O, by the request histogram",
		.resource = "storage",
		.kind = "gpfs",
		.headline = true,
		.inputs = {"hist_us", "hist_ios"},
		.eval = per_ms,
		.role = LP_ROLE_LATENCY,
		.floor = 1,
		.judged = true},
	{.name = "waiters",
		.unit = "threads",
		.help = "threads of the daemon that wait",
		.resource = "storage",
		.kind = "gpfs",
		.headline = true,
		.inputs = {"waiters"},
		.eval = metric_value,
		.role = LP_ROLE_BUSY,
		.floor = 1},
	{.name = "longest_wait",
		.unit = "s",
		.help = "how long the longest of them has waited",
		.resource = "storage",
		.kind = "gpfs",
		.headline = true,
		.inputs = {"longest_ms"},
		.eval = thousandth,
		.role = LP_ROLE_LATENCY,
		.floor = 1,
		.judged = true},
	{.name = NULL},
};
