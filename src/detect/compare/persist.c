#include "detect/compare/persist.h"

#include <math.h>

/* The first of the last 2k-1 windows that end with `last`. */
static uint32_t first_of(uint32_t last, uint32_t k)
{
	uint64_t before = 2 * ((uint64_t)k - 1);

	return before < last ? last - (uint32_t)before : 0;
}

bool persist_fires(const uint8_t *marks, uint32_t n, uint32_t k, uint32_t *ret_first_window)
{
	uint32_t found = 0, oldest = 0;

	for (uint32_t w = 0; k > 0 && w < n; w++) {
		found += mark_anomalous(marks[w]);
		for (; oldest < first_of(w, k); oldest++)
			found -= mark_anomalous(marks[oldest]);
		if (found >= k) {
			if (ret_first_window)
				*ret_first_window = w;
			return true;
		}
	}
	return false;
}

uint32_t persist_accumulate(const uint8_t *marks, uint32_t n, uint32_t from, uint32_t *ret_peak)
{
	uint32_t now = 0, peak = 0;

	for (uint32_t w = from; w < n; w++) {
		if (mark_anomalous(marks[w]))
			now++;
		else if (marks[w] == LP_MARK_NORMAL && now > 0)
			now--;
		peak = now > peak ? now : peak;
	}
	if (ret_peak)
		*ret_peak = peak;
	return now;
}

/* Have k of 2k-1 windows, of those first .. last, votes of at least `level`? */
static bool votes_reach(
	const double *votes, uint32_t first, uint32_t last, uint32_t k, double level)
{
	uint32_t found = 0, oldest = first;

	for (uint32_t w = first; w <= last; w++) {
		found += votes[w] >= level;
		for (; oldest < first_of(w, k); oldest++)
			found -= votes[oldest] >= level;
		if (found >= k)
			return true;
	}
	return false;
}

/* The limit is one of the votes, and among the windows around it are k that reach it. */
double persist_limit(const double *votes, uint32_t n, uint32_t k)
{
	double limit = 0;

	for (uint32_t w = 0; k > 0 && w < n; w++) {
		uint64_t last = (uint64_t)w + 2 * ((uint64_t)k - 1);

		last = last < n ? last : n - 1;
		if (votes[w] > limit &&
			votes_reach(votes, first_of(w, k), (uint32_t)last, k, votes[w]))
			limit = votes[w];
	}
	return limit;
}
