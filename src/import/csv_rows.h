/* A chunk of rows in memory, which can be sorted by time and asked for the time between samples. */
#ifndef IMPORT_CSV_ROWS_H
#define IMPORT_CSV_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csv_rows {
	size_t n, cap;
	size_t held;  /* more rows after the n, which belong to the next chunk */
	size_t width; /* values in a row */
	int64_t *wall_us;
	uint32_t *component;
	uint16_t *column; /* of the first value */
	double *values;	  /* [row * width + value] */
	bool sorted;	  /* so far no row is older than the one before */
	uint32_t *order;  /* csv_rows_sort(): the rows from the oldest to the newest */
	uint32_t *spare;
	size_t cap_order;
};

void csv_rows_init(struct csv_rows *rows, size_t width);
void csv_rows_release(struct csv_rows *rows);
/* Begin a new chunk, with the rows that were held. */
void csv_rows_clear(struct csv_rows *rows);

/* Hold the last rows of one time for the next chunk: more of that sample may follow, and a sample
 * in two pieces would have its metrics in two batches. Does nothing if all rows have that time. */
void csv_rows_hold(struct csv_rows *rows);

/* Append a row and return the place for its `width` values, or NULL: out of memory. */
double *csv_rows_add(struct csv_rows *rows, int64_t wall_us, uint32_t component, uint16_t column);

/* Fill `order`. Rows of the same time keep theirs, so that the later can win. 0 or -ENOMEM. */
int csv_rows_sort(struct csv_rows *rows);

/* The most frequent time between two samples of one component, 0 if there is none. The rows must
 * have been sorted; components are numbers below `n_components`. `*ret_usual` says whether at least
 * half of the spans are equal to it, as they are unless rows are shuffled. */
int64_t csv_rows_interval_us(const struct csv_rows *rows, size_t n_components, bool *ret_usual);

#endif
