/* Makes batches of the series of a server. All samples of one target (a job and an instance) have
 * the same times, so each target has its own batches.
 */
#ifndef IMPORT_REMOTE_GATHER_H
#define IMPORT_REMOTE_GATHER_H

#include "base/hash.h"
#include "import/remote/answer.h"
#include "import/remote/mapping.h"
#include <limpet/source.h>

/* One value of one input of one component at one time. */
struct gather_cell {
	int64_t ms;
	uint32_t component; /* index in the list of components */
	uint32_t input;	    /* two per column of its group: the value, and its divisor */
	double value;
};

struct gather_target {
	char *instance;
	struct gather_cell *cells;
	size_t n, cap;
	size_t n_carried;     /* cells of the last time of the previous batch, which come first */
	int64_t delivered_ms; /* the last delivered time; cells up to it are too late */
};

struct gather_component {
	uint32_t group, id;
	uint32_t *owners; /* [input] the target that the values come from, plus 1 */
	size_t place;	  /* in the current batch, plus 1 */
	uint32_t row;
};

/* A group of the mapping in the catalogue. */
struct gather_group {
	uint32_t schema, n_columns;
	bool published; /* the schema is in the catalogue */
	bool certain;	/* the list of the server's metrics is known */
	int *place;	/* [column] index in the schema, -1: the server has no such metric */
};

/* Zero-initialise it. */
struct gather {
	const struct mapping *mapping;
	struct lp_catalogue *catalogue;
	struct lp_warn *warn;
	const char *path; /* for warnings */
	struct strmap targets_by_key, components_by_key, said;
	struct strmap groups_by_component; /* the first group that has it */
	struct gather_target *targets;
	size_t n_targets, cap_targets;
	struct gather_component *components;
	size_t n_components, cap_components;
	struct gather_group *groups; /* [group of the mapping] */
	struct lp_batch *batch;
	struct strbuf name, observer, key; /* scratch */
	int64_t from_ms;		   /* earlier samples are ignored */
	int64_t hold_ms; /* the last samples of each target are held for this long, because pushed
			  * samples come in any order and in several parts */
	uint64_t n_samples; /* taken since gather_begin() */
	size_t next;	    /* next target to deliver */
};

/* Initialise it for the metrics in `present`; NULL: for all. All pointers must outlive it. Release
 * it even after a failure. */
int gather_init(struct gather *g, const struct mapping *mapping, struct lp_catalogue *catalogue,
	const struct strmap *present, struct lp_warn *warn, const char *path, struct lp_err *err);
void gather_release(struct gather *g);

/* Append the names of the selected metrics as a regular expression: "a|b|c". */
void gather_names(const struct gather *g, struct strbuf *to);

/* Begin with samples from this time on. All earlier data was delivered or dropped. */
void gather_begin(struct gather *g, int64_t from_ms);

/* A series from any origin. The labels "__name__", "job" and "instance" give the metric and the
 * target. */
struct gather_input {
	mapping_label_fn label;
	const void *series; /* for both functions */
	/* Sample number `i`, as answer_sample() gives it. */
	int (*sample)(const void *series, size_t i, int64_t *ret_ms, double *ret_value);
	size_t n;
};

/* Add a series. Series that no table names are ignored. */
int gather_take(struct gather *g, const struct gather_input *in, struct lp_err *err);

/* The same for a series of an answer. */
int gather_series(struct gather *g, const struct answer_series *s, struct lp_err *err);

/* Forget everything taken since gather_begin(). */
void gather_drop(struct gather *g);

/* The next batch. Returns 1, or 0 if there are no more. The batch is valid until the next call.
 */
int gather_next(struct gather *g, struct lp_batch **ret, struct lp_err *err);

/* The usual time between samples that were added and not delivered yet; 0: unknown. */
int64_t gather_interval_us(const struct gather *g);

#endif
