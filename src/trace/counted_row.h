/* A row with counters that begin at 0 in its first sample, so that the first counts show as growth:
 * the archive stores counters, and readers compute differences. */
#ifndef TRACE_COUNTED_ROW_H
#define TRACE_COUNTED_ROW_H

#include "collect/collector.h"

/* Zero-initialise it. */
struct counted_row {
	struct collect_row place;
	bool told; /* a sample contains it */
};

/* Store `n` values in the current sample. For a row that is new (or had retired), `last` has its
 * initial values. They are stored in the previous sample or, if that is already written, in this
 * one; then `*ret_behind` becomes true, and the new values show in the next sample. `last` becomes
 * the stored values. */
int counted_row_store(struct counted_row *row, struct collect_sink *sink,
	const struct lp_schema *schema, const char *observer, const char *name,
	const int64_t *values, int64_t *last, bool *ret_behind, struct lp_err *err);

#endif
