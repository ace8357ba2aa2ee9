/* How often the components of a CSV file were sampled. */
#ifndef IMPORT_CSV_STEPS_H
#define IMPORT_CSV_STEPS_H

#include "import/csv_rows.h"

/* A component without samples for longer than this is silent, and must not slow down the others. */
#define CSV_STEP_MAX_US (INT64_C(60) * 1000000)

/* The interval of a file with samples that are mostly `usual_us` apart. Components of one kind are
 * compared with each other, on one grid: if some of a kind are sampled at `usual_us` and others
 * regularly, but less often, it is the longest of these steps, up to CSV_STEP_MAX_US. Otherwise it
 * is `usual_us`. The rows must have been sorted; `kinds` has the kind of each component. Returns
 * `usual_us` if memory runs out. */
int64_t csv_steps_interval_us(const struct csv_rows *rows, const uint32_t *kinds,
	size_t n_components, size_t n_kinds, int64_t usual_us);

#endif
