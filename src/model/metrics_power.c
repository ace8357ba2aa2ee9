/* Metrics of the power of processors and memory: context for reports. */
#include "model/metric_def.h"

static double watts(const double *in, double dt_s)
{
	return in[0] / 1e6 / dt_s;
}

extern const struct lp_metric metrics_power[];
const struct lp_metric metrics_power[] = {
	{.name = "power",
		.unit = "W",
		.help = "power that a processor or a part of it takes",
		.resource = "host",
		.kind = "power",
		.headline = true,
		.inputs = {"energy_uj"},
		.eval = watts},
	{.name = NULL},
};
