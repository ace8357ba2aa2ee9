/* Metrics of BeeGFS servers. */
#include "model/metric_def.h"

static double kib(const double *in, double dt_s)
{
	(void)dt_s;
	return 1024 * in[0];
}

extern const struct lp_metric metrics_beegfs[];
const struct lp_metric metrics_beegfs[] = {
	{.name = "bee_rd",
		.unit = "bytes/s",
		.help = "bytes read per second",
		.resource = "storage",
		.kind = "beegfs",
		.headline = true,
		.inputs = {"rd_kib"},
		.eval = kib,
		.role = LP_ROLE_WORK,
		.floor = 131072,
		.judged = true},
	{.name = "bee_wr",
		.unit = "bytes/s",
		.help = "bytes written per second",
		.resource = "storage",
		.kind = "beegfs",
		.headline = true,
		.inputs = {"wr_kib"},
		.eval = kib,
		.role = LP_ROLE_WORK,
		.floor = 131072,
		.judged = true},
	{.name = "bee_reqs",
		.unit = "1/s",
		.help = "requests per second",
		.resource = "storage",
		.kind = "beegfs",
		.inputs = {"requests"},
		.eval = metric_value,
		.role = LP_ROLE_WORK,
		.floor = 1},
	{.name = "bee_queue",
		.unit = "requests",
		.help = "requests that wait for a worker",
		.resource = "storage",
		.kind = "beegfs",
		.headline = true,
		.inputs = {"queued"},
		.eval = metric_value,
		.role = LP_ROLE_BUSY,
		.floor = 1},
	{.name = "bee_busy",
		.unit = "threads",
		.help = "workers that are busy",
		.resource = "storage",
		.kind = "beegfs",
		.inputs = {"busy"},
		.eval = metric_value,
		.role = LP_ROLE_BUSY,
		.floor = 1},
	{.name = NULL},
};
