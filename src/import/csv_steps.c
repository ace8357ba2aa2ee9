#include "import/csv_steps.h"

#include "base/cleanup.h"
#include "base/time.h"
#include <stdlib.h>

/* Fewer intervals do not show a step. */
#define SPANS_LEAST 4

/* This many intervals are enough to find the usual one. */
#define SPANS_MOST (UINT32_C(1) << 16)

/* The clock of a program that sleeps between samples is late by a different time at each of them,
 * and interpreters and exports add digits. So the same step is rarely the same number. */
#define ALIKE_PART 4 /* intervals that differ by less than this fraction of them are one step */
#define ROUND_PART 20

static bool spans_alike(int64_t a, int64_t b)
{
	return a < b ? b - a <= a / ALIKE_PART : a - b <= b / ALIKE_PART;
}

/* Remove digits that are noise: round to whole seconds or milliseconds if that changes little. */
static int64_t span_round(int64_t us)
{
	int64_t unit = us >= US_PER_SEC ? US_PER_SEC : US_PER_SEC / 1000;
	int64_t whole = (us + unit / 2) / unit * unit;
	int64_t off = whole < us ? us - whole : whole - us;

	return off <= us / ROUND_PART ? whole : us;
}

/* The intervals between the samples of one component. */
struct steps {
	int64_t last_us;
	int64_t us;	/* the interval that may be the most frequent one */
	int64_t off_us; /* the sum of the differences of similar intervals from it */
	uint32_t votes;
	uint32_t n, n_alike; /* intervals; those that are similar to `us` */
	bool begun, exact;   /* exact: all of those are equal to it */
};

/* Majority vote: an interval with more than half of all votes is certain to win. */
static void steps_vote(struct steps *c, int64_t us)
{
	c->n++;
	if (!c->votes) {
		c->us = us;
		c->exact = true;
	}
	c->votes += spans_alike(c->us, us) ? 1 : (uint32_t)-1;
}

static void steps_count(struct steps *c, int64_t us)
{
	if (!spans_alike(c->us, us))
		return;
	c->n_alike++;
	c->off_us += us - c->us;
	c->exact = c->exact && us == c->us;
}

static void rows_each_span(const struct csv_rows *rows, struct steps *steps, size_t n,
	void (*take)(struct steps *c, int64_t us))
{
	for (size_t i = 0; i < n; i++)
		steps[i].begun = false;
	for (size_t i = 0; i < rows->n; i++) {
		uint32_t row = rows->order[i];
		struct steps *c = &steps[rows->component[row]];

		if (c->begun && rows->wall_us[row] != c->last_us)
			take(c, rows->wall_us[row] - c->last_us);
		c->begun = true;
		c->last_us = rows->wall_us[row];
	}
}

/* The step of a component; 0: its samples are not regular. */
static int64_t step_of(const struct steps *c)
{
	if (c->n < SPANS_LEAST || c->n_alike <= c->n / 2)
		return 0;
	return c->exact ? c->us : span_round(c->us + c->off_us / c->n_alike);
}

int64_t csv_steps_interval_us(const struct csv_rows *rows, const uint32_t *kinds,
	size_t n_components, size_t n_kinds, int64_t usual_us)
{
	_cleanup_free_ struct steps *steps = calloc(n_components + 1, sizeof(*steps));
	_cleanup_free_ bool *mixed = calloc(n_kinds + 1, sizeof(*mixed));
	int64_t longest = usual_us;

	if (!steps || !mixed)
		return usual_us;
	rows_each_span(rows, steps, n_components, steps_vote);
	rows_each_span(rows, steps, n_components, steps_count);
	for (size_t i = 0; i < n_components; i++) {
		int64_t us = step_of(&steps[i]);

		mixed[kinds[i]] |= us && (us <= usual_us || spans_alike(us, usual_us));
	}
	for (size_t i = 0; i < n_components; i++) {
		int64_t us = step_of(&steps[i]);

		if (mixed[kinds[i]] && us > longest && !spans_alike(us, usual_us) &&
			us <= CSV_STEP_MAX_US)
			longest = us;
	}
	return longest;
}

static int compare_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The middle one of the largest group of similar intervals, in a sorted list. */
static int64_t most_alike(const int64_t *spans, size_t n)
{
	size_t most = 0, middle = 0;

	for (size_t first = 0, end = 0; first < n; first++) {
		while (end < n && spans_alike(spans[first], spans[end]))
			end++;
		if (end - first > most) {
			most = end - first;
			middle = first + most / 2;
		}
	}
	return n ? spans[middle] : 0;
}

int64_t csv_steps_about_us(const struct csv_rows *rows, size_t n_components)
{
	_cleanup_free_ int64_t *last_us = calloc(n_components + 1, sizeof(*last_us));
	_cleanup_free_ bool *seen = calloc(n_components + 1, sizeof(*seen));
	_cleanup_free_ int64_t *spans = calloc(SPANS_MOST, sizeof(*spans));
	size_t n = 0;

	if (!last_us || !seen || !spans)
		return 0;
	for (size_t i = 0; i < rows->n && n < SPANS_MOST; i++) {
		uint32_t component = rows->component[rows->order[i]];
		int64_t us = rows->wall_us[rows->order[i]];

		if (seen[component] && us != last_us[component])
			spans[n++] = us - last_us[component];
		seen[component] = true;
		last_us[component] = us;
	}
	qsort(spans, n, sizeof(*spans), compare_i64);
	return span_round(most_alike(spans, n));
}
