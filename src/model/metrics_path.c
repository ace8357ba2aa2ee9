/* Metrics of paths of multipath devices: context for reports. */
#include "model/metric_def.h"

extern const struct lp_metric metrics_path[];
const struct lp_metric metrics_path[] = {
	{.name = "path_running",
		.unit = "0 or 1",
		.help = "whether the path works",
		.resource = "storage",
		.kind = "path",
		.headline = true,
		.inputs = {"running"},
		.eval = metric_value},
	{.name = "path_errors",
		.unit = "1/s",
		.help = "requests that failed per second",
		.resource = "storage",
		.kind = "path",
		.headline = true,
		.inputs = {"errors"},
		.eval = metric_rate},
	{.name = "path_timeouts",
		.unit = "1/s",
		.help = "requests that timed out per second",
		.resource = "storage",
		.kind = "path",
		.inputs = {"timeouts"},
		.eval = metric_rate},
	{.name = NULL},
};
