/* Metrics that say how bad the worst of the last seconds was: a disk that is silent for one second
 * in ten has a mean like its peers, and spikes that none of them has. */
#ifndef MODEL_TABLE_PEAK_H
#define MODEL_TABLE_PEAK_H

#include <limpet/table.h>

/* The time over which a metric of this name takes its largest value; 0: it does not. */
int64_t peak_span_us(const char *metric);

/* Is a grid of this step fine enough to have peaks? On a coarser one a step's mean hides them, and
 * a peak would be nothing but the value again. */
bool peak_fits(const char *metric, int64_t step_us);

/* Replace every value by the largest of the `width` values that end with it; missing ones count for
 * nothing, and where all are missing it stays missing. 0 or -ENOMEM. */
int peak_apply(double *values, uint32_t n, uint32_t width);

/* The same for a row of a table whose metric takes the largest value of `span_us`. Only for rows
 * that were computed: what somebody else measured under such a name are peaks already. */
int peak_row(struct lp_table *t, uint32_t row, int64_t span_us);

#endif
