/* Thresholds: learnt from fault-free data and kept in a file, or fixed on the command line. */
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

/* A readable, versioned text file (docs/thresholds.md). Errors name file and line. */
int thresholds_read(const char *path, struct thresholds **ret, struct lp_err *err);
int thresholds_parse(const char *text, size_t len, const char *name, struct thresholds **ret,
	struct lp_err *err);
/* Replaces the file atomically. */
int thresholds_write(const struct thresholds *t, const char *path, struct lp_err *err);
/* The text that thresholds_write() writes; the caller frees it. NULL: out of memory. */
char *thresholds_text(const struct thresholds *t);
void thresholds_free(struct thresholds *t);

/* An empty list, for this method and these parameters. NULL: out of memory. */
struct thresholds *thresholds_new(const char *method, const struct lp_params *params);
/* -EEXIST: the component already has one in that metric; -EINVAL: the value is not a threshold, or
 * a name is empty or longer than THRESHOLDS_NAME_MAX. */
int thresholds_add(struct thresholds *t, const char *metric, const char *component, double value);
/* Call it after the last thresholds_add() and before anything else. */
int thresholds_finish(struct thresholds *t);

#define THRESHOLDS_NAME_MAX 1000

/* All of them, by metric and component, once finished. */
const struct threshold_row *thresholds_rows(const struct thresholds *t, size_t *ret_n);

/* The weights of functions when vectors are compared; to be added to, and read-only. */
struct function_weights *thresholds_weights(struct thresholds *t);
const struct function_weights *thresholds_weighted(const struct thresholds *t);

/* The method and the parameters that they were learnt with. */
const char *thresholds_method(const struct thresholds *t);
/* How service times of calls were compared: "series" or the method; NULL: there were none. */
const char *thresholds_service(const struct thresholds *t);
int thresholds_set_service(struct thresholds *t, const char *name);
const struct lp_params *thresholds_params(const struct thresholds *t);

/* The threshold of a component in a metric: its own, else that of the longest glob that matches;
 * for a component that was not in the training, the median over its kind ("retrain"). False:
 * nothing is known about the metric in that kind. */
bool thresholds_get(const struct thresholds *t, const char *metric,
	const struct lp_identity *component, double *ret);

/* A call that normally fails with this errno in that role: found in traces of a time without
 * faults. */
struct threshold_normal {
	char *role;  /* "server" or "client" */
	char *call;  /* "lgetxattr" */
	char *error; /* "ENODATA" */
};

/* Add one. -EEXIST: it is already there; -EINVAL: no such role, or not the name of a call or an
 * errno.
 */
int thresholds_add_normal(
	struct thresholds *t, const char *role, const char *call, const char *error);
bool thresholds_is_normal(
	const struct thresholds *t, const char *role, const char *call, const char *error);
/* All of them, by role, call and errno. */
const struct threshold_normal *thresholds_normals(const struct thresholds *t, size_t *ret_n);

/* Which side of the peers is the worse one, as the user said in the training; to be added to. */
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

/* Parse one; `*ret_metric` (which the caller frees) is NULL if none is named. */
int threshold_option_parse(
	const char *text, char **ret_metric, double *ret_value, struct lp_err *err);
/* Parse all values of an option that may be repeated. Zero-initialise `ret`; release it also after
 * a failure. */
int fixed_thresholds_parse(
	const char *const *texts, unsigned n, struct fixed_thresholds *ret, struct lp_err *err);
void fixed_thresholds_release(struct fixed_thresholds *f);
/* The threshold of a metric: its own, else that for all. False: there is none. */
bool fixed_thresholds_get(const struct fixed_thresholds *f, const char *metric, double *ret);

/* "4.2", "1e3": a number that can be a threshold (not below 0, finite), with nothing after it. */
bool threshold_value_parse(const char *text, double *ret);

#endif
