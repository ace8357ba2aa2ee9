/* Clocks that were set during a recording. Archives contain two clocks, and the one that never
 * steps shows it.
 */
#ifndef IMPORT_DATASET_CLOCKS_H
#define IMPORT_DATASET_CLOCKS_H

#include "model/table_builder.h"

/* A stretch in which the clock was not set. */
struct clock_segment {
	int64_t offset_us;	   /* wall clock minus the other clock, at the end of the segment */
	int64_t first_us, last_us; /* as recorded */
	int64_t stepped_us;	   /* the sum of all steps up to the beginning of this segment */
	int64_t fix_us;		   /* the correction to add to its times */
};

struct data_clock {
	struct clock_segment *segments;
	size_t n, cap;
	bool known; /* the file was read once, so the corrections are known */
};

void clock_release(struct data_clock *c);

/* Correct the times of the samples of a batch: as if the clock had never been set since the file
 * began or, if `known`, by the corrections that were found. `walls` has room for all times. 0 or
 * -ENOMEM. */
int clock_follow(struct data_clock *c, const struct lp_batch *batch, int64_t *walls);

/* The same for data that keeps coming, and may be read again: a time that was seen before gets the
 * same correction. Only the last few times at which the clock was set are known. 1: the clock was
 * set in this batch or before it; 0: it was not; or -ENOMEM. */
int clock_track(struct data_clock *c, const struct lp_batch *batch, int64_t *walls);

/* The correction of the last sample that was tracked; and change it. */
int64_t clock_fix_us(const struct data_clock *c);
void clock_correct(struct data_clock *c, int64_t by_us);

/* Was it set? */
bool clock_stepped(const struct data_clock *c);

/* Call this when everything was read. Decide which clock of a file was right: the one that makes
 * the data overlap most with that of other observers, or each clock in its segment. Move the
 * samples of `observer` in the builder accordingly. `*ret_moved`: their times differ from the
 * recorded ones. 0 or -ENOMEM.
 */
int clock_settle(
	struct data_clock *c, const char *observer, struct lp_table_builder *b, bool *ret_moved);

#endif
