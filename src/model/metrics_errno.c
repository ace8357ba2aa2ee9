/* Failed calls by name and errno (`limpet trace syscalls`). */
#include "model/metric_def.h"

extern const struct lp_metric metrics_errno[];
const struct lp_metric metrics_errno[] = {
	{.name = "errors",
		.unit = "1/s",
		.help = "calls per second that failed with this error",
		.resource = "host",
		.kind = "errno",
		.headline = true,
		.inputs = {"n"},
		.eval = metric_rate,
		.role = LP_ROLE_TROUBLE},
	{.name = NULL},
};
