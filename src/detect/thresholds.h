/* Thresholds: learnt from fault-free data into a file, or fixed on the command line. */
#ifndef DETECT_THRESHOLDS_H
#define DETECT_THRESHOLDS_H

#include <limpet/err.h>
#include <limpet/verdict.h>
#include <stdbool.h>
#include <stddef.h>

struct thresholds;

/* A readable, versioned text file (docs/thresholds.md). Errors say file and line. */
int thresholds_read(const char *path, struct thresholds **ret, struct lp_err *err);
int thresholds_parse(const char *text, size_t len, const char *name, struct thresholds **ret,
	struct lp_err *err);
int thresholds_write(const struct thresholds *t, const char *path, struct lp_err *err);
void thresholds_free(struct thresholds *t);

/* The method and the parameters that they were learnt with. */
const char *thresholds_method(const struct thresholds *t);
const struct lp_params *thresholds_params(const struct thresholds *t);

/* The threshold of a component in a metric; of a component that was not there in training, the
 * median of what its group's members have ("retrain"). False: nothing is known of the metric. */
bool thresholds_get(
	const struct thresholds *t, const char *metric, const char *component, double *ret);

#endif
