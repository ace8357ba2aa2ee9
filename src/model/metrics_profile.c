/* Metrics of a profile as a whole. They describe the quality of the samples, not the state of a
 * server. */
#include "model/metric_def.h"

extern const struct lp_metric metrics_profile[];
const struct lp_metric metrics_profile[] = {
	{.name = "sampled",
		.unit = "1/s",
		.help = "times per second that a CPU was found busy",
		.resource = "host",
		.kind = "profile",
		.inputs = {"samples"},
		.eval = metric_rate},
	{.name = "unnamed",
		.unit = "1/s",
		.help = "times per second that a CPU was found at an address without a name",
		.resource = "host",
		.kind = "profile",
		.inputs = {"unknown"},
		.eval = metric_rate},
	{.name = "sample_loss",
		.unit = "1/s",
		.help = "samples lost per second",
		.resource = "host",
		.kind = "profile",
		.inputs = {"lost"},
		.eval = metric_rate},
	{.name = NULL},
};
