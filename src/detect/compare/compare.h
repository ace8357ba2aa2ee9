/* One metric of one peer group: thresholds, votes, and the mark of each member in each window. */
#ifndef DETECT_COMPARE_COMPARE_H
#define DETECT_COMPARE_COMPARE_H

#include "detect/compare/votes.h"
#include "detect/detect.h"
#include <limpet/metric.h>

/* When each observer last delivered data. An observer that became silent a moment ago may only be
 * late: its data does not count as missing yet. */
struct presence {
	const uint32_t *observer; /* [component] its number */
	const int32_t *last; /* [observer * n_slots + slot] the last slot up to this one in which
				the observer measured anything; -1: none */
	uint32_t n_observers, n_slots;
	uint32_t lateness; /* slots of silence that do not count */
};

/* The facts that were learnt about one metric of a group, for later windows. */
struct comparison_look {
	double threshold, floor;
	const struct lp_metric *metric; /* its row in the catalogue; NULL: none */
	enum lp_role role;
	bool weighs;	    /* other metrics use it as a weight, here or elsewhere */
	bool by_sample;	    /* compared by the time-series method */
	const char *method; /* static */
};

/* The facts that a comparison knows about the time before its windows. An engine has seen that
 * time. If all data is compared at once, there is no such time. */
struct comparison_past {
	uint32_t context;	    /* slots of the tables before the first window, for averages */
	uint32_t context_by_sample; /* the same for the time-series method */
	int64_t origin;		    /* the slot in which the data begins; may be before the
				     * tables */
	const struct comparison_look *look; /* NULL: learn from the current data */
	const int64_t *first_slot; /* [member] of its first value ever, INT64_MAX: none so far;
				      NULL: as the tables show */
	const struct presence *presence;
	bool always; /* compare even if all values are the same, because the tables have only a part
		      * of the data
		      */
	struct kept_votes *kept; /* votes of earlier calibrations; NULL: none are kept */
	int64_t first_window;	 /* the number of the first window, for kept votes */
};

/* The state while a series is made. */
struct comparison {
	const struct comparison_past *past; /* may be NULL */
	uint32_t context; /* slots before the first window; slots of the series begin after them */
	const struct detect_options *opt;
	const struct lp_verdict *v;
	struct lp_params params;
	struct lp_series *series;
	struct smoothed smoothed;
	const struct lp_metric *metric; /* its row in the catalogue; NULL: none */
	enum lp_role role;
	bool timeseries;     /* compared by the time-series method, sample by sample */
	uint32_t n_rows;     /* members that have the metric at all */
	bool gaps;	     /* a missing value means no request, which proves nothing */
	bool calibrated;     /* the thresholds come from the data itself, so floors apply */
	double floor;	     /* differences below this never matter, in the metric's unit */
	double *votes;	     /* [member * n_windows + window] */
	bool *data;	     /* the same: the member has data there */
	uint32_t span;	     /* windows that are considered together; 0: all */
	uint32_t n_before;   /* windows before the first one of the series, which have ended */
	bool settled;	     /* the weight of a whole span is required even if there is less data */
	double unit;	     /* the weight of a window; one that moves by a single sample weighs
			      * less */
	float *own;	     /* the same: its median; NaN without data */
	float *peers;	     /* the same: the median of its peers */
	int64_t *first_slot; /* [member] its first value; INT64_MAX: it has none */
	struct vector_group *vectors; /* the vectors to compare; NULL: samples are compared */
};

/* Compare the members of v->groups[group] in v->tables[metric]. Returns 1 and the series, or 0 if
 * there is nothing to compare (fewer than 3 members have the metric, all values are missing or the
 * same, or too short). `past` may be NULL. Call comparison_release() in any case. */
int comparison_make(const struct detect_options *opt, const struct lp_verdict *v,
	const struct lp_params *params, uint32_t group, uint32_t metric,
	const struct comparison_past *past, struct comparison *c, struct lp_series *ret_series,
	struct lp_err *err);

/* Does any value of the group differ from another, or is any missing from slot `origin` on? If not,
 * there is nothing to compare. */
int group_varies(
	const struct lp_verdict *v, uint32_t group, uint32_t metric, int64_t origin, bool *ret);

/* Only learn what later windows need (calibrate.c). Returns 1, 0 if there is nothing to compare, or
 * a negative errno. */
int comparison_calibrate(const struct detect_options *opt, const struct lp_verdict *v,
	const struct lp_params *params, uint32_t group, uint32_t metric,
	const struct comparison_past *past, struct comparison_look *ret, struct lp_err *err);
void comparison_release(struct comparison *c);

/* The rows of a group's members in a table, in the order of the members; NULL: it has none. Returns
 * the number of members that have one. */
uint32_t group_rows(
	const struct lp_verdict *v, uint32_t group, uint32_t metric, const double **rows);

/* The same for a table whose rows may not have been read yet (model/table_view.h): finds only their
 * places. rows_read() then reads the rows that are not NULL. */
uint32_t group_places(
	const struct lp_verdict *v, uint32_t group, uint32_t metric, const double **rows);
void rows_read(const struct lp_table *t, const double *const *rows, uint32_t n);

/* The row of the catalogue for a metric of the group's kind; NULL: none. */
const struct lp_metric *group_metric(const struct lp_verdict *v, uint32_t group, const char *name);

/* Does a table of the group only serve another one, as its weight or selector? */
bool group_weighs(const struct lp_verdict *v, uint32_t group, uint32_t metric);

/* Is a group compared by vectors? The other functions make its vectors in one metric, with or
 * without weights. 0 or -ENOMEM; release them in any case. detect_vectors() makes those that the
 * options select. */
bool group_has_vectors(const struct lp_verdict *v, uint32_t group);
int group_vectors(const struct lp_verdict *v, uint32_t group, uint32_t metric,
	const struct lp_params *params, const struct function_weights *weights,
	struct vector_group *ret);
int detect_vectors(const struct detect_options *opt, const struct lp_verdict *v, uint32_t group,
	uint32_t metric, const struct lp_params *params, struct vector_group *ret);

/* Keep an even selection of the rows of a group, to learn thresholds from (calibrate.c). */
void sample_rows(const double **rows, uint32_t n);

/* The steps of a comparison, in this order. comparison_open() finds the members' rows and decides
 * how to compare them; 0: there is nothing to compare. */
int comparison_open(struct comparison *c, const struct detect_options *opt,
	const struct lp_verdict *v, const struct lp_params *params, uint32_t group, uint32_t metric,
	const struct comparison_past *past, struct lp_series *series, const double **rows);
int comparison_floor(struct comparison *c, const struct group_data *g); /* floors.c: and the role */
/* The floor of a latency of storage where requests usually take so long: the catalogue's, or the
 * usual value if that is smaller, but not less than a tenth. */
double latency_floor(double usual, double floor);
int comparison_smooth(struct comparison *c, const struct group_data *all);
int comparison_timeseries(struct comparison *c, const struct group_data *g);
int comparison_thresholds(struct comparison *c); /* calibrate.c */
int comparison_medians(struct comparison *c);	 /* marks.c: own and peers, of data */
void comparison_marks(struct comparison *c);	 /* marks.c: ratios and marks */

/* Averages of this many samples need values in half of them; 0: they always count. */
uint32_t comparison_sparse(const struct comparison *c);

/* The rows of a table as a group's data. */
struct group_data group_data_of(const struct lp_table *t, const double **rows, uint32_t n);

/* Set the error for a failed comparison. */
int comparison_fail(const struct comparison *c, int r, struct lp_err *err);

/* Does the vote of a member in a window matter, given its median and that of its peers? */
bool comparison_asks(const struct comparison *c, size_t at);

/* The same for vectors, compare_vectors.c: compute votes, own, peers and thresholds at once; and
 * interpret a vote above the threshold, with its ratio. */
int comparison_vectors(struct comparison *c);
enum lp_mark comparison_vector_mark(struct comparison *c, size_t at, double ratio_least);

/* The ratio of two values. The floor is added to both, so that a small value is not infinitely
 * larger than 0. */
double comparison_ratio(const struct comparison *c, double own, double peers);

#endif
