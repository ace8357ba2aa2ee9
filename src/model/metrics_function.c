/* Metrics of functions, one component each; together they are an observer's vector (vector_view.h).
 * The floors come from the behaviour paper, which calls a function rarely used if it has fewer than
 * 100 samples, or less than 1 s, per minute. */
#include "model/metric_def.h"

/* Calls per second; unknown (VECTOR_OFF) if the function is switched off on some server. */
static double rate_counted(const double *in, double dt_s)
{
	return in[1] > 0 ? -INFINITY : in[0] / dt_s;
}

/* The same for nanoseconds per second, in ms. */
static double rate_ms(const double *in, double dt_s)
{
	return in[1] > 0 ? -INFINITY : in[0] / dt_s / 1e6;
}

extern const struct lp_metric metrics_function[];
const struct lp_metric metrics_function[] = {
	{.name = "samples",
		.unit = "1/s",
		.help = "times per second that a CPU was found in the function",
		.resource = "host",
		.kind = "function",
		.inputs = {"samples"},
		.eval = metric_rate,
		.floor = 100 / 60.0,
		.judged = true},
	{.name = "fcalls",
		.unit = "1/s",
		.help = "calls of the function per second",
		.resource = "host",
		.kind = "function",
		.inputs = {"n", "off?"},
		.eval = rate_counted,
		.selector = "ftime",
		.floor = 10,
		.judged = true},
	{.name = "ftime",
		.unit = "ms/s",
		.help = "time spent in the function itself, waiting included, per second",
		.resource = "host",
		.kind = "function",
		.inputs = {"ns", "off?"},
		.eval = rate_ms,
		.floor = 1000 / 60.0,
		.judged = true},
	{.name = NULL},
};
