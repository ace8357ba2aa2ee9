/* The results of windows. They are kept after the comparison, in one track per component and
 * metric. */
#ifndef ENGINE_HISTORY_H
#define ENGINE_HISTORY_H

#include "base/hash.h"
#include <limpet/verdict.h>

/* A component in one window (of the time-series method: in one sample). */
struct kept {
	float own, peers, ratio, distance;
	uint8_t mark; /* enum lp_mark */
};

/* Windows are missing before kept[at]: there was no data for a long time. */
struct track_gap {
	uint32_t at;
	int64_t skipped; /* windows missing up to here, including this gap */
};

struct track {
	int64_t first_slot; /* of its first value ever; INT64_MAX: none so far */
	int64_t begin;	    /* number of the window of kept[0] */
	uint32_t n;
	size_t cap;
	struct kept *kept;
	struct track_gap *gaps;
	size_t n_gaps, cap_gaps;
};

/* The tracks of one metric. */
struct tracks {
	char *metric;
	bool by_sample;	     /* compared by the time-series method: every slot is a window */
	struct strmap index; /* by component */
	struct track *items;
	size_t n, cap;
};

struct history {
	struct tracks *metrics;
	size_t n, cap;
};

void history_release(struct history *h);

/* The tracks of a metric, created if they are new. The pointer is valid until tracks of another
 * metric are created. NULL: out of memory. */
struct tracks *history_metric(struct history *h, const char *metric);

/* The same, but NULL if the metric has no tracks. */
const struct tracks *history_find(const struct history *h, const char *metric);

/* The index in items[] of a component's track, which is created if it is new. Valid until
 * history_trim(). 0 or -ENOMEM. */
int tracks_get(struct tracks *t, const char *component, uint32_t *ret);
const struct track *tracks_find(const struct tracks *t, const char *component);

/* Keep the result of window `number`. Windows come in order; missing ones in between become
 * LP_MARK_NONE. 0 or -ENOMEM. */
int track_put(struct track *t, int64_t number, const struct kept *k);

/* The number of the window of kept[i]. */
int64_t track_number(const struct track *t, uint32_t i);

/* The result of window `number`, or LP_MARK_NONE if it is not kept. */
struct kept track_get(const struct track *t, int64_t number);

/* Forget windows before number `window`, or `slot` for metrics that are compared by sample, and
 * components that have none left. 0 or -ENOMEM. */
int history_trim(struct history *h, int64_t window, int64_t slot);

#endif
