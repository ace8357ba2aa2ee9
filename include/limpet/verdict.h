/* A verdict: which components limp, since when, in which metrics, why, how badly, and with what
 * certainty.
 *
 * Detection fills it up to the findings (one component, one metric); the explanation adds suspects,
 * asymmetries and incidents. Reports only read it. A verdict owns everything it points to;
 * lp_verdict_free() frees it. Components, groups and metrics are indexes into its arrays.
 */
#ifndef LIMPET_VERDICT_H
#define LIMPET_VERDICT_H

#include <limpet/metric.h>
#include <limpet/table.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Where a component stands among its peers in a window. */
enum lp_mark {
	LP_MARK_NONE = 0, /* no data, and most peers have none either */
	LP_MARK_NORMAL,
	LP_MARK_ABOVE,	/* anomalous: above its peers */
	LP_MARK_BELOW,	/* anomalous: below them */
	LP_MARK_ABSENT, /* anomalous: no data, or no work at all, where most peers have it */
};

/* The parameters of a method, by their names in the documentation. */
struct lp_params {
	uint32_t smooth;    /* samples of the moving average */
	uint32_t win_size;  /* samples per window */
	uint32_t win_shift; /* samples from one window to the next */
	uint32_t k;	    /* a suspect is anomalous in k of the last 2k-1 windows */
	int64_t step_us;    /* of the grid, after downsampling */
};

struct lp_peer_group {
	char *name;	   /* "disk", "disk priority=1 set=old" */
	uint32_t *members; /* components */
	uint32_t n_members;
	bool discovered; /* found in the data by limpet */
	bool undecided;	 /* two classes of members; limpet cannot decide which is normal */
	uint32_t family; /* groups that differ only in the observer share a family; 0: none */
	char *refused;	 /* why nothing is compared in it ("2 components: ..."), or NULL */
};

/* One metric in one group: all marks, for heat maps and hourly lists. */
struct lp_series {
	uint32_t group, metric; /* metric: index in tables */
	uint32_t n_windows;
	const char *method; /* "cdf"; "series" for congestion windows; static */
	uint8_t *marks;	    /* [member of the group * n_windows + window] enum lp_mark */
	float *ratios;	    /* the same: the median of the member divided by that of its peers; NaN:
			     * none. For an anomalous vector: 1 plus its distance divided by the total
			     * of its peers, or the inverse if it is below them */
	float *distances; /* the same: the value that was compared with the threshold, if anomalous
			   */
	double *thresholds; /* [member] */
	/* Window w covers the slots first[w] .. last[w] of the table. */
	uint32_t *first, *last;
};

/* A function that a finding about a vector blames, with the amount that the component has. */
struct lp_dimension {
	char *name;
	double own;	 /* in the anomalous windows, in the metric's unit */
	double peers;	 /* the same for the median peer */
	double distance; /* the sum of the differences in these windows; functions are ranked by
			  * it */
	double share;	 /* of the differences of all functions in these windows, 0 to 1 */
};

#define LP_FINDING_DIMENSIONS_MAX 10

/* A process of a busy program, as a recorder noted it. */
struct lp_process {
	char *observer, *program;
	char *command; /* as much of its command line as is kept; "": not known */
	int64_t uid;   /* -1: not known */
	int32_t pid;
	int64_t wall_us; /* when it was noted */
};

/* One component in one metric in which it was a suspect (step 6) at any time, or differed from its
 * peers for a long time. */
struct lp_finding {
	uint32_t component, group, metric, series, member;
	enum lp_role role;	   /* of the metric; LP_ROLE_OTHER: by its name */
	enum lp_mark direction;	   /* the prevailing one */
	uint32_t n_windows;	   /* with data, its own or its peers' */
	uint32_t n_anomalous;	   /* of these, in any direction */
	uint32_t n_aside;	   /* of these, in another direction than the prevailing one */
	uint32_t persistence;	   /* the value of the accumulator at the end */
	uint32_t peak;		   /* its highest value */
	int64_t first_us, last_us; /* from the first to the last anomalous window that counts; for a
				      suspect, refined by the change in the samples */
	int64_t onset_error_us;	   /* first_us may be off by this much */
	bool since_before;	   /* it was anomalous from the beginning of the data: the
				    * onset is unknown */
	bool ended;		   /* it was over before the data ended */
	int64_t indicted_us;	   /* when k of 2k-1 windows were first anomalous */
	double own, peers;	   /* medians in the anomalous windows, in the metric's unit */
	double ratio;		   /* own / peers; infinite where peers are 0, 0 where absent */
	double distance, threshold; /* medians over the anomalous windows */
	double floor;  /* differences below this do not matter, in the metric's unit; 0: unknown */
	double weight; /* as a multiple of the least weight that counts, so at least 1 */
	double load_ratio; /* its throughput divided by that of its peers; NaN: unknown */
	bool straggler;	   /* it continued to work, alone and slowly, when its peers had finished */
	bool whole;	   /* all components of its observer became slow, unlike those of
			    * other observers */
	bool crowd;	   /* it belongs to a class of its group that became slow together */
	bool mild;    /* slightly slow, but with certainty: a warning. `distance` is the certainty,
		       * as a multiple of `threshold`, which is 1 */
	bool culprit; /* in the direction that makes a suspect */
	bool explained_by_load; /* slower, but no more than its greater load explains */
	bool explained_by_idle; /* slower only because its peers were idle from time to time */
	/* Indexes into the verdict's dimensions, the most important first; none if it is not about
	 * a vector. */
	uint32_t first_dimension, n_dimensions;
};

struct lp_anomaly {
	uint32_t window, component, metric;
	int64_t start_us, end_us;
	enum lp_mark direction;
	double distance, threshold;
};

#define LP_SUSPECT_METRICS_MAX 32

/* How serious a component's trouble is for the operator. */
enum lp_level {
	LP_LEVEL_SUSPECT = 0, /* it limps */
	LP_LEVEL_WARNING,     /* it is slightly slow, but steadily and with certainty */
	LP_LEVEL_ABSENT,      /* it is missing, or does nothing: it does not limp */
};

/* The missing part of an absent component. */
enum lp_gone {
	LP_GONE_NOTHING = 0,
	LP_GONE_WORK, /* its work: it delivers data, but has nothing to do while its peers have */
	LP_GONE_DATA, /* its data, while its observer delivers other data */
	LP_GONE_OBSERVER, /* all data of its observer */
};

/* A component and all evidence against it. A component that only logs of system calls accuse has no
 * findings, and may be in no group (UINT32_MAX). */
/* A system call behind a suspect, as a trace logged it. */
struct lp_traced_call {
	int64_t at_us; /* when it returned; if it did not, when it began */
	char *observer, *process;
	int32_t pid;
	char *call;	   /* "pwrite64" */
	char *file;	   /* a path, a connection, or "descriptor 7"; NULL: none */
	char *result;	   /* "ENOSPC", "connection closed", "not returned", "returned" */
	double duration_s; /* NaN: not known */
};

struct lp_suspect {
	uint32_t component, group;
	uint32_t findings[LP_SUSPECT_METRICS_MAX]; /* the most important first */
	uint32_t n_findings;
	uint32_t persistence;
	double severity;   /* grows with the size of the asymmetry and with its persistence */
	double confidence; /* 0 .. 1 */
	int64_t first_us, last_us, indicted_us;
	int64_t onset_error_us;	      /* of the finding that was first; 0: first_us is exact */
	const char *cause;	      /* "disk-busy", "disk-hog", "network-hog", "packet-loss",
				       * "lost-path", "propagated-error", "crash", ...; for an asymmetry
				       * "imbalanced", "faster", "less-loaded"; static */
	char **evidence;	      /* sentences: "await 4.1x its peers (41 ms against 10 ms)" */
	char **context;		      /* related facts: "link down-trained to x1 (of x4)" */
	uint64_t measured;	      /* bit i: evidence[i] describes the numbers of the findings */
	char *advice;		      /* what to do next, one sentence */
	struct lp_traced_call *calls; /* the most important first; NULL: none are known */
	uint32_t n_evidence, n_context, n_calls;
	enum lp_level level;
	enum lp_gone gone; /* of an absent component; LP_GONE_NOTHING: it is absent because another
			      one is */
	bool since_before, ended; /* of the finding that was first */
	bool acknowledged;	  /* by the operator */
};

/* Suspects that share a part of the system, as one problem. A suspect on its own is an incident
 * too; its part is the component. */
struct lp_incident {
	char *part;	      /* "controller:ddn12a", "observer:fs16", or a component's name */
	uint32_t *components; /* the affected ones, the worst first */
	uint32_t n_components;
	uint32_t n_of_part; /* the number of components of the part */
	const char *cause;  /* static */
	double severity, confidence;
	enum lp_level level; /* LP_LEVEL_ABSENT if all components that it began with are absent */
	uint32_t persistence;
	int64_t first_us, last_us, indicted_us;
	int64_t onset_error_us; /* of the suspect that was first */
	bool since_before;	/* the same */
	bool ended;		/* all of them have ended */
	char *summary;		/* one sentence for a person */
	char *advice;
};

/* The summary of a verdict. */
enum lp_status {
	LP_STATUS_OK = 0,
	LP_STATUS_SUSPECTS,
	LP_STATUS_UNKNOWN,  /* there is no suspect, but something that should be judged could not be
			     */
	LP_STATUS_ABSENT,   /* there is no suspect, but something is absent */
	LP_STATUS_WARNINGS, /* none of these, but there are warnings */
};

/* Each array stands next to its length, even if that wastes padding. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct lp_verdict {
	const char *method; /* static */
	bool trained;	    /* thresholds came from a training file */
	bool past;	    /* the peers of a component are its own past */
	bool fixed;	    /* thresholds were given by hand, at least for some metrics */
	struct lp_params params;

	struct lp_identity **components;
	uint32_t n_components;
	struct lp_table **tables; /* one per metric, all on one grid; rows are NOT in the order of
				     `components`: see row_of */
	uint32_t n_tables;
	uint32_t **row_of; /* [table][component] row in that table, UINT32_MAX: it has none */

	struct lp_peer_group *groups;
	uint32_t n_groups;
	struct lp_series *series;
	uint32_t n_series;
	struct lp_anomaly *anomalies; /* in order of time */
	size_t n_anomalies;
	struct lp_finding *findings;
	uint32_t n_findings;
	struct lp_dimension *dimensions; /* of the findings */
	uint32_t n_dimensions;
	struct lp_process *processes; /* of findings about functions */
	uint32_t n_processes;

	struct lp_suspect *suspects; /* ranked */
	uint32_t n_suspects;
	struct lp_suspect *warnings; /* slightly slow, but with certainty; ranked */
	uint32_t n_warnings;
	struct lp_suspect
		*absent; /* missing, or without work, and what follows from that; ranked */
	uint32_t n_absent;
	struct lp_suspect *asymmetries; /* faster, less loaded, imbalanced: no culprits; ranked */
	uint32_t n_asymmetries;
	struct lp_incident
		*incidents; /* of suspects and of absent components; ranked, the latter last */
	uint32_t n_incidents;
	uint32_t n_traced; /* observers whose logs of system calls were analysed */
	uint32_t *muted;   /* components: suspects that the operator does not want to see */
	uint32_t n_muted;
	enum lp_status status;
	char **unknown; /* what could not be judged, and why; may be set beside suspects */
	uint32_t n_unknown;
	uint32_t n_compared; /* windows in which peers were compared, in the series with the most of
			      * them */
	uint32_t n_expected; /* observers that an inventory lists; 0: there is none */
	uint32_t n_missing;  /* of these, those without data */
	char **notes;	     /* sentences about the analysis itself */
	uint32_t n_notes;
	char **hints; /* of each note: the options of the command line that say more, or "" */
};

void lp_verdict_free(struct lp_verdict *v);
void lp_peer_groups_free(struct lp_peer_group *groups, uint32_t n);

/* Add a note. */
int lp_verdict_note(struct lp_verdict *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
