/* What to look at, how to compare, and what is known: the options of a diagnosis. */
#ifndef LIMPET_OPTIONS_H
#define LIMPET_OPTIONS_H

#include <limpet/err.h>
#include <limpet/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-initialise it: nothing needs to be set. */
struct lp_diagnose_options {
	const char
		*method; /* "cdf", "kl", "median", "thresh"; NULL: that of `thresholds`, or cdf */
	const char *service_method; /* of service times of calls: "series", or that of `method`;
				       NULL: that of `thresholds`, or series */
	struct lp_params params;    /* all 0, and neither a method nor thresholds: by horizons
				       (docs/engine.md). Else those that are 0 take the method's
				       default; step_us: the data's, or 15 s where there are hours
				       of finer data */
	const char
		*thresholds; /* a file that `limpet train` made; NULL: from the peers' own spread */
	double warn_at;	     /* how certain mild slowness must be to warn of it; 0: as usual, 1 */
	/* Which side of the peers is the worse one, in pairs: "lower", "bandwidth", ... */
	const char *const *worse;
	uint32_t n_worse;	  /* strings: two a metric */
	const char *const *fixed; /* "await=5", or "5" for all metrics: outrank the file */
	uint32_t n_fixed;

	const char
		*topology; /* a file (docs/topology.md); NULL: by kind, and what the data shows */
	const char *const *split_by; /* attributes that split peer groups further: "observer" */
	uint32_t n_split;
	const char *const *groups; /* globs: compare in these groups only; n_groups 0: all */
	uint32_t n_groups;

	const char
		*expect; /* a file that lists the observers which must be there, one per line ("-":
			    standard input), beside those that the topology lists; NULL: none */

	const char *state; /* what the operator acknowledged, muted or cleared; NULL: nothing */

	const char *const *metrics; /* NULL: those that tell most, and all that were imported */
	uint32_t n_metrics;
	const char *const *components; /* globs of full names; NULL: all */
	uint32_t n_components;
	int64_t from_us, to_us; /* 0: no beginning, no end */

	/* Of logs of system calls (docs/causes.md), which are looked at unless metrics or groups
	 * are named: calls of clients that take as long hang [30 s]; an error that a client gets so
	 * long after a server may be the server's [3 s]. */
	int64_t hang_after_us, error_window_us;

	/* For an engine that is fed for ever: forget what has left the span of its horizon. Memory
	 * is bounded by the components that were seen in that time. Findings stay. */
	bool bounded;

	/* For an engine that is advanced while data keeps coming: an advance works for about this
	 * long at most, in CPU time of one thread. What is left then is done by the advances that
	 * follow, and by whoever asks for a verdict, which stays the same. The work is done in a
	 * thread of the engine's own, while its caller waits. 0: everything at once. */
	int64_t slice_us;

	struct lp_warn *warn; /* may be NULL */
	/* How far the work has come, 0 .. 1 of what is called `what`; may be NULL. */
	void (*progress)(void *ctx, const char *what, double done);
	void *progress_ctx;
};

#ifdef __cplusplus
}
#endif

#endif
