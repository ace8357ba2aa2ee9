/* What the members of a group did, and how long they took, in blocks of time: what discovery looks
 * at.
 *
 * Blocks lie at fixed places: they have 4 slots, or 8, 16, ..., so that there are at most
 * WORK_BLOCKS_MAX of them, and slots behind the last whole one are left out. So a sample more or
 * less seldom changes anything. */
#ifndef DETECT_GROUP_DISCOVER_WORK_H
#define DETECT_GROUP_DISCOVER_WORK_H

#include <limpet/verdict.h>

#define WORK_BLOCKS_MAX 32
#define WORK_FEATURES_MAX 8

/* One quantity: all work together, one metric of it, or a latency. */
struct work_feature {
	const char *metric; /* "throughput" for all together; else the table's name */
	const char *unit;
	double floor;	/* what is less than this is idle */
	bool part;	/* one metric of the work */
	bool waits;	/* a latency, of the times with requests */
	double *blocks; /* [member * n_blocks + block] means, NaN: no data */
};

struct group_work {
	/* All work together first, where there is any; latencies last. */
	struct work_feature features[WORK_FEATURES_MAX];
	uint32_t n_features;
	uint32_t n_members, n_blocks;
	uint32_t block_slots;
};

/* Gather it. Metrics of the unit of the first are added up; those of other units (requests beside
 * bytes) are left alone. */
int group_work_make(
	const struct lp_verdict *v, const struct lp_peer_group *g, struct group_work *ret);
void group_work_release(struct group_work *w);

/* The mean of a member over the blocks `from` .. `to - 1`; NaN: no data. */
double group_work_level(const struct group_work *w, const struct work_feature *f, uint32_t member,
	uint32_t from, uint32_t to);

/* What a member usually does: the median over all blocks. Load that moves to it for a while (its
 * neighbour was down) does not change that. NaN: no data. */
double group_work_usual(const struct group_work *w, const struct work_feature *f, uint32_t member);

/* "12 MB/s" */
void work_amount_format(double amount, const char *unit, char *buf, size_t size);

#endif
