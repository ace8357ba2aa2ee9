/* A peer group that is compared by vectors, over all its windows. */
#ifndef DETECT_COMPARE_VECTOR_GROUP_H
#define DETECT_COMPARE_VECTOR_GROUP_H

#include "detect/compare/function_weights.h"
#include "detect/compare/vector_blame.h"
#include "detect/compare/vectors.h"
#include "model/vector_view.h"
#include <limpet/verdict.h>

struct vector_group {
	struct vector_view view;
	const char *metric; /* the table's */
	uint32_t n_members;
	uint32_t *view_of;  /* [member] its index in the view; UINT32_MAX: none */
	const char **names; /* [member] */
	uint32_t win_size, win_shift;
	double amount;	 /* the amount in a window is a constant value times this */
	double least;	 /* a dimension does not count in a window if no member has this much
			  */
	double *weights; /* [dimension]; NULL: all count the same */
	struct vector_group
		*selector;  /* the group that decides which dimensions count; NULL: this one */
	uint32_t *selected; /* [dimension of the selector] our own dimension, or UINT32_MAX */
	bool *kept;	    /* [dimension] those that count in every window; NULL: each
			     * window has its own */
	/* Compared dimension by dimension (vector_spread.h), not by Manhattan distances. */
	bool by_spread, counts_calls;
	uint32_t *sums;	  /* [dimension] the dimension for the sum of its image; NULL: there are no
			   * sums */
	uint32_t n_plain; /* dimensions from this one on are sums */
	uint32_t n_windows;
	struct vector_place *places; /* [member * n_windows + window] */
};

/* Make the vectors of observers that have functions in the table. `components` are their rows from
 * functions_join(). Both must outlive the group. 0 or -ENOMEM; release it in any case. */
int vector_group_make(const struct lp_table *t, struct lp_identity *const *components, uint32_t n,
	const struct lp_params *params, struct vector_group *ret);
void vector_group_release(struct vector_group *g);

/* Weigh the dimensions. `weights` may be NULL. 0 or -ENOMEM. */
int vector_group_weigh(struct vector_group *g, const struct function_weights *weights);

/* Compare by the spread of each dimension, if limpet knows the metric. Samples are also compared by
 * their sums per image of a program ("glusterfsd:kernel:*"), because many functions have few
 * samples. 0 or -ENOMEM. */
int vector_group_by_spread(struct vector_group *g);

/* Let another metric of the same functions decide which of them count: calls are compared for
 * functions that take time. The table is that of the other metric. 0 or -ENOMEM. */
int vector_group_select_by(struct vector_group *g, const struct lp_table *t,
	struct lp_identity *const *components, const struct lp_params *params);

/* A dimension that counts in one of these windows counts in all of them, as in the paper: for
 * callers that have all windows. 0 or -ENOMEM. */
int vector_group_select_whole(struct vector_group *g, const uint32_t *first, uint32_t n_windows);

/* Compare them in `n_windows` windows, beginning with slot `first`. Fills in `places`.
 */
int vector_group_compare(struct vector_group *g, uint32_t first, uint32_t n_windows);

/* Blame the functions of a member for the window that begins in slot `first`. */
int vector_group_blame(
	const struct vector_group *g, uint32_t member, uint32_t first, struct vector_blame *blame);

/* The smallest whole number, from 1 on, that no vote of n windows exceeds. With this threshold the
 * member is anomalous in none of them. NaN if it has no votes. */
double vector_limit(const double *votes, uint32_t n);

#endif
