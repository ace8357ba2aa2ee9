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

/* The quantity that a metric measures, which decides on which side of the peers a value is bad. */
enum lp_role {
	LP_ROLE_OTHER = 0, /* unknown: evidence, never an accusation */
	LP_ROLE_LATENCY,   /* time a request takes: more is slower */
	LP_ROLE_WORK,	/* work done: more is more load; no work while the peers work means a lost
			 * path
			 */
	LP_ROLE_BUSY,	/* utilisation, queue, and values derived from them: evidence, like OTHER */
	LP_ROLE_WINDOW, /* congestion window: less is worse, by the time-series method */
	LP_ROLE_TROUBLE, /* errors, drops, retransmits: more is worse */
	LP_ROLE_SERVICE, /* time a system call takes: more is slower, by the time-series method; no
			    value means no call, which proves nothing */
	LP_ROLE_YIELD,	 /* the output of a component, as the user said: less is worse */
	LP_ROLE_HARM,	 /* more is worse, as the user said */
};

struct lp_metric {
	const char *name;     /* "await" */
	const char *unit;     /* "ms" */
	const char *help;     /* its meaning, one sentence */
	const char *resource; /* "storage", "network" or "host" */
	const char *kind;     /* kind of component: "disk" */
	/* Raw columns, each a sum like "rd_ios+wr_ios+dc_ios?" with alternatives after "|". The
	 * first alternative with existing columns is used; a column with "?" may be missing. */
	const char *inputs[LP_METRIC_INPUTS_MAX + 1];
	/* `in` has one value per input: the growth of its counters, or the mean of its gauges, over
	 * `dt_s` seconds. NaN: no value. */
	double (*eval)(const double *in, double dt_s);
	/* Differences from the peers that are smaller than this (in the metric's unit) never
	 * matter. */
	double floor;
	/* If the metric is a mean: the metric of the same kind that counts the events per second.
	 * Detection uses it as a weight and as the load, and does not compare it. */
	const char *weight;
	/* For functions: the metric of the same kind that decides which functions count. Detection
	 * reads it even if the user selected only this metric. */
	const char *selector;
	/* If not 0: the value is the maximum of the last `peak_s` seconds. */
	unsigned peak_s;
	enum lp_role role;
	bool headline; /* is part of a summary */
	bool judged;   /* `limpet diagnose` compares it by default */
};

/* The metrics of all kinds, NULL-terminated. */
const struct lp_metric *const *lp_metric_all(void);

/* The metric with this kind and name, or NULL. */
const struct lp_metric *lp_metric_find(const char *kind, const char *name);

/* Does another metric of its kind use it as a weight? */
bool lp_metric_is_weight(const struct lp_metric *m);

/* How a metric is judged: by its row in the catalogue. A metric of an importer has no row and is
 * judged by its name ("latency", "read_throughput", "errors"); LP_ROLE_OTHER if the name says
 * nothing. `kind` may be NULL: any. */
enum lp_role lp_metric_role(const char *kind, const char *name);

/* The growth of a counter from `before` to `now`. False if the growth is unknown, because the
 * counter was reset or a value is missing. A counter of 32 bits that fell by more than half its
 * range has wrapped. */
bool lp_counter_growth(int64_t before, int64_t now, unsigned bits, int64_t *ret);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
