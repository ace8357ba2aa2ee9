/* The time-series method, for congestion windows and service times: each sample of a member against
 * the median of its group, both as logarithms. */
#ifndef DETECT_TIMESERIES_H
#define DETECT_TIMESERIES_H

#include "detect/votes.h"

/* The moving average of 31 s in samples of that length, at least 1. */
uint32_t timeseries_width(int64_t step_us);

/* How many times the logarithm of the median (over the members with a value, itself included) is
 * that of the member, or the other way round unless `less_is_worse`:
 * ret[member * n_slots + slot], NaN where it has no value or nobody else has one. A member is
 * indicted where that exceeds a threshold T, i.e. where its logarithm is below the fraction 1/T of
 * the median.
 *
 * Values are averaged over `width` samples first; like a window, an average of less than half of
 * them says nothing, so that the first `width / 2` samples have no value. Averages below 2 count as
 * 2: their logarithms would be close to 0 or negative, and ratios of them without meaning. 0 or
 * -ENOMEM. */
int timeseries_votes(const struct group_data *g, uint32_t width, bool less_is_worse, double *ret);

#endif
