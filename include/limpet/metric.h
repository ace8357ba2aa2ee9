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

/* What a metric says about a component, and so which side of the peers is the bad one. */
enum lp_role {
	LP_ROLE_OTHER = 0, /* nothing is known of it: evidence, never an accusation */
	LP_ROLE_LATENCY,   /* time a request takes: more is slower */
	LP_ROLE_WORK,	/* work done: more is more load, none where the peers work is a lost path */
	LP_ROLE_BUSY,	/* utilisation, queue, and what is derived from them: evidence, as OTHER */
	LP_ROLE_WINDOW, /* congestion window: less is worse, by the time-series method */
	LP_ROLE_TROUBLE, /* errors, drops, retransmits: more is worse */
	LP_ROLE_SERVICE, /* time a system call takes: more is slower, by the time-series method; no
			    value is no call, and says nothing */
	LP_ROLE_YIELD,	 /* what it delivers, as somebody said: less is worse */
	LP_ROLE_HARM,	 /* more is worse, as somebody said */
};

struct lp_metric {
	const char *name;     /* "await" */
	const char *unit;     /* "ms" */
	const char *help;     /* what it means, one sentence */
	const char *resource; /* "storage", "network" or "host" */
	const char *kind;     /* of component: "disk" */
	/* Raw columns, each a sum like "rd_ios+wr_ios+dc_ios?" with alternatives after "|"; the
	 * first alternative whose columns exist is taken, and a "?" column may be missing. */
	const char *inputs[LP_METRIC_INPUTS_MAX + 1];
	/* `in` has for each input the growth of its counters, or the mean of its gauges, over
	 * `dt_s` seconds. NaN: no value. */
	double (*eval)(const double *in, double dt_s);
	/* Differences from the peers below this (in the metric's unit) never matter. */
	double floor;
	/* Of a mean: the metric of the same kind that says over how many a second it is. Detection
	 * reads that beside it, to weigh and to know the load, and does not compare it. */
	const char *weight;
	/* Of functions: the metric of the same kind that says which of them count. Detection reads
	 * that beside it where only this one was asked for. */
	const char *selector;
	/* Not the value of each step but the largest of the last so many seconds; 0: the value. */
	unsigned peak_s;
	enum lp_role role;
	bool headline; /* belongs in a summary */
	bool judged;   /* `limpet diagnose` compares it unless told otherwise */
};

/* The metrics of all kinds, NULL-terminated. */
const struct lp_metric *const *lp_metric_all(void);

/* The metric of that kind and name, or NULL. */
const struct lp_metric *lp_metric_find(const char *kind, const char *name);

/* Is it what another metric of its kind is weighed with? */
bool lp_metric_is_weight(const struct lp_metric *m);

/* How a metric is judged: by its row in the catalogue, or, for a metric of an importer that has
 * none, by what its name says ("latency", "read_throughput", "errors"); LP_ROLE_OTHER if that says
 * nothing. `kind` may be NULL: any. */
enum lp_role lp_metric_role(const char *kind, const char *name);

/* The growth of a counter from `before` to `now`. False if it was reset (or either is missing): no
 * growth can be known. A counter of 32 bits that fell by more than half its range has wrapped. */
bool lp_counter_growth(int64_t before, int64_t now, unsigned bits, int64_t *ret);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
