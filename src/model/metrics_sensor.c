/* Metrics of temperature sensors: context for reports. */
#include "model/metric_def.h"

extern const struct lp_metric metrics_sensor[];
const struct lp_metric metrics_sensor[] = {
	{.name = "temp",
		.unit = "C",
		.help = "temperature",
		.resource = "host",
		.kind = "sensor",
		.headline = true,
		.inputs = {"milli_c"},
		.eval = metric_thousandth},
	{.name = "temp_max",
		.unit = "C",
		.help = "highest permitted temperature",
		.resource = "host",
		.kind = "sensor",
		.inputs = {"max_milli_c"},
		.eval = metric_thousandth},
	{.name = "temp_alarm",
		.unit = "0 or 1",
		.help = "whether the chip raises an alarm",
		.resource = "host",
		.kind = "sensor",
		.inputs = {"alarm"},
		.eval = metric_value},
	{.name = NULL},
};
