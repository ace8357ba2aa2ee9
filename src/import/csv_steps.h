/* How often the components of a CSV file were sampled. */
#ifndef IMPORT_CSV_STEPS_H
#define IMPORT_CSV_STEPS_H

#include "import/csv_rows.h"

/* A component without samples for longer than this is silent, and must not slow down the others. */
#define CSV_STEP_MAX_US (INT64_C(60) * 1000000)

/* The interval of a file with samples that are mostly `usual_us` apart. Components of one kind are
 * compared with each other, on one grid: if some of a kind are sampled at `usual_us` and others
 * regularly, but less often, it is the longest of these steps, up to CSV_STEP_MAX_US. Otherwise it
 * is `usual_us`. Intervals that differ by less than a quarter are one step. The rows must have been
 * sorted; `kinds` has the kind of each component. Returns `usual_us` if memory runs out. */
int64_t csv_steps_interval_us(const struct csv_rows *rows, const uint32_t *kinds,
	size_t n_components, size_t n_kinds, int64_t usual_us);

/* The interval of a file in which no interval is usual, because the clock's reading differs a
 * little from sample to sample: the middle of the largest group of intervals that differ by less
 * than a quarter, in whole seconds if it is near one. 0: there is no interval, or memory ran out.
 * The rows must have been sorted. */
int64_t csv_steps_about_us(const struct csv_rows *rows, size_t n_components);

#endif
