/* The time-series method, for congestion windows and the service times of calls: compares each
 * sample of a member with the median of its group, both as logarithms. */
#ifndef DETECT_COMPARE_TIMESERIES_H
#define DETECT_COMPARE_TIMESERIES_H

#include "detect/compare/votes.h"
#include "detect/detect.h"
#include <limpet/metric.h>

/* The moving average of 31 s, in samples of `step_us`; at least 1. */
uint32_t timeseries_width(int64_t step_us);

/* Is a metric of that role compared by this method? Congestion windows always are, service times
 * unless the options choose another. */
bool timeseries_applies(const struct detect_options *opt, enum lp_role role);

/* The parameters of the method: every sample is a window, and nothing is filtered afterwards. */
void timeseries_params(struct lp_params *p);

struct timeseries_how {
	uint32_t width; /* samples of the moving average */
	enum lp_role role;
	double floor;
	int64_t origin; /* the slot in which data begins; may be negative */
};

/* How far each member is from the median (over the members with a value, itself included) on the
 * bad side: ret[member * n_slots + slot], NaN if it has no value or too few others have one. A
 * member is indicted if that exceeds its threshold.
 *
 * - LP_ROLE_WINDOW: the median's logarithm divided by its own, where less is worse. A threshold T
 *   means a logarithm below the fraction 1/T of the median. Averages below 2 count as 2: their
 *   logarithms would be close to 0 or negative, and quotients of them without meaning.
 * - LP_ROLE_SERVICE: by how much its logarithm is above the median: 1 is twice as long, 2 four
 *   times. `floor` is added first, so that a little more than nothing is not infinitely much. Three
 *   members must have a value: of two it is impossible to say which is slow.
 *
 * Values are first averaged over `width` samples. As in a window, an average of less than half of
 * them does not count. Congestion windows always exist, so only the first `width / 2` samples are
 * left out; service times exist only if there was a call. 0 or -ENOMEM. */
int timeseries_votes(const struct group_data *g, const struct timeseries_how *how, double *ret);

#endif
