/* Detection: from tables to findings. It puts the components into peer groups, compares every
 * metric of every group window by window, and finds components that differ from their peers for a
 * long time, with the direction and the size of the difference. Causes and advice are in
 * src/explain. docs/detection.md describes how it decides.
 */
#ifndef DETECT_DETECT_H
#define DETECT_DETECT_H

#include "detect/compare/function_weights.h"
#include "detect/compare/measure.h"
#include "detect/service.h"
#include "detect/train/thresholds.h"
#include "model/hosts.h"
#include "model/meaning.h"
#include "model/topology.h"

struct comparison_past;
struct discover_memory;
struct findings;

struct detect_options {
	const struct measure *measure; /* NULL: cdf */
	enum service_method service;
	struct lp_params params; /* members that are 0 take the default of the method */
	const struct thresholds *trained;
	const struct function_weights *weights; /* NULL: those of `trained` */
	bool by_spread; /* compare vectors by the spread of each function, not by Manhattan
			 * distances */
	const struct fixed_thresholds *fixed; /* override learnt ones; may be NULL */
	const struct topology *topology;
	const struct hosts *hosts;   /* connections between these are pooled; may be NULL */
	const char *const *split_by; /* attributes that split groups further */
	uint32_t n_split;
	struct discover_memory *memory; /* of discovered groups; may be NULL */
	const char *const *groups;	/* globs: compare in these groups only; n_groups 0: all */
	uint32_t n_groups;
	const struct meanings *meanings; /* of metrics, given by the user; may be NULL */
	const char *const *asked;	 /* metrics that the user named: they can make suspects */
	uint32_t n_asked;
	double warn_at; /* how certain a mild finding must be: 1 is the default */
	struct lp_warn *warn;
	void (*progress)(void *ctx, const char *what, double done); /* 0 .. 1; may be NULL */
	void *progress_ctx;
};

/* The weight of each function; NULL: all count the same. */
const struct function_weights *detect_weights(const struct detect_options *opt);

/* Compare. The verdict owns the tables (all on one grid), even on failure. */
int detect_run(struct lp_table **tables, uint32_t n_tables, const struct detect_options *opt,
	struct lp_verdict **ret, struct lp_err *err);

/* The same for a verdict that already has its tables. */
int detect_verdict(struct lp_verdict *v, const struct detect_options *opt, struct lp_err *err);

/* The steps, which other code uses as well: make a verdict from tables, which it owns even on
 * failure, pool connections (unless `hosts` is NULL) and combine functions; do the same with an
 * existing verdict; and make the groups to compare. */
int verdict_of_tables(struct lp_table **tables, uint32_t n_tables, const struct hosts *hosts,
	struct lp_verdict **ret, struct lp_err *err);
int verdict_take_tables(struct lp_verdict *v, struct lp_table **tables, uint32_t n_tables,
	const struct hosts *hosts, struct lp_err *err);
int verdict_group(struct lp_verdict *v, const struct detect_options *opt, struct lp_err *err);

/* Fill in methods that were not chosen: from the training, else the defaults. */
int detect_methods(struct detect_options *opt, struct lp_err *err);

/* Compare and weigh all metrics of all groups of a verdict that has its tables, groups and
 * parameters. Findings are added to `fs`, and series to the verdict. `past` may be NULL; `span`:
 * see struct comparison. */
int detect_compare(struct lp_verdict *v, const struct detect_options *opt,
	const struct comparison_past *past, uint32_t span, struct findings *fs, struct lp_err *err);

/* Append a series, which the verdict then owns. 0 or -ENOMEM. */
int verdict_add_series(struct lp_verdict *v, const struct lp_series *s);

/* The last step: give the findings to the verdict, judge them by load, and list anomalies and
 * notes. `whole`: all windows of the series were compared at once, as in the plain definitions;
 * otherwise findings that no single window shows are added first. */
int detect_conclude(struct lp_verdict *v, const struct detect_options *opt, bool whole,
	struct findings *fs, struct lp_err *err);

/* Do the options select a group with this name? */
bool detect_group_wanted(const struct detect_options *opt, const char *name);

/* The step of the grid for data with samples every `interval_us` over `span_us` (0: unknown): that
 * of the data, or 15 s for hours of finer data, as in the production system of the thesis. */
int64_t detect_step(int64_t interval_us, int64_t span_us);

#endif
