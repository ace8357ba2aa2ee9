/* The state of each member in each window: its median, its peers' median, and the mark. */
#include "detect/compare/marks.h"

#include "base/cleanup.h"
#include "base/median.h"
#include "base/slices.h"
#include "detect/compare/compare.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Calibrated thresholds find what is unusual; below this ratio it does not matter. */
#define RATIO_LEAST 1.2
/* The same for a vector: a tenth of everything that its peers do. It is a sum over many functions,
 * in most of which no member differs. */
#define VECTOR_LEAST 1.1

/* No work, while the peers work. */
#define NOTHING 1e-3

/* At least this many observers must deliver data before another one is missed. */
#define OBSERVERS_LEAST 2

static double window_median(
	const struct comparison *c, uint32_t member, uint32_t window, double *values)
{
	const double *row = c->smoothed.rows[member];
	uint32_t n = 0;

	for (uint32_t s = c->series->first[window]; row && s <= c->series->last[window]; s++) {
		values[n] = row[s];
		n += isfinite(row[s]) != 0;
	}
	return median_of(values, n);
}

/* The medians of a member in all windows; `ret` is indexed by window, then by member. */
static void member_medians(struct comparison *c, uint32_t member, double *values, double *ret)
{
	uint32_t n_windows = c->series->n_windows;

	for (uint32_t w = 0; w < n_windows; w++) {
		size_t at = (size_t)member * n_windows + w;
		double own = c->data[at] ? window_median(c, member, w, values) : NAN;

		ret[(size_t)w * c->smoothed.n_members + member] = own;
		c->own[at] = (float)own;
	}
}

/* For each member, the median of the others' medians in a window. Reorders the medians. Members
 * without data have peers, too. */
static void window_peers(struct comparison *c, uint32_t window, double *medians, double *values)
{
	uint32_t n = 0, n_windows = c->series->n_windows;
	struct median_split split;

	for (uint32_t i = 0; i < c->smoothed.n_members; i++) {
		values[n] = medians[i];
		n += !isnan(medians[i]);
	}
	split = median_split(values, n);
	for (uint32_t i = 0; i < c->smoothed.n_members; i++)
		c->peers[(size_t)i * n_windows + window] =
			(float)(isnan(medians[i]) ? median_of_all(&split)
						  : median_of_others(&split, medians[i]));
}

int comparison_medians(struct comparison *c)
{
	uint32_t n = c->smoothed.n_members, n_windows = c->series->n_windows;
	size_t most = n > c->params.win_size ? n : c->params.win_size;
	_cleanup_free_ double *medians = malloc(((size_t)n * n_windows + 1) * sizeof(*medians));
	bool many = (size_t)n * c->smoothed.n_slots >= VOTES_MANY;
	int failed = 0; /* NOLINT(clang-analyzer-deadcode.DeadStores): reduced with the threads' */

#pragma omp parallel reduction(min : failed) if (many && medians)
	{
		_cleanup_free_ double *values = calloc(most, sizeof(*values));

		failed = values && medians ? 0 : -ENOMEM; /* each thread's own */
#pragma omp for schedule(static)
		for (uint32_t i = 0; i < n; i++) {
			slices_rest_at(i);
			if (failed == 0)
				member_medians(c, i, values, medians);
		}
#pragma omp for schedule(static)
		for (uint32_t w = 0; w < n_windows; w++) {
			slices_rest();
			if (failed == 0)
				window_peers(c, w, medians + (size_t)w * n, values);
		}
	}
	return failed;
}

double comparison_ratio(const struct comparison *c, double own, double peers)
{
	double a = own + c->floor, b = peers + c->floor;

	if (a == b)
		return 1;
	if (b <= 0)
		return a <= 0 ? 1 : INFINITY;
	return a <= 0 ? 0 : a / b;
}

/* Does it do nothing while its peers do work that matters? */
static bool stands_still(const struct comparison *c, double own, double peers)
{
	return (c->role == LP_ROLE_WORK || c->role == LP_ROLE_LATENCY) && peers > c->floor &&
		own <= NOTHING * peers;
}

static enum lp_mark mark_exceeding(
	const struct comparison *c, double own, double peers, double ratio)
{
	if (own < peers && stands_still(c, own, peers))
		return LP_MARK_ABSENT;
	if (c->calibrated &&
		(fabs(own - peers) < c->floor || (ratio < RATIO_LEAST && ratio > 1 / RATIO_LEAST)))
		return LP_MARK_NORMAL;
	return own < peers ? LP_MARK_BELOW : LP_MARK_ABOVE;
}

bool comparison_asks(const struct comparison *c, size_t at)
{
	double own = c->own[at], peers = c->peers[at];

	return c->data[at] &&
		mark_exceeding(c, own, peers, comparison_ratio(c, own, peers)) != LP_MARK_NORMAL;
}

/* Did the observer of a member become silent just before the end of a window? Then it may be late.
 */
static bool is_late(const struct comparison *c, uint32_t member, uint32_t window)
{
	const struct presence *p = c->past ? c->past->presence : NULL;
	uint32_t component = c->v->groups[c->series->group].members[member];
	uint32_t slot = c->context + c->series->last[window];
	int32_t last;

	if (!p)
		return false;
	last = p->last[(size_t)p->observer[component] * p->n_slots + slot];
	return last < (int32_t)slot && slot - (uint32_t)last < p->lateness;
}

/* Is the observer of a member silent at the end of a window, while most others deliver data? */
static bool is_silent(const struct comparison *c, uint32_t member, uint32_t window)
{
	const struct presence *p = c->past ? c->past->presence : NULL;
	uint32_t component = c->v->groups[c->series->group].members[member];
	uint32_t slot = c->context + c->series->last[window], n = 0;

	for (uint32_t o = 0; p && o < p->n_observers; o++) {
		int32_t last = p->last[(size_t)o * p->n_slots + slot];
		bool heard = last >= 0 && slot - (uint32_t)last <= p->lateness;

		if (heard && o == p->observer[component])
			return false;
		n += heard;
	}
	return n >= OBSERVERS_LEAST && 2 * n + 1 > p->n_observers;
}

/* Is a window without values an anomaly? A component that never had values is not missing any.
 * Without calls, their time is unknown. */
static enum lp_mark mark_missing(const struct comparison *c, uint32_t member, uint32_t window,
	uint32_t n_data, uint32_t n_rows)
{
	/* The only peers may be components of the same server: then all of them disappear at
	 * once. */
	bool missed = n_data ? 2 * n_data + 1 > n_rows : is_silent(c, member, window);

	return missed && !c->gaps && c->first_slot[member] <= (int64_t)c->series->first[window] &&
			!is_late(c, member, window)
		? LP_MARK_ABSENT
		: LP_MARK_NONE;
}

/* The number of members that have the metric by the end of a window, or at any time if all data is
 * compared at once. */
static uint32_t window_n_rows(const struct comparison *c, uint32_t window)
{
	uint32_t n = 0;

	for (uint32_t i = 0; c->past && i < c->smoothed.n_members; i++)
		n += c->first_slot[i] <= (int64_t)c->series->last[window];
	return c->past ? n : c->n_rows;
}

/* The mean of a member in a window; NaN: it has no values. */
static double window_mean(const struct comparison *c, uint32_t member, uint32_t window)
{
	const double *row = c->smoothed.rows[member];
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t s = c->series->first[window]; row && s <= c->series->last[window]; s++) {
		if (!isfinite(row[s]))
			continue;
		sum += row[s];
		n++;
	}
	return n ? sum / n : NAN;
}

/* If all members work only from time to time, medians and distances mean little. But a member that
 * does nothing in a window in which more than half of its peers did significant work stands still.
 */
static void window_mark_idle(struct comparison *c, uint32_t window, uint32_t n_data)
{
	uint32_t n_busy = 0, n_still = 0;

	for (uint32_t i = 0; i < c->smoothed.n_members; i++)
		n_still += c->own[(size_t)i * c->series->n_windows + window] <= 0;
	for (uint32_t i = 0; n_still && i < c->smoothed.n_members; i++) {
		size_t at = (size_t)i * c->series->n_windows + window;

		n_busy += c->data[at] &&
			(c->own[at] > c->floor || window_mean(c, i, window) > c->floor);
	}
	for (uint32_t i = 0; n_still && 2 * n_busy > n_data && i < c->smoothed.n_members; i++) {
		size_t at = (size_t)i * c->series->n_windows + window;

		if (c->data[at] && c->own[at] <= 0 && window_mean(c, i, window) <= 0)
			c->series->marks[at] = LP_MARK_ABSENT;
	}
}

/* Step 5. */
static void window_mark(struct comparison *c, uint32_t window, uint32_t n_data)
{
	struct lp_series *s = c->series;
	uint32_t n_rows = window_n_rows(c, window);
	bool too_few = c->role == LP_ROLE_SERVICE && n_data < SERVICE_MEMBERS_LEAST;

	for (uint32_t i = 0; i < c->smoothed.n_members; i++) {
		size_t at = (size_t)i * s->n_windows + window;
		double ratio = comparison_ratio(c, c->own[at], c->peers[at]);

		slices_rest_at(i);
		s->ratios[at] = c->data[at] ? (float)ratio : NAN;
		if (!c->data[at]) {
			s->marks[at] = (uint8_t)mark_missing(c, i, window, n_data, n_rows);
		} else if (too_few) {
			s->marks[at] = LP_MARK_NONE;
		} else if (c->votes[at] > s->thresholds[i]) {
			s->marks[at] = (uint8_t)(c->vectors
					? comparison_vector_mark(c, at, VECTOR_LEAST)
					: mark_exceeding(c, c->own[at], c->peers[at], ratio));
		} else {
			s->marks[at] = LP_MARK_NORMAL;
		}
		s->distances[at] = s->marks[at] > LP_MARK_NORMAL ? (float)c->votes[at] : 0;
	}
	if (c->role == LP_ROLE_WORK && c->calibrated && !c->vectors)
		window_mark_idle(c, window, n_data);
}

static uint32_t window_n_data(const struct comparison *c, uint32_t window)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->smoothed.n_members; i++)
		n += c->data[(size_t)i * c->series->n_windows + window];
	return n;
}

void comparison_marks(struct comparison *c)
{
	bool many = (size_t)c->smoothed.n_members * c->smoothed.n_slots >= VOTES_MANY;

#pragma omp parallel for schedule(static) if (many)
	for (uint32_t w = 0; w < c->series->n_windows; w++) {
		slices_rest();
		window_mark(c, w, window_n_data(c, w));
	}
}

/* The first of the 2k-1 windows that end with `last`. */
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

/* Do k of 2k-1 windows among first .. last have votes of at least `level`? */
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

/* The limit is one of the votes; k of the windows around it reach it. */
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
