/* Metrics of GPFS NSDs as their server sees them. */
#include "model/metric_def.h"

/* Microseconds of the first input for each of the second, in ms. */
static double per_ms(const double *in, double dt_s)
{
	(void)dt_s;
	return metric_ratio(in[0], in[1]) / 1000;
}

extern const struct lp_metric metrics_nsd[];
const struct lp_metric metrics_nsd[] = {
	{.name = "nsd_await",
		.unit = "ms",
		.help = "average time a request takes",
		.resource = "storage",
		.kind = "nsd",
		.headline = true,
		.inputs = {"rd_us+wr_us", "rd_ops+wr_ops"},
		.eval = per_ms,
		.role = LP_ROLE_LATENCY,
		.floor = 1,
		.judged = true},
	{.name = "nsd_rd",
		.unit = "bytes/s",
		.help = "bytes read per second",
		.resource = "storage",
		.kind = "nsd",
		.headline = true,
		.inputs = {"rd_bytes"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 131072,
		.judged = true},
	{.name = "nsd_wr",
		.unit = "bytes/s",
		.help = "bytes written per second",
		.resource = "storage",
		.kind = "nsd",
		.headline = true,
		.inputs = {"wr_bytes"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 131072,
		.judged = true},
	{.name = "nsd_ops",
		.unit = "1/s",
		.help = "requests per second",
		.resource = "storage",
		.kind = "nsd",
		.inputs = {"rd_ops?+wr_ops?"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 1},
	{.name = NULL},
};
