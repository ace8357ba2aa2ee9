/* Thresholds: learnt from fault-free data into a file, or fixed on the command line. */
#ifndef DETECT_TRAIN_THRESHOLDS_H
#define DETECT_TRAIN_THRESHOLDS_H

#include "detect/compare/function_weights.h"
#include "model/meaning.h"
#include <limpet/err.h>
#include <limpet/verdict.h>
#include <stdbool.h>
#include <stddef.h>

struct thresholds;

struct threshold_row {
	char *metric;
	char *component; /* a full name, or a glob with '*' or '?' */
	double value;
};

/* A readable, versioned text file (docs/thresholds.md). Errors say file and line. */
int thresholds_read(const char *path, struct thresholds **ret, struct lp_err *err);
int thresholds_parse(const char *text, size_t len, const char *name, struct thresholds **ret,
	struct lp_err *err);
/* Replaces the file at once or not at all. */
int thresholds_write(const struct thresholds *t, const char *path, struct lp_err *err);
/* What thresholds_write() puts into the file; the caller frees. NULL: out of memory. */
char *thresholds_text(const struct thresholds *t);
void thresholds_free(struct thresholds *t);

/* None yet, for this method and these parameters. NULL: out of memory. */
struct thresholds *thresholds_new(const char *method, const struct lp_params *params);
/* -EEXIST: the component has one already in that metric; -EINVAL: the value is no threshold, or a
 * name is empty or longer than THRESHOLDS_NAME_MAX. */
int thresholds_add(struct thresholds *t, const char *metric, const char *component, double value);
/* To be called after the last thresholds_add() and before anything else. */
int thresholds_finish(struct thresholds *t);

#define THRESHOLDS_NAME_MAX 1000

/* All of them, by metric and component, once finished. */
const struct threshold_row *thresholds_rows(const struct thresholds *t, size_t *ret_n);

/* How much each function counts where vectors are compared; to be added to, and as they are. */
struct function_weights *thresholds_weights(struct thresholds *t);
const struct function_weights *thresholds_weighted(const struct thresholds *t);

/* The method and the parameters that they were learnt with. */
const char *thresholds_method(const struct thresholds *t);
/* How service times of calls were compared: "series" or the method; NULL: there were none. */
const char *thresholds_service(const struct thresholds *t);
int thresholds_set_service(struct thresholds *t, const char *name);
const struct lp_params *thresholds_params(const struct thresholds *t);

/* The threshold of a component in a metric: its own, else that of the longest glob that matches; of
 * a component that was not there in training, the median of what those of its kind have
 * ("retrain"). False: nothing is known of the metric in that kind. */
bool thresholds_get(const struct thresholds *t, const char *metric,
	const struct lp_identity *component, double *ret);

/* A call that fails with this errno in that role as a matter of course: found in traces of a time
 * without faults. */
struct threshold_normal {
	char *role;  /* "server" or "client" */
	char *call;  /* "lgetxattr" */
	char *error; /* "ENODATA" */
};

/* Add one. -EEXIST: it is there already; -EINVAL: no such role, or no name of a call or an errno.
 */
int thresholds_add_normal(
	struct thresholds *t, const char *role, const char *call, const char *error);
bool thresholds_is_normal(
	const struct thresholds *t, const char *role, const char *call, const char *error);
/* All of them, by role, call and errno. */
const struct threshold_normal *thresholds_normals(const struct thresholds *t, size_t *ret_n);

/* Which side of the peers is the worse one, as whoever trained said; to be added to. */
struct meanings *thresholds_meanings(struct thresholds *t);
const struct meanings *thresholds_meant(const struct thresholds *t);

/* Thresholds of the command line, "await=5" or, for all metrics, "5". */
#define FIXED_THRESHOLDS_MAX 64

struct fixed_thresholds {
	struct {
		char *metric; /* NULL: all others */
		double value;
	} items[FIXED_THRESHOLDS_MAX];
	unsigned n;
};

/* Take one apart; `*ret_metric` (which the caller frees) is NULL where none is named. */
int threshold_option_parse(
	const char *text, char **ret_metric, double *ret_value, struct lp_err *err);
/* All of an option that may be repeated. Zero-initialise `ret`; release it also after a failure. */
int fixed_thresholds_parse(
	const char *const *texts, unsigned n, struct fixed_thresholds *ret, struct lp_err *err);
void fixed_thresholds_release(struct fixed_thresholds *f);
/* The threshold of a metric: its own, else that of all. False: there is none. */
bool fixed_thresholds_get(const struct fixed_thresholds *f, const char *metric, double *ret);

/* "4.2", "1e3": a number that a threshold can be (not below 0, finite), and nothing behind it. */
bool threshold_value_parse(const char *text, double *ret);

#endif
