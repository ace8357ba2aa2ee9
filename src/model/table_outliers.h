/* Samples that are far from all others in time: a clock that was wrong for a while, or a row with a
 * slip of the pen.
 */
#ifndef MODEL_TABLE_OUTLIERS_H
#define MODEL_TABLE_OUTLIERS_H

#include "model/table_builder.h"

struct table_outlier {
	int64_t first, end; /* slots */
	uint64_t n_values;
	uint32_t n_observers;
	const char *observer; /* one of them; the builder's */
};

/* Find what is apart from most of the data by more than a day (or TABLE_PAGE_SLOTS slots), is less
 * than a tenth of it, and is of a minority of the observers, or too little to compare anybody with.
 * The caller frees the array. 0 or -ENOMEM. */
int table_outliers_find(
	const struct lp_table_builder *b, struct table_outlier **ret, size_t *ret_n);

#endif
