/* The statistics behind discovery: robust location, spread, and where a row of numbers falls into
 * two. */
#ifndef DETECT_GROUP_DISCOVER_STATS_H
#define DETECT_GROUP_DISCOVER_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The median; NaN of nothing. Sorts `x`. */
double stats_median(double *x, size_t n);

/* The median absolute deviation, scaled and corrected for small n so that it estimates the standard
 * deviation of normal values. Sorts and overwrites `x`. */
double stats_mad(double *x, size_t n);

/* How far observers are apart in one block of time, and their own components. */
struct stats_spread {
	double between; /* MAD of the observers' medians */
	double within;	/* the middle one of the observers' MADs, or that of all deviations */
	double size;	/* the mean of the observers' numbers of components */
	uint32_t n;	/* observers that count: those with `least` components or more */
};

/* `of[i]` is the observer (0 .. n_observers - 1) of value i; NaN values do not count. `scratch` has
 * room for n + 3 * n_observers values. */
void stats_spread(const double *x, const uint32_t *of, size_t n, uint32_t n_observers,
	uint32_t least, double *scratch, struct stats_spread *ret);

/* The median of each observer; NaN: it has fewer than `least` values. `scratch` has room for n +
 * n_observers values. */
void stats_medians(const double *x, const uint32_t *of, size_t n, uint32_t n_observers,
	uint32_t least, double *scratch, double *ret);

/* Where values fall into two classes. */
struct stats_cut {
	double at;	  /* values below are of the lower class */
	double low, high; /* the classes' medians */
	double score;	  /* distance of the medians over the sum of the spreads */
	size_t n_low, n_high;
};

/* The cut at the widest gap that leaves `least` values on either side; false if nothing is clear:
 * spreads of less than `spread_min` are taken for that, and medians less than `apart_min` apart are
 * no classes. Sorts `x`, which has no NaN. `scratch` has room for n values. */
bool stats_cut(double *x, size_t n, size_t least, double spread_min, double apart_min,
	double *scratch, struct stats_cut *ret);

#endif
