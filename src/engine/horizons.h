/* Horizons: a step, a window and a span that belong together. Short and severe trouble shows in the
 * fast one, long and mild trouble in the slow one; a finding in any of them counts.
 */
#ifndef ENGINE_HORIZONS_H
#define ENGINE_HORIZONS_H

#include <limpet/verdict.h>

struct horizon {
	const char *name;
	int64_t step_us;   /* of its grid; 0: that of the data */
	int64_t window_us; /* or HORIZON_SAMPLES_LEAST samples, whichever is longer */
	int64_t span_us;   /* how far back thresholds, peer groups and findings look */
	bool keeps_all;	   /* offline: windows and samples stay as long as the engine */
};

/* A window has at least this many samples: with fewer, a distribution means little. */
#define HORIZON_SAMPLES_LEAST 12

/* Peer groups and thresholds are determined again at every window number that is a multiple of
 * this. The first time is when there are this many windows, and uses all of them. */
#define HORIZON_EPOCH 20

/* If new components have appeared, the next time is at the next multiple of this. */
#define HORIZON_EPOCH_NEW 5

/* All horizons, the finest first; `name` is NULL after the last. */
extern const struct horizon horizons[];

/* Does a horizon show anything that a coarser one does not, for data with this interval? */
bool horizon_applies(const struct horizon *h, int64_t interval_us);

/* The parameters of a horizon for data with this interval. */
struct lp_params horizon_params(const struct horizon *h, int64_t interval_us);

/* The number of windows in the span of a horizon. */
uint32_t horizon_n_windows(const struct horizon *h, const struct lp_params *p);

#endif
