/* The recorder: samples all collectors at aligned instants and hands the samples to the spool. */
#ifndef COLLECT_RECORDER_H
#define COLLECT_RECORDER_H

#include "collect/collector.h"
#include "collect/spool.h"
#include "collect/ticker.h"

#define RECORDER_COLLECTORS_MAX 32

struct recorder_config {
	struct collect_config collect;
	const struct collector *collectors[RECORDER_COLLECTORS_MAX]; /* NULL-terminated */
	struct spool_config spool; /* interval_us and batch_samples are filled in from below */
	int64_t interval_us;
	int64_t flush_us;    /* at most this much is lost in a crash */
	int64_t duration_us; /* 0: until stopped */
	struct lp_warn *warn;
};

struct recorder_stats {
	struct spool_stats spool;
	uint64_t samples;    /* taken */
	uint64_t late;	     /* instants missed, because the machine was too busy */
	uint32_t components; /* seen */
};

/* Record until the ticker stops or the duration is over. */
int recorder_run(const struct recorder_config *config, struct ticker *ticker,
	struct recorder_stats *ret_stats, struct lp_err *err);

#endif
