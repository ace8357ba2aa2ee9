#include "detect/group/discover_stats.h"

#include "base/array.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Classes are this many spreads apart, and hardly anything lies between them. */
#define CUT_SCORE_MIN 4.0
#define CUT_VALLEY_SHARE 0.02
#define CUT_CANDIDATES 8

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double sorted_median(const double *x, size_t n)
{
	return n ? (x[(n - 1) / 2] + x[n / 2]) / 2 : NAN;
}

double stats_median(double *x, size_t n)
{
	qsort(x, n, sizeof(*x), compare);
	return sorted_median(x, n);
}

/* Of few values the MAD comes out too small; what makes it unbiased (Croux and Rousseeuw 1992). */
static double mad_correction(size_t n)
{
	static const double few[] = {0, 0, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};

	return n < ARRAY_SIZE(few) ? few[n] : (double)n / ((double)n - 0.8);
}

double stats_mad(double *x, size_t n)
{
	double median = stats_median(x, n);

	for (size_t i = 0; i < n; i++)
		x[i] = fabs(x[i] - median);
	return 1.4826 * mad_correction(n) * stats_median(x, n);
}

/* Put the values of each observer side by side into `sorted`; `start` gets where each begins. */
static void sort_by_observer(const double *x, const uint32_t *of, size_t n, uint32_t n_observers,
	double *sorted, double *start)
{
	double sum = 0;

	memset(start, 0, n_observers * sizeof(*start));
	for (size_t i = 0; i < n; i++)
		start[of[i]] += !isnan(x[i]);
	for (uint32_t o = 0; o < n_observers; o++) {
		sum += start[o];
		start[o] = sum;
	}
	for (size_t i = n; i-- > 0;) {
		if (isnan(x[i]))
			continue;
		start[of[i]] -= 1;
		sorted[(size_t)start[of[i]]] = x[i];
	}
}

void stats_spread(const double *x, const uint32_t *of, size_t n, uint32_t n_observers,
	uint32_t least, double *scratch, struct stats_spread *ret)
{
	double *start = scratch + n, *medians = start + n_observers, *mads = medians + n_observers;
	size_t end = 0, members = 0;
	uint32_t m = 0;

	sort_by_observer(x, of, n, n_observers, scratch, start);
	for (size_t i = 0; i < n; i++)
		end += !isnan(x[i]);
	for (uint32_t o = 0; o < n_observers; o++) {
		size_t first = (size_t)start[o];
		size_t count = (o + 1 < n_observers ? (size_t)start[o + 1] : end) - first;

		if (count < least)
			continue;
		medians[m] = stats_median(scratch + first, count);
		mads[m++] = stats_mad(scratch + first, count); /* leaves absolute deviations */
		memmove(scratch + members - m + 1, scratch + first + 1,
			(count - 1) * sizeof(*scratch));
		members += count;
	}
	*ret = (struct stats_spread){.n = m, .size = m ? (double)members / m : 0};
	/* The MADs of three values are often next to 0 by chance; all deviations together are not
	 * (without the smallest of each observer: the median's own). */
	ret->within = fmax(stats_median(mads, m), 1.4826 * stats_median(scratch, members - m));
	ret->between = stats_mad(medians, m);
}

void stats_medians(const double *x, const uint32_t *of, size_t n, uint32_t n_observers,
	uint32_t least, double *scratch, double *ret)
{
	double *start = scratch + n;
	size_t end = 0;

	sort_by_observer(x, of, n, n_observers, scratch, start);
	for (size_t i = 0; i < n; i++)
		end += !isnan(x[i]);
	for (uint32_t o = 0; o < n_observers; o++) {
		size_t first = (size_t)start[o];
		size_t count = (o + 1 < n_observers ? (size_t)start[o + 1] : end) - first;

		ret[o] = count && count >= least ? stats_median(scratch + first, count) : NAN;
	}
}

/* Judge the cut below x[at]. */
static bool cut_judge(const double *x, size_t n, size_t at, double spread_min, double apart_min,
	double *scratch, struct stats_cut *ret)
{
	struct stats_cut cut = {.at = (x[at - 1] + x[at]) / 2,
		.low = sorted_median(x, at),
		.high = sorted_median(x + at, n - at),
		.n_low = at,
		.n_high = n - at};
	double apart = cut.high - cut.low, low, high;
	size_t valley = 0;

	memcpy(scratch, x, n * sizeof(*x));
	low = fmax(stats_mad(scratch, at), spread_min);
	high = fmax(stats_mad(scratch + at, n - at), spread_min);
	for (size_t i = 0; i < n; i++)
		valley += x[i] > cut.low + apart / 3 && x[i] < cut.high - apart / 3;
	cut.score = apart / (low + high);
	if (cut.at < cut.low + apart / 4 || cut.at > cut.high - apart / 4)
		return false; /* through a class, not between two */
	if (apart < apart_min || cut.score < CUT_SCORE_MIN ||
		(double)valley > CUT_VALLEY_SHARE * (double)n)
		return false;
	*ret = cut;
	return true;
}

/* The width of the gap below x[at]. */
static double gap_below(const double *x, size_t at)
{
	return x[at] - x[at - 1];
}

/* The widest gaps, the widest first; how many. */
static size_t gaps_widest(const double *x, size_t n, size_t least, size_t gaps[CUT_CANDIDATES])
{
	size_t found = 0;

	for (size_t i = least; i + least <= n; i++) {
		double width = gap_below(x, i);
		size_t at;

		if (found == CUT_CANDIDATES && width <= gap_below(x, gaps[found - 1]))
			continue;
		at = found < CUT_CANDIDATES ? found++ : found - 1;
		for (; at > 0 && width > gap_below(x, gaps[at - 1]); at--)
			gaps[at] = gaps[at - 1];
		gaps[at] = i;
	}
	return found;
}

bool stats_cut(double *x, size_t n, size_t least, double spread_min, double apart_min,
	double *scratch, struct stats_cut *ret)
{
	size_t gaps[CUT_CANDIDATES] = {0}, found;

	if (!least || n < 2 * least)
		return false;
	qsort(x, n, sizeof(*x), compare);
	found = gaps_widest(x, n, least, gaps);
	for (size_t i = 0; i < found; i++) {
		if (cut_judge(x, n, gaps[i], spread_min, apart_min, scratch, ret))
			return true;
	}
	return false;
}
