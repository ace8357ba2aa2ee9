/* The work and the latencies of the members of a group, in blocks of time, for discovery.
 *
 * Blocks are at fixed places. They have 4, 8, 16, ... slots, so that there are at most
 * WORK_BLOCKS_MAX blocks, and slots after the last whole block are left out. So one sample more or
 * less rarely changes anything.
 *
 * This file also has the statistics of discovery: robust location, spread, and cuts of a list of
 * numbers into two. */
#ifndef DETECT_GROUP_DISCOVER_WORK_H
#define DETECT_GROUP_DISCOVER_WORK_H

#include <limpet/verdict.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The median absolute deviation, scaled and corrected for small n so that it estimates the standard
 * deviation of normal values. Overwrites `x`. */
double stats_mad(double *x, size_t n);

/* The spread between observers and within them in one block of time. */
struct stats_spread {
	double between; /* MAD of the observers' medians */
	double within;	/* the median of the observers' MADs, or the MAD of all deviations */
	double size;	/* the mean number of components per observer */
	uint32_t n;	/* observers that count: those with at least `least` components */
};

/* `of[i]` is the observer (0 .. n_observers - 1) of value i; NaN values do not count. `scratch` has
 * room for n + 3 * n_observers values. */
void stats_spread(const double *x, const uint32_t *of, size_t n, uint32_t n_observers,
	uint32_t least, double *scratch, struct stats_spread *ret);

/* The median of each observer; NaN: it has fewer than `least` values. `scratch` has room for n +
 * n_observers values. */
void stats_medians(const double *x, const uint32_t *of, size_t n, uint32_t n_observers,
	uint32_t least, double *scratch, double *ret);

/* A cut of values into two classes. */
struct stats_cut {
	double at;	  /* values below this are in the lower class */
	double low, high; /* the classes' medians */
	double score;	  /* distance of the medians divided by the sum of the spreads */
	size_t n_low, n_high;
};

/* Find the cut at the widest gap that leaves at least `least` values on both sides; false if there
 * is no clear one. Spreads below `spread_min` count as `spread_min`, and medians less than
 * `apart_min` apart are not classes. Sorts `x`, which must not contain NaN. `scratch` has room for
 * n values. */
bool stats_cut(double *x, size_t n, size_t least, double spread_min, double apart_min,
	double *scratch, struct stats_cut *ret);

#define WORK_BLOCKS_MAX 32
#define WORK_FEATURES_MAX 8

/* One quantity: all work together, one metric of it, or a latency. */
struct work_feature {
	const char *metric; /* "throughput" for all work together; else the name of the table */
	const char *unit;
	double floor;	/* less than this is idle */
	bool part;	/* one metric of the work */
	bool waits;	/* a latency, of the times with requests */
	bool storage;	/* a latency of storage: its floor is for disks that rotate */
	double *blocks; /* [member * n_blocks + block] means, NaN: no data */
};

struct group_work {
	/* The sum of all work comes first, if there is any; latencies come last. */
	struct work_feature features[WORK_FEATURES_MAX];
	uint32_t n_features;
	uint32_t n_members, n_blocks;
	uint32_t block_slots;
};

/* Fill it in. Metrics with the unit of the first one are added up; other units (requests instead of
 * bytes) are ignored. */
int group_work_make(
	const struct lp_verdict *v, const struct lp_peer_group *g, struct group_work *ret);
void group_work_release(struct group_work *w);

/* The mean of a member over the blocks `from` .. `to - 1`; NaN: no data. */
double group_work_level(const struct group_work *w, const struct work_feature *f, uint32_t member,
	uint32_t from, uint32_t to);

/* The usual work of a member: the median over all blocks. Load that moves to it for a while,
 * because its neighbour is down, does not change it. NaN: no data. */
double group_work_usual(const struct group_work *w, const struct work_feature *f, uint32_t member);

/* "12 MB/s" */
void work_amount_format(double amount, const char *unit, char *buf, size_t size);

#endif
