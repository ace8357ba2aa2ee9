/* For the files that define metrics. */
#ifndef MODEL_METRIC_DEF_H
#define MODEL_METRIC_DEF_H

#include <limpet/metric.h>
#include <math.h>

/* Each metrics_<kind>.c defines `const struct lp_metric metrics_<kind>[]`, ended by a row without a
 * name. */

/* a / b, or 0 if b is 0: without requests there is no wait. */
static inline double metric_ratio(double a, double b)
{
	return b != 0 ? a / b : 0;
}

/* The plain rate of the first input. */
static inline double metric_rate(const double *in, double dt_s)
{
	return in[0] / dt_s;
}

/* The first input, unchanged. */
static inline double metric_value(const double *in, double dt_s)
{
	(void)dt_s;
	return in[0];
}

/* A thousandth of the first input. */
static inline double metric_thousandth(const double *in, double dt_s)
{
	(void)dt_s;
	return in[0] / 1000;
}

/* The first input divided by the second: for example, the size of a request. */
static inline double metric_each(const double *in, double dt_s)
{
	(void)dt_s;
	return metric_ratio(in[0], in[1]);
}

/* The same for microseconds, in ms. */
static inline double metric_each_ms(const double *in, double dt_s)
{
	return metric_each(in, dt_s) / 1000;
}

/* The first input as a percentage of the second. */
static inline double metric_percent(const double *in, double dt_s)
{
	return 100 * metric_each(in, dt_s);
}

/* The first input, in ns, divided by the second, in ms; without calls there is no value. */
static inline double metric_mean_ms(const double *in, double dt_s)
{
	(void)dt_s;
	return in[1] > 0 ? in[0] / in[1] / 1e6 : NAN;
}

/* The first input, in us, in seconds. */
static inline double metric_value_s(const double *in, double dt_s)
{
	(void)dt_s;
	return in[0] / 1e6;
}

#endif
