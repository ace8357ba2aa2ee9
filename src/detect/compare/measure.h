/* The interface of a measure: how far a member of a peer group is from the others in one window.
 *
 * A measure is a file measure_NAME.c with a `const struct measure measure_NAME`, and its name in
 * the list of meson.build.
 *
 * The result for a member is its vote: the (floor(n/2)+1)-th largest of its n distances to the
 * others that have data. More than half of the distances exceed T exactly if the vote does, so
 * thresholds, training and calibration need only the vote. Measures that compare with the whole
 * group (median, thresh) have one distance, which is the vote.
 */
#ifndef DETECT_COMPARE_MEASURE_H
#define DETECT_COMPARE_MEASURE_H

#include "base/cleanup.h"
#include <limpet/verdict.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Values beyond this are treated as missing, like infinite ones: no counter grows that fast, and
 * the differences of smaller values are finite. */
#define USABLE_MAX 1e300

/* Is it a value, neither missing (NaN) nor infinite? */
static inline bool value_usable(double v)
{
	return fabs(v) <= USABLE_MAX;
}

/* The smoothed samples of a peer group in one window. Rows of members without data (fewer than
 * win_size / 2 values) are NULL. */
struct window {
	const double *const *rows; /* [member] n_samples values, NaN: missing */
	uint32_t n_members, n_samples;
	uint32_t n_with_data;
};

struct measure_scratch; /* memory, below */

/* A vote is the (floor(n/2)+1)-th largest of the distances to n others. The n + 1 distances to all
 * members include the distance to itself, 0, which is one of the smallest. Among them the vote has
 * this rank (0: the smallest). */
static inline size_t vote_rank(uint32_t n_all)
{
	return n_all - 1 - (n_all - 1) / 2;
}

struct measure {
	const char *name;
	const char *help;
	struct lp_params defaults; /* step_us 0: that of the data */
	int64_t window_us; /* for functions, the duration of a default window; 0: use the number of
			    * samples */
	bool pairwise;

	/* The votes of `members` (n positions in the window; NULL: all, and n is ignored), NaN for
	 * a member without data or without anything to compare with. 0 or -ENOMEM. */
	int (*votes)(const struct window *w, const uint32_t *members, uint32_t n,
		struct measure_scratch *scratch, double *ret_votes);

	/* Is vote[i] > thresholds[i]? Gives the same answers as votes(), but faster for large
	 * groups. `ret_votes[i]` is the exact vote of members that exceed, and for the others
	 * either the exact vote or any value that does not exceed the threshold (NaN without data).
	 * NULL: use votes(). */
	int (*exceed)(const struct window *w, const double *thresholds,
		struct measure_scratch *scratch, double *ret_votes);
};

/* All measures, NULL-terminated, in the order of meson.build. */
extern const struct measure *const measures[];
const struct measure *measure_find(const char *name);

/* Blocks by user; a block keeps its contents until its user requests it again. */
enum scratch_block {
	SCRATCH_VALUES,	  /* the values of all members, one after the other, or some rows */
	SCRATCH_KEYS,	  /* the same, as keys (base/median.h) */
	SCRATCH_BINS,	  /* sorted bin numbers, histograms */
	SCRATCH_COUNTS,	  /* the number of values of each member */
	SCRATCH_MEMBERS,  /* [place] the member */
	SCRATCH_PLACES,	  /* [member] its place */
	SCRATCH_DISTANCE, /* distances to pivots */
	SCRATCH_SUMS,	  /* sums of bin numbers */
	SCRATCH_SELECT,	  /* work space of base/median.h */
	SCRATCH_N_BLOCKS
};

/* Memory of one thread, reused from window to window: a few blocks that never shrink. */
struct measure_scratch {
	void *blocks[SCRATCH_N_BLOCKS];
	size_t bytes[SCRATCH_N_BLOCKS];
};

struct measure_scratch *measure_scratch_new(void);
void measure_scratch_free(struct measure_scratch *s);
DEFINE_CLEANUP(struct measure_scratch *, measure_scratch_free);

/* Room for `n` items of `size` bytes, aligned to 64 bytes; the old contents are lost. NULL: out of
 * memory. */
void *scratch_get(struct measure_scratch *s, enum scratch_block block, size_t n, size_t size);

/* Fewer members than this are not worth sharing among threads. */
#define SCRATCH_MANY 4096U

/* The number of threads that should share the work on `n` members: one if there are few members, or
 * if the caller is already one of several threads. */
unsigned scratch_threads(uint32_t n);

#endif
