/* Reasons against training data: lasting asymmetries, absence, too little load. */
#ifndef DETECT_TRAIN_TRAIN_CHECK_H
#define DETECT_TRAIN_TRAIN_CHECK_H

#include "detect/train/train.h"

/* One metric of one group of a run, with its results. */
struct train_pair {
	const struct lp_verdict *v;
	uint32_t group, metric;
	uint32_t n_windows;
	const double *const *rows; /* [member] of the table, NULL: none */
	const double *votes;	   /* [member * n_windows + window] */
	const bool *data;	   /* the same */
	const double *limits;	   /* [member]; NaN: no votes */
};

/* Check one metric of one group; warnings go into `ret`. 0 or -ENOMEM. */
int train_check_pair(const struct train_pair *p, struct train_result *ret);

/* Check the load of a group. 0 or -ENOMEM. */
int train_check_load(const struct lp_verdict *v, uint32_t group, struct train_result *ret);

/* Add a warning. */
int train_warn(struct train_result *ret, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
