/* Wrong clocks, as far as the data of a builder shows them. */
#ifndef MODEL_TABLE_CLOCKS_H
#define MODEL_TABLE_CLOCKS_H

#include "model/table_builder.h"

/* Samples that are far from all others in time: a clock was wrong for some time, or a row has a
 * typing error. */
struct table_outlier {
	int64_t first, end; /* slots */
	uint64_t n_values;
	uint32_t n_observers;
	const char *observer; /* one of them; owned by the builder */
	bool whole;	      /* it covers all data of these observers */
};

/* Find data that is more than a day (or TABLE_PAGE_SLOTS slots) away from most of the data, is less
 * than a tenth of it, and comes from a minority of the observers or is too little for a comparison.
 * Also find, whatever the amount, all data of observers that were only recorded more than an hour
 * before or after the others, if there are at least three others and twice as many. The caller
 * frees the array. 0 or -ENOMEM. */
int table_outliers_find(
	const struct lp_table_builder *b, struct table_outlier **ret, size_t *ret_n);

/* An observer with a wrong clock. All servers of a parallel file system are busy at the same times.
 * A server that is busy in the same way, but always a minute later, has a clock that is a minute
 * ahead. */
struct table_offset {
	const char *observer; /* of a component of the builder */
	int64_t slots;	      /* how far its clock is ahead of the others */
};

/* Find observers with a load that follows that of most others with a constant offset. Only certain
 * cases are found, and none if the load hardly changes. The caller frees the array. 0 or
 * -ENOMEM. */
int table_offsets_find(const struct lp_table_builder *b, struct table_offset **ret, size_t *ret_n);

/* The same as soon as the data shows it. Offsets may be up to half of the data, however little data
 * there is, but the load must follow that of the others more closely. Offsets of fewer than `least`
 * slots are left out. */
int table_offsets_find_soon(
	const struct lp_table_builder *b, int64_t least, struct table_offset **ret, size_t *ret_n);

/* The same for an observer with a clock that is known to be ahead by `about` slots, give or take
 * `range`. `*ret` is `about` if the data does not show the offset. 0 or -ENOMEM. */
int table_offset_refine(const struct lp_table_builder *b, const char *observer, int64_t about,
	int64_t range, int64_t *ret);

#endif
