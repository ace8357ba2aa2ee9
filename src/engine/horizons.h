/* Horizons: a step, a window and a span that are looked at together. What is short and terrible
 * shows in the fast one, what is long and mild in the slow one; a finding in any of them counts.
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

/* A window has so many samples at least: with fewer, a distribution says little. */
#define HORIZON_SAMPLES_LEAST 12

/* Peer groups and thresholds are looked at anew every so many windows, at numbers of windows that
 * are multiples of it. The first time is when there are as many, all of which take part in it. */
#define HORIZON_EPOCH 20

/* Where components have come that were not there at the last look, the next one is not later than
 * at the next multiple of this. */
#define HORIZON_EPOCH_NEW 5

/* All horizons, the finest first; `name` is NULL behind the last. */
extern const struct horizon horizons[];

/* Does it show anything that a coarser one does not, of data that comes every `interval_us`? */
bool horizon_applies(const struct horizon *h, int64_t interval_us);

/* Its parameters for such data. */
struct lp_params horizon_params(const struct horizon *h, int64_t interval_us);

/* How many windows lie in its span. */
uint32_t horizon_n_windows(const struct horizon *h, const struct lp_params *p);

#endif
