/* Semantic diagnosis: errors that a server passes on to its clients, crashes and hangs, found in
 * the logs of system calls. docs/causes.md has the rules.
 *
 * This needs no comparison with peers: results of calls, signals, and requests without an answer
 * are evidence by themselves. Each kind of problem has a file: semantic_errors.c, semantic_crash.c,
 * semantic_hang.c, semantic_exhaustion.c.
 */
#ifndef EXPLAIN_SEMANTIC_H
#define EXPLAIN_SEMANTIC_H

#include "detect/train/thresholds.h"
#include "explain/semantic_traces.h"
#include <limpet/dataset.h>
#include <limpet/err.h>
#include <limpet/verdict.h>

#define SEMANTIC_HANG_US (INT64_C(30) * 1000000)
#define SEMANTIC_WINDOW_US (INT64_C(3) * 1000000)
/* Clocks of observers may differ by this much. */
#define SEMANTIC_SKEW_NS NS_PER_SEC

struct semantic_options {
	int64_t hang_after_us;		  /* 0: 30 s */
	int64_t error_window_us;	  /* 0: 3 s */
	int64_t from_us, to_us;		  /* 0: no beginning, no end */
	const struct thresholds *trained; /* has normal failures; may be NULL */
	struct lp_warn *warn;		  /* may be NULL */
};

/* A finding against a server. */
struct semantic_finding {
	struct lp_identity *component; /* "s3/sys:glusterfsd" */
	const char *cause;	       /* a name from explain/cause.h; static */
	double confidence;	       /* 0 .. 1 */
	uint32_t n;		       /* how often clients were affected, at least 1 */
	int64_t first_us, last_us;
	bool carried;	 /* it began before its evidence */
	char **evidence; /* sentences, the most important first */
	uint32_t n_evidence;
	size_t cap_evidence;
	struct lp_traced_call *calls; /* that the evidence is about */
	uint32_t n_calls;
	char *advice;
};

struct semantic {
	bool any; /* there are logs of system calls in the data */
	uint32_t n_observers, n_processes;
	struct semantic_finding *findings; /* one per component */
	uint32_t n;
	size_t cap;
	char **notes; /* unusual events that accuse no server */
	uint32_t n_notes;
	size_t cap_notes;
};

void semantic_release(struct semantic *s);

/* Judge traces after traces_know(). 0 or -ENOMEM. `options` must be complete. */
int semantic_judge(
	const struct traces *t, const struct semantic_options *options, struct semantic *ret);

/* Of two findings about a component, the one with the larger gravity is reported. */
int semantic_gravity(const struct semantic_finding *f);

/* One function per kind of problem. Each adds findings and notes; 0 or -ENOMEM. */
int semantic_errors(
	const struct traces *t, const struct semantic_options *options, struct semantic *s);
int semantic_crashes(
	const struct traces *t, const struct semantic_options *options, struct semantic *s);
int semantic_hangs(
	const struct traces *t, const struct semantic_options *options, struct semantic *s);
/* Runs after the others (semantic_errors() calls it), because a server that is already accused is
 * not accused again. */
int semantic_exhaustion(
	const struct traces *t, const struct semantic_options *options, struct semantic *s);

/* Learn from traces without faults which calls normally fail, and how. */
int semantic_train(struct lp_dataset *ds, const struct hosts *hosts, int64_t from_us, int64_t to_us,
	struct lp_warn *warn, struct thresholds *to, bool *ret_any, struct lp_err *err);

#endif
