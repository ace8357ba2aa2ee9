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

/* Read a file of thresholds: versioned, readable text (docs/thresholds.md). Errors name file and
 * line. */
int thresholds_read(const char *path, struct thresholds **ret, struct lp_err *err);
int thresholds_parse(const char *text, size_t len, const char *name, struct thresholds **ret,
	struct lp_err *err);
/* Write the file, replacing it atomically. */
int thresholds_write(const struct thresholds *t, const char *path, struct lp_err *err);
/* The text that thresholds_write() writes; the caller frees it. NULL: out of memory. */
char *thresholds_text(const struct thresholds *t);
void thresholds_free(struct thresholds *t);

/* An empty list, for this method and these parameters. NULL: out of memory. */
struct thresholds *thresholds_new(const char *method, const struct lp_params *params);
/* Add a threshold. -EEXIST: the component already has one for that metric; -EINVAL: the value is
 * not a threshold, or a name is empty or longer than THRESHOLDS_NAME_MAX. */
int thresholds_add(struct thresholds *t, const char *metric, const char *component, double value);
/* Call this after the last thresholds_add() and before any other function. */
int thresholds_finish(struct thresholds *t);

#define THRESHOLDS_NAME_MAX 1000

/* All thresholds, by metric and component; call thresholds_finish() first. */
const struct threshold_row *thresholds_rows(const struct thresholds *t, size_t *ret_n);

/* The weights of functions when vectors are compared, to be extended; and the same, read-only. */
struct function_weights *thresholds_weights(struct thresholds *t);
const struct function_weights *thresholds_weighted(const struct thresholds *t);

/* The method and the parameters with which they were learnt. */
const char *thresholds_method(const struct thresholds *t);
/* How service times of calls were compared: "series" or the method; NULL: there were none. */
const char *thresholds_service(const struct thresholds *t);
int thresholds_set_service(struct thresholds *t, const char *name);
const struct lp_params *thresholds_params(const struct thresholds *t);

/* The threshold of a component in a metric: its own, else that of the longest matching glob. A
 * component that was not in the training gets the median of its kind ("retrain"). False: there is
 * none for this metric and kind. */
bool thresholds_get(const struct thresholds *t, const char *metric,
	const struct lp_identity *component, double *ret);

/* A call that normally fails with this errno in this role, as traces without faults show. */
struct threshold_normal {
	char *role;  /* "server" or "client" */
	char *call;  /* "lgetxattr" */
	char *error; /* "ENODATA" */
};

/* Add one. -EEXIST: it already exists; -EINVAL: no such role, or not the name of a call or an
 * errno.
 */
int thresholds_add_normal(
	struct thresholds *t, const char *role, const char *call, const char *error);
bool thresholds_is_normal(
	const struct thresholds *t, const char *role, const char *call, const char *error);
/* All normal failures, by role, call and errno. */
const struct threshold_normal *thresholds_normals(const struct thresholds *t, size_t *ret_n);

/* Which side of the peers is worse, as the user said in the training; to be extended. */
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

/* Parse one. The caller frees `*ret_metric`, which is NULL if the option names no metric. */
int threshold_option_parse(
	const char *text, char **ret_metric, double *ret_value, struct lp_err *err);
/* Parse all values of an option that may be repeated. Zero-initialise `ret`; release it also after
 * a failure. */
int fixed_thresholds_parse(
	const char *const *texts, unsigned n, struct fixed_thresholds *ret, struct lp_err *err);
void fixed_thresholds_release(struct fixed_thresholds *f);
/* The threshold of a metric: its own, else the one for all metrics. False: none. */
bool fixed_thresholds_get(const struct fixed_thresholds *f, const char *metric, double *ret);

/* "4.2", "1e3": parse a threshold, which is finite and not negative. Nothing may follow the
 * number. */
bool threshold_value_parse(const char *text, double *ret);

#endif
