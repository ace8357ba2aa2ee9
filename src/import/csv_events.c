#include "import/csv_events.h"

#include "base/cleanup.h"
#include "base/time.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A file may yield VALUES_ANYWAY values, plus a number per value in it, up to a limit: a few rows
 * that are years apart must not take hundreds of megabytes. */
#define VALUES_ANYWAY ((uint64_t)1 << 20)
#define VALUES_PER_VALUE 64
#define VALUES_MAX ((uint64_t)16 << 20)

int csv_events_parse(const char *text, enum csv_events *ret, struct lp_err *err)
{
	if (text && strcmp(text, "held") != 0 && strcmp(text, "rated") != 0)
		return lp_err_set(
			err, -EINVAL, "--events: '%.64s' is neither held nor rated", text);
	*ret = !text ? CSV_EVENTS_NONE : !strcmp(text, "held") ? CSV_EVENTS_HELD : CSV_EVENTS_RATED;
	return 0;
}

/* Events by series: a component, or a component and a metric if each row has one metric. */
struct events {
	struct csv_rows *rows;
	uint64_t *keys; /* component and column, sorted */
	size_t n_keys;
	double *state; /* [key * width + value] the held value, or the sum */
};

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t key_of(const struct csv_rows *rows, size_t row)
{
	return (uint64_t)rows->component[row] << 16 | rows->column[row];
}

static void events_release(struct events *e)
{
	free(e->keys);
	free(e->state);
}

static int events_init(struct events *e, struct csv_rows *rows, enum csv_events how)
{
	size_t n = 0;

	*e = (struct events){.rows = rows};
	e->keys = calloc(rows->n + 1, sizeof(*e->keys));
	if (!e->keys)
		return -ENOMEM;
	for (size_t i = 0; i < rows->n; i++)
		e->keys[i] = key_of(rows, i);
	qsort(e->keys, rows->n, sizeof(*e->keys), compare_keys);
	for (size_t i = 0; i < rows->n; i++) {
		if (!n || e->keys[i] != e->keys[n - 1])
			e->keys[n++] = e->keys[i];
	}
	e->n_keys = n;
	e->state = calloc(n * rows->width + 1, sizeof(*e->state));
	if (!e->state)
		return -ENOMEM;
	for (size_t i = 0; how == CSV_EVENTS_HELD && i < n * rows->width; i++)
		e->state[i] = NAN;
	return 0;
}

/* Apply an event; its missing values change nothing. */
static void events_take(struct events *e, size_t row, enum csv_events how)
{
	uint64_t key = key_of(e->rows, row);
	const uint64_t *at = bsearch(&key, e->keys, e->n_keys, sizeof(*e->keys), compare_keys);
	const double *values = e->rows->values + row * e->rows->width;
	double *state = e->state + (size_t)(at - e->keys) * e->rows->width;

	for (size_t i = 0; i < e->rows->width; i++) {
		if (isnan(values[i]))
			continue;
		state[i] = how == CSV_EVENTS_RATED ? state[i] + values[i] : values[i];
	}
}

/* Write the samples of one time; rates start again. */
static int events_give(struct events *e, int64_t time_us, int64_t step_us, enum csv_events how,
	struct csv_rows *to)
{
	size_t width = e->rows->width;

	for (size_t k = 0; k < e->n_keys; k++) {
		double *state = e->state + k * width;
		double *values = csv_rows_add(
			to, time_us, (uint32_t)(e->keys[k] >> 16), (uint16_t)e->keys[k]);

		if (!values)
			return -ENOMEM;
		for (size_t i = 0; i < width; i++) {
			values[i] = how == CSV_EVENTS_RATED
				? state[i] / ((double)step_us / US_PER_SEC)
				: state[i];
			if (how == CSV_EVENTS_RATED)
				state[i] = 0;
		}
	}
	return 0;
}

static uint64_t values_max(const struct csv_rows *rows)
{
	uint64_t values = (uint64_t)rows->n * rows->width;

	if (values > (VALUES_MAX - VALUES_ANYWAY) / VALUES_PER_VALUE)
		return VALUES_MAX;
	return VALUES_ANYWAY + values * VALUES_PER_VALUE;
}

int csv_events_sample(struct csv_rows *rows, enum csv_events how, int64_t step_us, uint64_t max,
	struct lp_err *err)
{
	_cleanup_(events_release) struct events e = {0};
	struct csv_rows samples;
	int64_t first_us, last_us;
	size_t taken = 0, per_step;
	int r;

	if (how == CSV_EVENTS_NONE || !rows->n)
		return 0;
	csv_rows_init(&samples, rows->width);
	r = csv_rows_sort(rows);
	if (r == 0)
		r = events_init(&e, rows, how);
	if (r < 0)
		return lp_err_sys(err, r, "cannot keep %zu events", rows->n);
	/* A sample covers the step that ends at its time. */
	first_us = (floor_div(rows->wall_us[rows->order[0]] - 1, step_us) + 1) * step_us;
	last_us = (floor_div(rows->wall_us[rows->order[rows->n - 1]] - 1, step_us) + 1) * step_us;
	per_step = e.n_keys * rows->width;
	if (!max)
		max = values_max(rows);
	if (per_step > 0 && (uint64_t)((last_us - first_us) / step_us + 1) > max / per_step)
		return lp_err_set(err, -E2BIG,
			"these events cover too much time: they make more than %" PRIu64
			" values; choose a longer --events-every",
			max);
	for (int64_t t = first_us; r == 0 && t <= last_us; t += step_us) {
		while (taken < rows->n && rows->wall_us[rows->order[taken]] <= t)
			events_take(&e, rows->order[taken++], how);
		r = events_give(&e, t, step_us, how, &samples);
	}
	if (r < 0) {
		csv_rows_release(&samples);
		return lp_err_sys(err, r, "cannot keep the samples of %zu events", rows->n);
	}
	csv_rows_release(rows);
	*rows = samples;
	return 0;
}
