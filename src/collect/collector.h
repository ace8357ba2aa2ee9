/* The interface of a collector: one file in this folder and one line in meson.build.
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

/* The user's choices, shared by all collectors. */
struct collect_config {
	const char *observer;	      /* name of this host in component names */
	const struct proc_root *root; /* where /proc and /sys are */
	const char *const *disks;     /* globs of device names, "!glob" excludes; n_disks of them */
	unsigned n_disks;
	const char *const *nets; /* the same for interfaces */
	unsigned n_nets;
	bool partitions, loops; /* also record partitions; also loop and ram devices */
	const uint16_t *ports;	/* TCP ports of the file system; none: all */
	unsigned n_ports;
	unsigned tcp_max;   /* remote addresses per direction before further ones are combined */
	const char *cgroup; /* path of the control group of this server; NULL: none */
};

/* Where an instrument stores its samples. The loop owns it; `batch` changes between samples. */
struct collect_sink {
	struct lp_catalogue *catalogue;
	struct lp_batch *batch; /* its last sample is the current one */
	unsigned long n_added;	/* number of new components */
	struct census *census;	/* retires components; NULL: the catalogue only grows */
	struct spool *spool;	/* gets new components, logs and remarks; NULL: none */
	struct lp_warn *warn;
};

struct collector {
	const char *name; /* "diskstats": what the user types after --collect */
	const char *summary;
	const char *description;
	const struct lp_schema *schema;
	bool on_request; /* runs only if it is named, or if its option is given */
	bool if_present; /* most systems lack it: no message if it is missing, and it is tried again
			  * later */

	/* Open its files. -ENOENT or -EOPNOTSUPP with a message: this system does not have it; the
	 * recorder reports that and continues without it. */
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
	COLLECT_UNNAMED, /* not mentioned: there are no globs, or only excluding ones */
	COLLECT_EXCLUDED,
	COLLECT_NAMED, /* a pattern matches it, even if it is not recorded by default */
	COLLECT_EXACT, /* it was named exactly */
};

/* The last glob that matches decides; "!glob" excludes. A name that no glob matches is excluded,
 * unless the list is empty or begins with an exclusion. */
enum collect_choice collect_choose(const char *const *globs, unsigned n_globs, const char *name);

/* Is `name` selected? An empty list selects everything; "!glob" excludes; the last match decides.
 * If the first glob excludes, names that no glob matches are selected. */
bool collect_wanted(const char *const *globs, unsigned n_globs, const char *name);

/* A collector's reference to a component: remembers the row across batches. */
struct collect_row {
	uint32_t id;	  /* in the catalogue */
	uint32_t schema;  /* in the catalogue */
	uint32_t row;	  /* last known index in the batch's kind */
	uint32_t tenancy; /* of the id; shows whether the id still belongs to this component */
};

/* Add a component to the catalogue (hot-plug; this may allocate). `schema` must outlive the
 * recording.
 */
int collect_add_component(struct collect_sink *sink, const struct lp_schema *schema,
	const char *observer, const char *name, const char *labels, struct collect_row *ret_row,
	struct lp_err *err);

/* The same for a name that comes from outside; unprintable bytes become "\\xNN". */
int collect_add_named(struct collect_sink *sink, const struct lp_schema *schema,
	const char *observer, const char *name, const char *labels, struct collect_row *ret_row,
	struct lp_err *err);

/* Is the component of a row still in the catalogue? A component retires if it is missing from
 * CENSUS_HORIZON samples of its kind, and is added again when it returns. */
bool collect_holds(const struct collect_sink *sink, const struct collect_row *row);

/* The kind of `schema` in the current batch and the row's cells in the current sample: cell of
 * column c is `(*ret_kind)->columns[c][*ret_cell]`, its state is `(*ret_kind)->state[*ret_cell]`,
 * which becomes LP_PRESENT, with LP_FRESH if `fresh`. Allocates only for a new row. -ESTALE: the
 * component has retired. */
int collect_cells(struct collect_sink *sink, struct collect_row *row, bool fresh,
	struct lp_batch_kind **ret_kind, size_t *ret_cell);

/* Store a whole row in the current sample: one value per column of its schema. */
int collect_store(struct collect_sink *sink, struct collect_row *row, bool fresh,
	const int64_t *values, struct lp_err *err);

#endif
