/* A chunk of rows in memory: sorts them by time and finds the interval between samples. */
#ifndef IMPORT_CSV_ROWS_H
#define IMPORT_CSV_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csv_rows {
	size_t n, cap;
	size_t held;  /* additional rows after the first n, which belong to the next chunk */
	size_t width; /* values per row */
	int64_t *wall_us;
	uint32_t *component;
	uint16_t *column; /* of the first value */
	double *values;	  /* [row * width + value] */
	bool sorted;	  /* no row so far is older than the previous one */
	uint32_t *order;  /* csv_rows_sort(): the rows, oldest first */
	uint32_t *spare;
	size_t cap_order;
};

void csv_rows_init(struct csv_rows *rows, size_t width);
void csv_rows_release(struct csv_rows *rows);
/* Begin a new chunk with the rows that were held. */
void csv_rows_clear(struct csv_rows *rows);

/* Hold the rows of the last time for the next chunk: more rows of that sample may follow, and a
 * split sample would have its metrics in two batches. Does nothing if all rows have the same
 * time. */
void csv_rows_hold(struct csv_rows *rows);

/* Append a row and return the place for its `width` values, or NULL: out of memory. */
double *csv_rows_add(struct csv_rows *rows, int64_t wall_us, uint32_t component, uint16_t column);

/* Fill `order`. Rows with the same time keep their order, so that the later one counts. 0 or
 * -ENOMEM. */
int csv_rows_sort(struct csv_rows *rows);

/* The most frequent time between two samples of one component, 0 if there is none. The rows must
 * have been sorted; components are numbers below `n_components`. `*ret_usual`: at least half of the
 * intervals are equal to it, which is so unless rows are shuffled. */
int64_t csv_rows_interval_us(const struct csv_rows *rows, size_t n_components, bool *ret_usual);

#endif
