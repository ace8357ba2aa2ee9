/* For the files that define metrics. */
#ifndef MODEL_METRIC_DEF_H
#define MODEL_METRIC_DEF_H

#include <limpet/metric.h>
#include <math.h>

/* Each metrics_<kind>.c defines `const struct lp_metric metrics_<kind>[]`, ended by a row without a
 * name. */

/* a / b, and 0 where b is 0: no request, no wait. */
static inline double metric_ratio(double a, double b)
{
	return b != 0 ? a / b : 0;
}

/* The plain rate of the first input. */
static inline double metric_rate(const double *in, double dt_s)
{
	return in[0] / dt_s;
}

/* The first input as it is. */
static inline double metric_value(const double *in, double dt_s)
{
	(void)dt_s;
	return in[0];
}

/* Nanoseconds in the first input for each of the second, in ms; without a call there is no time. */
static inline double metric_mean_ms(const double *in, double dt_s)
{
	(void)dt_s;
	return in[1] > 0 ? in[0] / in[1] / 1e6 : NAN;
}

/* The first input, which is in us, in seconds. */
static inline double metric_value_s(const double *in, double dt_s)
{
	(void)dt_s;
	return in[0] / 1e6;
}

#endif
