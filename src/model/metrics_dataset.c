/* Metrics of ZFS datasets. */
#include "model/metric_def.h"

extern const struct lp_metric metrics_dataset[];
const struct lp_metric metrics_dataset[] = {
	{.name = "set_rd",
		.unit = "bytes/s",
		.help = "bytes read per second",
		.resource = "storage",
		.kind = "dataset",
		.headline = true,
		.inputs = {"rd_bytes"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 131072},
	{.name = "set_wr",
		.unit = "bytes/s",
		.help = "bytes written per second",
		.resource = "storage",
		.kind = "dataset",
		.headline = true,
		.inputs = {"wr_bytes"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 131072},
	{.name = NULL},
};
