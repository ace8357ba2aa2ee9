/* Metrics of the stacks in a profile. They are only shown; functions are compared. */
#include "model/metric_def.h"

extern const struct lp_metric metrics_stack[];
const struct lp_metric metrics_stack[] = {
	{.name = "stack_samples",
		.unit = "1/s",
		.help = "times per second that a CPU was found in the stack",
		.resource = "host",
		.kind = "stack",
		.inputs = {"samples"},
		.eval = metric_rate},
	{.name = NULL},
};
