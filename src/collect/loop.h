/* The loop that drives instruments. It waits for the next instant or for an instrument, takes
 * samples and gives them to the spool. It ends on request, after its duration, or when no
 * instrument has anything left to watch.
 */
#ifndef COLLECT_LOOP_H
#define COLLECT_LOOP_H

#include "collect/instrument.h"
#include "collect/spool.h"
#include "collect/ticker.h"

#define LOOP_INSTRUMENTS_MAX 8

struct loop_instrument {
	const struct instrument *instrument;
	void *config; /* for its open() */
};

struct loop_config {
	struct loop_instrument instruments[LOOP_INSTRUMENTS_MAX]; /* up to the first NULL */
	/* interval_us, batch_samples, patient and warn are filled in from below. */
	struct spool_config spool;
	int64_t interval_us;
	int64_t flush_us;    /* at most this much data is lost in a crash */
	int64_t duration_us; /* 0: until stopped */
	struct lp_warn *warn;
};

struct loop_stats {
	struct spool_stats spool;
	uint64_t samples;    /* taken */
	uint64_t late;	     /* instants missed because the machine was too busy */
	uint64_t components; /* total number; a component that retired and returned counts twice */
};

/* Open the instruments and run until the end. `*ret_stats` is filled in even after a failure;
 * samples taken so far are written. */
int loop_run(const struct loop_config *config, struct ticker *ticker, struct loop_stats *ret_stats,
	struct lp_err *err);

#endif
