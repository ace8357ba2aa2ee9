/* One LUN: what is asked of it and how long that takes. */
#ifndef BENCH_LUN_H
#define BENCH_LUN_H

#include "intrepid.h"

#define FRAME_STEPS 600
#define NOBODY 255 /* no server offers the LUN */

struct lun {
	unsigned array, number;
	struct rng rng;
	double read_share, write_share, service; /* LUNs differ a little */
	int64_t odd_first, odd_end; /* steps of the next (or present) transient asymmetry */
	double odd_rate, odd_await;
};

/* What a LUN does in the steps of a frame. */
struct lun_frame {
	uint32_t reads[FRAME_STEPS], writes[FRAME_STEPS];
	uint32_t read_ms[FRAME_STEPS], write_ms[FRAME_STEPS];
	uint8_t by[FRAME_STEPS];      /* the server that all this goes through */
	uint8_t present[FRAME_STEPS]; /* bits: servers that have the LUN's disk */
};

void lun_init(struct lun *l, const struct intrepid *sys, unsigned array, unsigned number);

/* Steps `first` .. `first + n - 1`. */
void lun_run(struct lun *l, const struct intrepid *sys, int64_t first, unsigned n,
	struct lun_frame *ret);

#endif
