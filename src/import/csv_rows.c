#include "import/csv_rows.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RADIX_BITS 11
#define RADIX_SIZE (1u << RADIX_BITS)
#define SPANS_MAX 64 /* different intervals that are counted */

void csv_rows_init(struct csv_rows *rows, size_t width)
{
	*rows = (struct csv_rows){.width = width, .sorted = true};
}

void csv_rows_release(struct csv_rows *rows)
{
	free(rows->wall_us);
	free(rows->component);
	free(rows->column);
	free(rows->values);
	free(rows->order);
	free(rows->spare);
	*rows = (struct csv_rows){0};
}

void csv_rows_clear(struct csv_rows *rows)
{
	size_t from = rows->n, n = rows->held;

	if (n) {
		memmove(rows->wall_us, rows->wall_us + from, n * sizeof(*rows->wall_us));
		memmove(rows->component, rows->component + from, n * sizeof(*rows->component));
		memmove(rows->column, rows->column + from, n * sizeof(*rows->column));
		memmove(rows->values, rows->values + from * rows->width,
			n * rows->width * sizeof(*rows->values));
	}
	rows->n = n;
	rows->held = 0;
	rows->sorted = true; /* held rows all have the same time */
}

void csv_rows_hold(struct csv_rows *rows)
{
	size_t n = rows->n;

	while (n && rows->wall_us[n - 1] == rows->wall_us[rows->n - 1])
		n--;
	if (!n)
		return;
	rows->held = rows->n - n;
	rows->n = n;
}

static int grow(void *items, size_t n, size_t size)
{
	void **slot = items;
	void *grown = reallocarray(*slot, n, size);

	if (!grown)
		return -ENOMEM;
	*slot = grown;
	return 0;
}

static int rows_grow(struct csv_rows *rows)
{
	size_t cap = rows->cap ? rows->cap * 2 : 256;

	if (grow(&rows->wall_us, cap, sizeof(*rows->wall_us)) < 0 ||
		grow(&rows->component, cap, sizeof(*rows->component)) < 0 ||
		grow(&rows->column, cap, sizeof(*rows->column)) < 0 ||
		grow(&rows->values, cap * rows->width, sizeof(*rows->values)) < 0)
		return -ENOMEM;
	rows->cap = cap;
	return 0;
}

double *csv_rows_add(struct csv_rows *rows, int64_t wall_us, uint32_t component, uint16_t column)
{
	size_t i = rows->n;

	if (i == rows->cap && rows_grow(rows) < 0)
		return NULL;
	rows->sorted &= !i || wall_us >= rows->wall_us[i - 1];
	rows->wall_us[i] = wall_us;
	rows->component[i] = component;
	rows->column[i] = column;
	rows->n = i + 1;
	return rows->values + i * rows->width;
}

/* One stable pass over RADIX_BITS bits of the time since `min_us`. */
static void radix_pass(struct csv_rows *rows, int64_t min_us, unsigned shift)
{
	size_t starts[RADIX_SIZE] = {0}, sum = 0;
	uint32_t *swap;

	for (size_t i = 0; i < rows->n; i++)
		starts[(uint64_t)(rows->wall_us[i] - min_us) >> shift & (RADIX_SIZE - 1)]++;
	for (size_t d = 0; d < RADIX_SIZE; d++) {
		size_t count = starts[d];

		starts[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < rows->n; i++) {
		uint32_t row = rows->order[i];
		uint64_t key = (uint64_t)(rows->wall_us[row] - min_us);

		rows->spare[starts[key >> shift & (RADIX_SIZE - 1)]++] = row;
	}
	swap = rows->order;
	rows->order = rows->spare;
	rows->spare = swap;
}

int csv_rows_sort(struct csv_rows *rows)
{
	int64_t min_us = INT64_MAX, max_us = INT64_MIN;

	if (rows->cap > rows->cap_order) {
		if (grow(&rows->order, rows->cap, sizeof(*rows->order)) < 0 ||
			grow(&rows->spare, rows->cap, sizeof(*rows->spare)) < 0)
			return -ENOMEM;
		rows->cap_order = rows->cap;
	}
	for (size_t i = 0; i < rows->n; i++) {
		rows->order[i] = (uint32_t)i;
		min_us = rows->wall_us[i] < min_us ? rows->wall_us[i] : min_us;
		max_us = rows->wall_us[i] > max_us ? rows->wall_us[i] : max_us;
	}
	if (rows->sorted)
		return 0;
	for (unsigned shift = 0; shift < 64 && (uint64_t)(max_us - min_us) >> shift;
		shift += RADIX_BITS)
		radix_pass(rows, min_us, shift);
	return 0;
}

struct span_count {
	int64_t us;
	size_t count;
};

static void span_count(struct span_count *spans, size_t *n, int64_t us)
{
	size_t i = 0;

	while (i < *n && spans[i].us != us)
		i++;
	if (i == SPANS_MAX)
		return; /* with this many different intervals, none is usual */
	if (i == *n)
		spans[(*n)++] = (struct span_count){.us = us};
	spans[i].count++;
}

int64_t csv_rows_interval_us(const struct csv_rows *rows, size_t n_components, bool *ret_usual)
{
	_cleanup_free_ int64_t *last_us = calloc(n_components + 1, sizeof(*last_us));
	_cleanup_free_ bool *seen = calloc(n_components + 1, sizeof(*seen));
	struct span_count spans[SPANS_MAX], best = {0};
	size_t n = 0, total = 0;

	*ret_usual = true;
	if (!last_us || !seen)
		return 0;
	for (size_t i = 0; i < rows->n; i++) {
		uint32_t component = rows->component[rows->order[i]];
		int64_t us = rows->wall_us[rows->order[i]];

		if (seen[component] && us != last_us[component]) {
			span_count(spans, &n, us - last_us[component]);
			total++;
		}
		seen[component] = true;
		last_us[component] = us;
	}
	for (size_t i = 0; i < n; i++) {
		if (spans[i].count > best.count)
			best = spans[i];
	}
	*ret_usual = best.count * 2 >= total;
	return best.us;
}
