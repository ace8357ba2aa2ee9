/* The options of a diagnosis: which data, how to compare it, and what is known about the system. */
#ifndef LIMPET_OPTIONS_H
#define LIMPET_OPTIONS_H

#include <limpet/err.h>
#include <limpet/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-initialise it. No member has to be set. */
struct lp_diagnose_options {
	const char
		*method; /* "cdf", "kl", "median", "thresh"; NULL: that of `thresholds`, or cdf */
	const char *service_method; /* for service times of calls: "series", or the one of `method`;
				       NULL: the one of `thresholds`, or series */
	struct lp_params params;    /* if all are 0, and neither a method nor thresholds are given,
				     * horizons are used (docs/engine.md). Otherwise a member that
				     * is 0 takes the default of the method; step_us takes the step
				     * of the data, or 15 s for hours of finer data */
	const char *thresholds; /* a file that `limpet train` made; NULL: thresholds come from the
				 * spread of the peers */
	double warn_at; /* how certain mild slowness must be before it is a warning; 0: the default,
			   1 */
	/* Which side of the peers is worse, in pairs: "lower", "bandwidth", ... */
	const char *const *worse;
	uint32_t n_worse;	  /* strings: two per metric */
	const char *const *fixed; /* "await=5", or "5" for all metrics; they override the file */
	uint32_t n_fixed;

	const char *topology; /* a file (docs/topology.md); NULL: groups by kind, and groups found
			       * in the data */
	const char *const *split_by; /* attributes that split peer groups further: "observer" */
	uint32_t n_split;
	const char *const *groups; /* globs: compare in these groups only; n_groups 0: all */
	uint32_t n_groups;

	const char *expect; /* a file that lists the observers that must deliver data, one per line
			       ("-": standard input), in addition to those of the topology; NULL:
			       none */

	const char *state; /* a file with what the operator acknowledged, muted or cleared; NULL:
			      none */

	const char *const *metrics; /* NULL: the most significant ones, and all imported ones */
	uint32_t n_metrics;
	const char *const *components; /* globs of full names; NULL: all */
	uint32_t n_components;
	int64_t from_us, to_us; /* 0: no beginning, no end */

	/* For logs of system calls (docs/causes.md), which are analysed unless metrics or groups
	 * are named: a call of a client that takes this long hangs [30 s]; an error of a client
	 * within this time after an error of a server may come from the server [3 s]. */
	int64_t hang_after_us, error_window_us;

	/* For an engine that is fed forever: forget data that has left the span of its horizon.
	 * Memory is bounded by the components that were seen in that time. Findings stay. */
	bool bounded;

	/* For an engine that is advanced while data arrives: one advance takes about this much CPU
	 * time of one thread at most. Later advances, or a request for a verdict, do the remaining
	 * work, so the verdict stays the same. The work runs in a thread of the engine, while the
	 * caller waits. 0: no limit. */
	int64_t slice_us;

	struct lp_warn *warn; /* may be NULL */
	/* Called with the progress, 0 .. 1, of the step called `what`; may be NULL. */
	void (*progress)(void *ctx, const char *what, double done);
	void *progress_ctx;
};

#ifdef __cplusplus
}
#endif

#endif
