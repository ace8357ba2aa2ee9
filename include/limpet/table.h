/* A table: one metric of many components on one common time grid. Detection works on tables.
 *
 * Slot i of the grid is the time lp_table_time(t, i), a multiple of the step; its value covers the
 * step that ends there. Slots follow each other without gaps, but a long time without any data is
 * left out. All observers share the grid, even if their clocks or start times differ. If the grid
 * is coarser than the data, a value covers all work of its step (growth of counters per time), not
 * single samples. A missing value is NaN. If a sample is repeated, the later one counts.
 */
#ifndef LIMPET_TABLE_H
#define LIMPET_TABLE_H

#include <limpet/source.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* A step that covers all time: tables have one slot, the mean of all data. */
#define LP_TABLE_FOREVER INT64_MAX

/* The grid leaves out time before slot `slot`. */
struct lp_table_cut {
	int64_t slot;
	int64_t skipped; /* slots left out so far, including this cut */
};

struct lp_table {
	char *metric;
	char *unit; /* "" if unknown */
	int64_t start_us, step_us;
	uint32_t n_slots, n_components, n_cuts;
	struct lp_table_cut *cuts;	 /* in the order of time */
	struct lp_identity **components; /* [component] in the order of first appearance */
	double *values;			 /* [component * n_slots + slot] */
	bool beside; /* read in addition to the selected metrics, because it decides which functions
		      * count */
	struct table_lazy *lazy; /* internal to limpet; NULL: all values are present */
};

void lp_table_free(struct lp_table *t);

/* The time of a slot. Slots before the first and after the last have times, too. */
int64_t lp_table_time(const struct lp_table *t, int64_t slot);

/* The last slot whose time is not later than `time`; it may be outside of the table (below 0, or
 * n_slots and more). */
int64_t lp_table_slot(const struct lp_table *t, int64_t time_us);

/* The number of slots that are left out before a slot. */
int64_t lp_table_skipped(const struct lp_table *t, int64_t slot);

struct lp_table_builder;

struct lp_table_options {
	const char *const *metrics; /* the metrics to compute, n_metrics names; NULL: all */
	uint32_t n_metrics;
	bool headline; /* if metrics is NULL: only those that are part of a summary */
	/* For detection, if metrics is NULL: only the metrics that it compares, and their weights
	 * (struct lp_metric). */
	bool judged;
	/* A latency is missing in steps without requests, not 0. */
	bool gaps;
	bool raw;		       /* names are raw columns, which are not converted */
	const char *const *components; /* full names or globs; NULL: all */
	uint32_t n_components;
	/* May reject a component; NULL: all are wanted. Called by several threads. */
	bool (*wanted)(void *ctx, const struct lp_identity *component);
	void *wanted_ctx;
	/* Called with the fraction that is done, 0 .. 1, when several files are read; may be
	 * NULL. */
	void (*progress)(void *ctx, double done);
	void *progress_ctx;
	int64_t from_us, to_us; /* 0: no beginning, no end */
	int64_t step_us;	/* LP_TABLE_FOREVER: one slot */
	bool narrow;		/* keep values with 7 digits, in half the memory */
	uint64_t bytes_max; /* refuse to grow beyond this; 0: 4 GiB, or half the memory if less */
};

/* Everything that `options` points to must outlive the builder. */
int lp_table_builder_new(
	const struct lp_table_options *options, struct lp_table_builder **ret, struct lp_err *err);
void lp_table_builder_free(struct lp_table_builder *b);

/* The data that the sources have to deliver for these options. */
const struct lp_select *lp_table_builder_select(const struct lp_table_builder *b);

/* Take over a batch of a source. */
int lp_table_builder_add(struct lp_table_builder *b, const struct lp_source *source,
	const struct lp_batch *batch, struct lp_err *err);

/* The finished tables, one per metric that any component has, in the order of the options (or of
 * the metric catalogue). All have the same grid. The caller frees each and the array. */
int lp_table_builder_finish(struct lp_table_builder *b, struct lp_table ***ret_tables,
	uint32_t *ret_n, struct lp_err *err);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
