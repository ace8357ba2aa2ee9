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

/* Peer groups and thresholds are determined again every so many windows, at multiples of that
 * number. The first time is when there are as many windows, all of which are used. */
#define HORIZON_EPOCH 20

/* If components have appeared since the last time, the next one is not later than the next multiple
 * of this. */
#define HORIZON_EPOCH_NEW 5

/* All horizons, the finest first; `name` is NULL after the last. */
extern const struct horizon horizons[];

/* Does it show anything that a coarser one does not, for data that comes every `interval_us`? */
bool horizon_applies(const struct horizon *h, int64_t interval_us);

/* Its parameters for such data. */
struct lp_params horizon_params(const struct horizon *h, int64_t interval_us);

/* The number of windows in its span. */
uint32_t horizon_n_windows(const struct horizon *h, const struct lp_params *p);

#endif
