/* Clocks that were wrong, as far as what a builder has gathered shows. */
#ifndef MODEL_TABLE_CLOCKS_H
#define MODEL_TABLE_CLOCKS_H

#include "model/table_builder.h"

/* Samples that are far from all others in time: a clock that was wrong for a while, or a row with a
 * slip of the pen. */
struct table_outlier {
	int64_t first, end; /* slots */
	uint64_t n_values;
	uint32_t n_observers;
	const char *observer; /* one of them; the builder's */
	bool whole;	      /* it is all that there is of these observers */
};

/* Find what is apart from most of the data by more than a day (or TABLE_PAGE_SLOTS slots), is less
 * than a tenth of it, and is of a minority of the observers, or too little to compare anybody with;
 * and, however much it is, all data of observers that were only recorded more than an hour before
 * or after those others were, of which there are three at least, and twice as many.
 * The caller frees the array. 0 or -ENOMEM. */
int table_outliers_find(
	const struct lp_table_builder *b, struct table_outlier **ret, size_t *ret_n);

/* Observers whose clocks are off: all servers of a parallel file system are busy at the same times,
 * and one that is busy in the same way, but always a minute later, has a clock that is a minute
 * ahead. */
struct table_offset {
	const char *observer; /* of a component of the builder */
	int64_t slots;	      /* by which its clock is ahead of the others' */
};

/* Find observers whose load follows that of most others, not at the same time but by a constant
 * offset. Only what is beyond doubt is found: with a load that hardly changes there is nothing. The
 * caller frees the array. 0 or -ENOMEM. */
int table_offsets_find(const struct lp_table_builder *b, struct table_offset **ret, size_t *ret_n);

/* The same for an observer of which it is known that its clock is ahead by `about` slots, give or
 * take `range`. `about` is returned where the data does not say. 0 or -ENOMEM. */
int table_offset_refine(const struct lp_table_builder *b, const char *observer, int64_t about,
	int64_t range, int64_t *ret);

#endif
