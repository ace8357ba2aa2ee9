/* Metrics of temperature sensors: context for reports. */
#include "model/metric_def.h"

static double thousandth(const double *in, double dt_s)
{
	(void)dt_s;
	return in[0] / 1000;
}

extern const struct lp_metric metrics_sensor[];
const struct lp_metric metrics_sensor[] = {
	{.name = "temp",
		.unit = "C",
		.help = "temperature",
		.resource = "host",
		.kind = "sensor",
		.headline = true,
		.inputs = {"milli_c"},
		.eval = thousandth},
	{.name = "temp_max",
		.unit = "C",
		.help = "temperature that it should not exceed",
		.resource = "host",
		.kind = "sensor",
		.inputs = {"max_milli_c"},
		.eval = thousandth},
	{.name = "temp_alarm",
		.unit = "0 or 1",
		.help = "whether the chip raises an alarm",
		.resource = "host",
		.kind = "sensor",
		.inputs = {"alarm"},
		.eval = metric_value},
	{.name = NULL},
};
