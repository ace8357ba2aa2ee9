/* Clocks that were set during a recording: archives contain two, and the one that never steps shows
 * it.
 */
#ifndef IMPORT_DATASET_CLOCKS_H
#define IMPORT_DATASET_CLOCKS_H

#include "model/table_builder.h"

/* A time in which the clock was not set. */
struct clock_segment {
	int64_t offset_us;	   /* of the wall clock from the other one, at its end */
	int64_t first_us, last_us; /* as recorded */
	int64_t stepped_us;	   /* by how much it was set so far, at the beginning of this */
	int64_t fix_us;		   /* the correction that is added to its times */
};

struct data_clock {
	struct clock_segment *segments;
	size_t n, cap;
	bool known; /* the file was read once: the corrections are decided */
};

void clock_release(struct data_clock *c);

/* The corrected times of a batch's samples: as if the clock had never been set since the file began
 * or, once it is known, as decided. `walls` has room for them. 0 or -ENOMEM. */
int clock_follow(struct data_clock *c, const struct lp_batch *batch, int64_t *walls);

/* The same for data that keeps coming, and may be read again: a time that is like one before has
 * the same correction. Only the last few times at which the clock was set are known. 1: the clock
 * was set in this batch or before it; 0: it was not; or -ENOMEM. */
int clock_track(struct data_clock *c, const struct lp_batch *batch, int64_t *walls);

/* The correction of the last sample that was tracked; and change it. */
int64_t clock_fix_us(const struct data_clock *c);
void clock_correct(struct data_clock *c, int64_t by_us);

/* Was it set? */
bool clock_stepped(const struct data_clock *c);

/* Called when everything was read. Decide which of a file's clocks was right: the one by which most
 * of the data overlaps with that of other observers, or each in its time. The samples of `observer`
 * are moved in the builder accordingly. *ret_moved: are they now at other times than recorded? 0 or
 * -ENOMEM.
 */
int clock_settle(
	struct data_clock *c, const char *observer, struct lp_table_builder *b, bool *ret_moved);

#endif
