/* The metric catalogue: how finished metrics are computed from raw columns when data is read.
 *
 * A metric is one row, next to the code that computes it (src/model/metrics_<kind>.c). Columns of
 * type LP_REAL need no row: they are metrics already.
 */
#ifndef LIMPET_METRIC_H
#define LIMPET_METRIC_H

#include <limpet/catalogue.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define LP_METRIC_INPUTS_MAX 6

struct lp_metric {
	const char *name;     /* "await" */
	const char *unit;     /* "ms" */
	const char *help;     /* what it means, one sentence */
	const char *resource; /* "storage", "network" or "host" */
	const char *kind;     /* of component: "disk" */
	bool headline;	      /* belongs in a summary */
	/* Raw columns, each a sum like "rd_ios+wr_ios+dc_ios?" with alternatives after "|"; the
	 * first alternative whose columns exist is taken, and a "?" column may be missing. */
	const char *inputs[LP_METRIC_INPUTS_MAX + 1];
	/* `in` has for each input the growth of its counters, or the mean of its gauges, over
	 * `dt_s` seconds. NaN: no value. */
	double (*eval)(const double *in, double dt_s);
};

/* The metrics of all kinds, NULL-terminated. */
const struct lp_metric *const *lp_metric_all(void);

/* The metric of that kind and name, or NULL. */
const struct lp_metric *lp_metric_find(const char *kind, const char *name);

/* The growth of a counter from `before` to `now`. False if it was reset (or either is missing): no
 * growth can be known. A counter of 32 bits that fell by more than half its range has wrapped. */
bool lp_counter_growth(int64_t before, int64_t now, unsigned bits, int64_t *ret);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
