/* A listing of data: observers, their times and gaps, components and metrics. */
#ifndef REPORT_LISTING_H
#define REPORT_LISTING_H

#include "base/hash.h"
#include <limpet/dataset.h>
#include <stdbool.h>
#include <stdio.h>

#define LISTING_GAPS_MAX 20 /* listed individually; more are only counted */

struct listing_gap {
	int64_t from_us, to_us; /* the samples before and after it */
};

struct listing_event {
	int64_t wall_us;
	char *text;
};

struct listing_observer {
	char *name;
	int64_t first_us, last_us, interval_us;
	uint64_t n_samples;
	uint64_t n_gaps, n_back; /* gaps; steps back in time */
	struct listing_gap gaps[LISTING_GAPS_MAX];
	struct listing_event *events;
	size_t n_events, cap_events;
	bool traced;	      /* it has logs of system calls or descriptors */
	int64_t last_seen_us; /* while reading */
};

struct listing_component {
	char *name; /* full */
	uint32_t kind;
	char *stable; /* the stable name, or "" */
	char *labels;
	uint32_t observer;
	uint64_t n_samples;
	int64_t first_us, last_us;
	int64_t seen_us; /* while reading: its last sample */
};

struct listing_metric {
	char *name;
	uint32_t kind;
};

struct listing {
	bool asked; /* components were selected */
	size_t n_files;
	size_t n_remote; /* of them */
	uint64_t bytes;	 /* size of the other files */
	struct listing_observer *observers;
	size_t n_observers, cap_observers;
	struct listing_component *components;
	size_t n_components, cap_components;
	char **kinds;
	size_t n_kinds, cap_kinds;
	struct listing_metric *metrics;
	size_t n_metrics, cap_metrics;
	struct strmap observer_index, component_index, kind_index, metric_index;
	struct lp_table **means; /* one slot: the mean over the whole time */
	uint32_t n_means;
	/* Only existing means take memory: kind k has the numbers kind_means[kind_first[k]] to
	 * kind_means[kind_first[k + 1] - 1], and component c their values from
	 * mean_values[mean_first[c]] on; NaN: none. */
	uint32_t *kind_means;
	size_t *kind_first, *mean_first;
	double *mean_values;
};

/* Read `ds` within a time range, for components that match the globs (NULL: all). On -EBADMSG
 * (damage, already reported) the listing of the intact data is returned. */
int listing_make(struct lp_dataset *ds, const struct lp_table_options *range, struct listing *ret,
	struct lp_err *err);
void listing_release(struct listing *l);

void listing_print_text(FILE *out, const struct listing *l, bool colour);
void listing_print_json(FILE *out, const struct listing *l);

#endif
