/* The shape of a collector: one file in this folder and one line in meson.build.
 *
 * A collector opens its files once and then, for every sample, fills rows of the current batch.
 * After start-up it neither allocates nor opens files, except when a device appears.
 */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

#include "collect/procfile.h"
#include <limpet/batch.h>

struct census;
struct journal;
struct spool;

/* What the user asked for, shared by all collectors. */
struct collect_config {
	const char *observer;	      /* name of this host in component names */
	const struct proc_root *root; /* where /proc and /sys are */
	const char *const *disks;     /* globs of device names, "!glob" excludes; n_disks of them */
	unsigned n_disks;
	const char *const *nets; /* the same for interfaces */
	unsigned n_nets;
	bool partitions, loops; /* also partitions, also loop and ram devices */
	const uint16_t *ports;	/* TCP ports of the file system; none: all */
	unsigned n_ports;
	unsigned tcp_max;   /* remote addresses per direction before folding */
	const char *cgroup; /* path of the control group that is this server; NULL: none */
};

/* Where an instrument stores its samples. The loop owns it; `batch` changes between samples. */
struct collect_sink {
	struct lp_catalogue *catalogue;
	struct lp_batch *batch; /* its last sample is the current one */
	unsigned long n_added;	/* components that were new */
	struct census *census;	/* retires them; NULL: the catalogue only grows */
	struct spool *spool;	/* gets new ones, logs and remarks; NULL: none */
	struct lp_warn *warn;
};

struct collector {
	const char *name; /* "diskstats": what the user types after --collect */
	const char *summary;
	const char *description;
	const struct lp_schema *schema;
	bool on_request; /* runs only where it is named, or its option is given */
	bool if_present; /* most systems lack it: no message then, and it is tried again later */

	/* Open what is needed. -ENOENT or -EOPNOTSUPP with a sentence: this system lacks it; the
	 * recorder reports that and continues without. */
	int (*open)(const struct collect_config *config, void **ret_state, struct lp_err *err);

	/* Fill the current sample. */
	int (*sample)(void *state, struct collect_sink *sink, struct lp_err *err);

	void (*close)(void *state); /* accepts NULL */
};

/* All collectors, NULL-terminated, in the order of meson.build. */
extern const struct collector *const collectors[];

const struct collector *collector_find(const char *name);

/* The result of matching a name against globs. */
enum collect_choice {
	COLLECT_UNNAMED, /* not mentioned: there are no globs, or they only exclude others */
	COLLECT_EXCLUDED,
	COLLECT_NAMED, /* a pattern matches it, even if it is not recorded by default */
	COLLECT_EXACT, /* it was named exactly */
};

/* The last glob that matches decides; "!glob" excludes. A name that no glob matches is excluded,
 * unless the list is empty or begins with an exclusion. */
enum collect_choice collect_choose(const char *const *globs, unsigned n_globs, const char *name);

/* Is `name` wanted? An empty list accepts everything; "!glob" excludes; the last match decides; if
 * the first glob excludes, names that no glob matches are wanted. */
bool collect_wanted(const char *const *globs, unsigned n_globs, const char *name);

/* A collector's reference to a component: remembers the row across batches. */
struct collect_row {
	uint32_t id;	  /* in the catalogue */
	uint32_t schema;  /* in the catalogue */
	uint32_t row;	  /* last known position in the batch's kind */
	uint32_t tenancy; /* of the id: shows whether it still belongs to this component */
};

/* Add a component to the catalogue (hot-plug: this may allocate). `schema` outlives the recording.
 */
int collect_add_component(struct collect_sink *sink, const struct lp_schema *schema,
	const char *observer, const char *name, const char *labels, struct collect_row *ret_row,
	struct lp_err *err);

/* The same for a name that comes from outside: its unprintable bytes become "\\xNN". */
int collect_add_named(struct collect_sink *sink, const struct lp_schema *schema,
	const char *observer, const char *name, const char *labels, struct collect_row *ret_row,
	struct lp_err *err);

/* Is the row's component still in the catalogue? One that is missing from CENSUS_HORIZON samples
 * of its kind retires, and is added again when it returns. */
bool collect_holds(const struct collect_sink *sink, const struct collect_row *row);

/* The kind of `schema` in the current batch and the row's cells in the current sample:
 * cell of column c is `(*ret_kind)->columns[c][*ret_cell]`, state is
 * `(*ret_kind)->state[*ret_cell]` (which it sets to LP_PRESENT, with LP_FRESH if `fresh`).
 * Allocates only for a new row. -ESTALE: it has retired. */
int collect_cells(struct collect_sink *sink, struct collect_row *row, bool fresh,
	struct lp_batch_kind **ret_kind, size_t *ret_cell);

/* Store a whole row in the current sample: one value per column of its schema. */
int collect_store(struct collect_sink *sink, struct collect_row *row, bool fresh,
	const int64_t *values, struct lp_err *err);

#endif
