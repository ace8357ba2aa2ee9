/* The recorder: runs all collectors as one instrument of the loop. */
#ifndef COLLECT_RECORDER_H
#define COLLECT_RECORDER_H

#include "collect/collector.h"
#include "collect/loop.h"

#define RECORDER_COLLECTORS_MAX 32
#define RECORDER_BESIDE_MAX 3

struct recorder_config {
	struct collect_config collect;
	const struct collector *collectors[RECORDER_COLLECTORS_MAX]; /* NULL-terminated */
	bool named; /* the user named them: report all that are missing */
	struct loop_instrument beside[RECORDER_BESIDE_MAX]; /* instruments besides the collectors */
	unsigned n_beside;
	struct spool_config spool; /* the loop and the recorder set some members */
	int64_t interval_us;
	int64_t flush_us;    /* at most this much is lost in a crash */
	int64_t duration_us; /* 0: until stopped */
	struct lp_warn *warn;
};

/* All collectors of a configuration; loop_instrument.config is a struct recorder_config, and it
 * uses `collect`, `collectors`, `named` and `warn`. A collector that this system cannot run is left
 * out with a warning. A collector that most systems lack (`if_present`) is left out silently and
 * tried again every minute. A collector that fails is tried again at the next sample. */
extern const struct instrument instrument_collectors;

/* Record until the ticker stops or the duration is over. Without collectors, only the other
 * instruments run. */
int recorder_run(const struct recorder_config *config, struct ticker *ticker,
	struct loop_stats *ret_stats, struct lp_err *err);

#endif
