/* A peer group over all its windows: smoothing, windows and votes, in parallel over the windows.
 * Results do not depend on the number of threads. */
#ifndef DETECT_COMPARE_VOTES_H
#define DETECT_COMPARE_VOTES_H

#include "detect/compare/measure.h"

/* With this many values or more, threads share the work; with fewer, synchronisation takes
 * longer. */
#define VOTES_MANY 65536

/* One metric of one peer group on the grid. */
struct group_data {
	const double *const *rows; /* [member] n_slots values, NaN: missing; a NULL row has none */
	uint32_t n_members, n_slots;
	uint32_t context;	     /* slots before the first one that counts, for averages */
	uint32_t end;		     /* the slot after the last one that counts; 0: all count */
	const struct lp_table *lazy; /* the table of the rows, if they may not have been read yet
				      * (model/table_view.h); NULL: values are present */
};

/* Call `visit` for the members 0 .. n - 1, in several threads if there are many. `room` has n_slots
 * values, for a row that was not read yet (table_values_peek()). 0 or -ENOMEM. */
typedef void members_visit(void *ctx, uint32_t member, double *room);
int members_each(uint32_t n, uint32_t n_slots, members_visit *visit, void *ctx);

/* The number of windows: window w covers the samples w*win_shift .. w*win_shift+win_size-1, and
 * must be complete. */
uint32_t window_count(const struct lp_params *p, uint32_t n_slots);

/* The rows after the context, smoothed (step 2), in one block; free() the result's `block` (rows
 * point into it). */
struct smoothed {
	double *block;
	const double **rows; /* NULL if the input row is NULL */
	uint32_t n_members, n_slots;
};

/* `sparse` is for metrics that have a value only when something happened: if less than half of the
 * last `sparse` samples have one, the average becomes NaN. 0: averages always count.
 */
int smooth_group(const struct group_data *g, uint32_t width, uint32_t sparse, struct smoothed *ret);
void smoothed_release(struct smoothed *s);

/* Does each member have data in each window? ret[member * n_windows + window]. */
void windows_data(const struct lp_params *p, const struct smoothed *s, bool *ret);

/* Compute the votes of `members` (NULL: all) in every window: ret[i * n_windows + window], NaN: no
 * data. `ret_data[member * n_windows + window]` (may be NULL) becomes true if the member has data;
 * it covers all members. */
int votes_all(const struct measure *m, const struct lp_params *p, const struct smoothed *s,
	const uint32_t *members, uint32_t n, double *ret, bool *ret_data);

/* The same for all members through measure.exceed(): exact for votes that exceed. `asked` (NULL:
 * all) says which votes matter, by the same index; the others get an arbitrary value. */
int votes_exceeding(const struct measure *m, const struct lp_params *p, const struct smoothed *s,
	const double *thresholds, const bool *asked, double *ret);

#endif
