/* The quality of verdicts: compares verdicts on experiments with the injected faults.
 *
 * docs/scoring.md has the definitions, which are those of the papers. A unit of judgement is a
 * component, or an observer (a server) with all its components. */
#ifndef EXPLAIN_SCORE_H
#define EXPLAIN_SCORE_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One fault of one experiment: a row of the truth. Empty component: there was no fault. */
struct score_fault {
	char *verdict;		  /* file name or glob */
	char *component;	  /* full name, glob or observer */
	char *cause;		  /* the injected fault; experiments are grouped by it; may be "" */
	char *diagnosis;	  /* correct causes, separated by '|'; "": any */
	int64_t start_us, end_us; /* INT64_MIN, INT64_MAX: not known */
	unsigned long line;
};

struct score_truth {
	struct score_fault *faults;
	size_t n, cap;
};

/* Read a CSV file with a header line; errors name file and line. */
int score_truth_read(const char *path, struct score_truth *ret, struct lp_err *err);
void score_truth_release(struct score_truth *t);

struct score_suspect {
	char *component, *cause;
	int64_t first_us, last_us; /* INT64_MIN, INT64_MAX: not given */
	int64_t indicted_us;	   /* INT64_MIN: not given */
};

/* A list of suspects. */
struct score_suspects {
	struct score_suspect *items;
	size_t n, cap;
};

/* The output of `limpet diagnose --json`, as far as scoring needs it. */
struct score_verdict {
	char **components;
	size_t n_components, cap_components;
	struct score_suspects suspects; /* ranked */
	struct score_suspects warnings, absent;
};

/* Read a verdict; errors name file, line and column. */
int score_verdict_read(const char *path, struct score_verdict *ret, struct lp_err *err);
int score_verdict_parse(const char *text, size_t len, const char *name, struct score_verdict *ret,
	struct lp_err *err);
void score_verdict_release(struct score_verdict *v);

/* Counts over units. The last three are additional, and not part of the others. */
struct score_counts {
	uint64_t tp, fp, fn, tn;
	uint64_t warned;       /* faulty units with a warning that were not indicted */
	uint64_t false_warned; /* healthy units with a warning */
	uint64_t absent;       /* reported as absent, although that was not the fault */
};

/* NaN if the divisor is 0. */
double score_precision(const struct score_counts *c);
double score_recall(const struct score_counts *c);
double score_mcc(const struct score_counts *c);

#define SCORE_DELAYS_MAX 64

/* One experiment. */
struct score_case {
	char *label; /* causes joined with '+'; "none" without a fault */
	bool faulty;
	bool itp, ifp, dtp, dfp;
	struct score_counts units;
	double delays_s[SCORE_DELAYS_MAX]; /* of each fault that was found and has a start time */
	size_t n_delays;
};

/* Does the truth name only observers ("oss3"), and no components ("oss3/disk:sdb")? */
bool score_truth_names_observers(const struct score_truth *t);

enum score_by { SCORE_BY_COMPONENT, SCORE_BY_OBSERVER };

/* Judge the verdict from the file `path`. -ENOENT: the truth does not mention it. */
int score_judge(const struct score_truth *truth, const struct score_verdict *v, const char *path,
	enum score_by by, struct score_case *ret, struct lp_err *err);
void score_case_release(struct score_case *c);

/* Experiments with one label, or all experiments. */
struct score_row {
	char *label;
	uint64_t n, n_faulty; /* experiments */
	uint64_t itp, ifp, dtp, dfp;
	struct score_counts units;
	double *delays_s; /* sorted by score_board_finish() */
	size_t n_delays, cap_delays;
};

struct score_board {
	struct score_row *rows; /* "none" first, then in the order of appearance */
	size_t n, cap;
	struct score_row total;
};

int score_board_add(struct score_board *b, const struct score_case *c);
void score_board_finish(struct score_board *b);
void score_board_release(struct score_board *b);

/* The percentages of a row: ITP and DTP of the experiments with a fault, IFP and DFP of all
 * experiments. NaN if there are none. */
double score_itp(const struct score_row *r);
double score_ifp(const struct score_row *r);
double score_dtp(const struct score_row *r);
double score_dfp(const struct score_row *r);

/* Quantile q (0..1) of the delays by linear interpolation; NaN if there are none. */
double score_delay(const struct score_row *r, double q);

#endif
