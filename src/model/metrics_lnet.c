/* Metrics of LNet. */
#include "model/metric_def.h"

/* Negative credits are the number of messages that wait for a credit. */
static double queued(const double *in, double dt_s)
{
	(void)dt_s;
	return in[0] < 0 ? -in[0] : 0;
}

extern const struct lp_metric metrics_lnet[];
const struct lp_metric metrics_lnet[] = {
	{.name = "lnet_tx",
		.unit = "bytes/s",
		.help = "bytes sent per second",
		.resource = "network",
		.kind = "lnet",
		.headline = true,
		.inputs = {"tx_bytes"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 131072},
	{.name = "lnet_rx",
		.unit = "bytes/s",
		.help = "bytes received per second",
		.resource = "network",
		.kind = "lnet",
		.headline = true,
		.inputs = {"rx_bytes"},
		.eval = metric_rate,
		.role = LP_ROLE_WORK,
		.floor = 131072},
	{.name = "lnet_drop",
		.unit = "1/s",
		.help = "messages dropped per second",
		.resource = "network",
		.kind = "lnet",
		.headline = true,
		.inputs = {"dropped"},
		.eval = metric_rate,
		.role = LP_ROLE_TROUBLE,
		.floor = 1,
		.judged = true},
	{.name = "lnet_queued",
		.unit = "messages",
		.help = "messages that wait for a credit",
		.resource = "network",
		.kind = "lnet",
		.headline = true,
		.inputs = {"credits"},
		.eval = queued,
		.role = LP_ROLE_BUSY,
		.floor = 1},
	{.name = "lnet_credits",
		.unit = "%",
		.help = "credits that are left",
		.resource = "network",
		.kind = "lnet",
		.inputs = {"credits", "credits_max"},
		.eval = metric_percent},
	{.name = NULL},
};
