/* Failed calls by name and errno (`limpet trace syscalls`). */
#include "model/metric_def.h"

extern const struct lp_metric metrics_errno[];
const struct lp_metric metrics_errno[] = {
	{"errors", "1/s", "calls that failed so per second", "host", "errno", true, {"n"},
		metric_rate, LP_ROLE_TROUBLE, 0, false},
	{NULL},
};
