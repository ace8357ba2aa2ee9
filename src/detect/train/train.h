/* Training: thresholds from fault-free data (detection step 8), and warnings about the data.
 *
 * A trainer takes one run after the other; each is a set of tables on one grid. Per component and
 * metric it keeps the smallest threshold at which nothing would have fired. At the end that is
 * rounded up to a multiple of 0.1 and doubled. docs/thresholds.md describes the warnings. */
#ifndef DETECT_TRAIN_TRAIN_H
#define DETECT_TRAIN_TRAIN_H

#include "detect/detect.h"

/* The smallest i / 10.0 (i = 1, 2, ...) that is not below `limit`. */
double train_tenth(double limit);

#define TRAIN_CURVE_COLUMNS 60

/* A component that differed from its peers nearly all the time. */
struct train_asymmetry {
	char *metric, *unit, *component, *group;
	double share; /* the share of its windows that were anomalous, by its peers' threshold */
	double own, peers; /* medians, in the metric's unit */
	int64_t start_us, end_us;
	/* Means over this many parts of the run; NaN: no values. */
	double own_curve[TRAIN_CURVE_COLUMNS], peers_curve[TRAIN_CURVE_COLUMNS];
};

struct train_result {
	struct thresholds *thresholds;
	struct train_asymmetry *asymmetries; /* the worst first */
	size_t n_asymmetries, cap_asymmetries;
	char **warnings; /* sentences: too short, too light, absent */
	size_t n_warnings, cap_warnings;
	uint32_t n_runs;
	uint32_t n_windows; /* of all runs */
	int64_t span_us;    /* of all runs */
};

void train_asymmetry_release(struct train_asymmetry *a);
void train_result_release(struct train_result *r);

struct trainer;

/* `opt` has a complete measure and parameters. It and everything it points to must outlive the
 * trainer. */
int trainer_new(const struct detect_options *opt, struct trainer **ret, struct lp_err *err);
void trainer_free(struct trainer *t);

/* Learn from a run. The tables (all on one grid) are taken over and freed, even on failure. */
int trainer_add(struct trainer *t, struct lp_table **tables, uint32_t n_tables, struct lp_err *err);

/* The result. -ENODATA: nothing was learnt. Zero-initialise `ret`. */
int trainer_finish(struct trainer *t, struct train_result *ret, struct lp_err *err);

#endif
