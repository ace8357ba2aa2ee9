/* Steady, or now and then: is a member beyond the middle of its group in nearly all samples? What
 * is really slower is so at its best moments, too; what is noisy has samples like all others'. */
#ifndef DETECT_STEADY_H
#define DETECT_STEADY_H

#include "detect/compare/compare.h"

enum steadiness {
	STEADY_UNKNOWN, /* nobody compared samples */
	STEADY_NOT,
	STEADY,
};

/* The middle of a group in each slot, found out where it is asked for. */
struct steady {
	const struct comparison *c;
	const double **rows;   /* [member] its samples; NULL: none */
	const double **chosen; /* [member] the same of those that make the middle */
	double *middle;	       /* [slot] */
	double *values;	       /* room for one of each member */
	uint32_t n_slots;
	uint32_t n_members;
	bool *known; /* [slot] is the middle known? */
};

/* Samples of a member that were looked at, up to slot `end`. */
struct steady_count {
	uint32_t end;
	uint32_t n, n_beyond;
};

/* For a comparison; nothing is computed yet. steady_release() in any case. */
void steady_init(struct steady *s, const struct comparison *c);
void steady_release(struct steady *s);

/* Look at a member's samples from `count->end` up to slot `end`, and say how steadily it is above
 * or below the middle of its group in all that were looked at. 0 or -ENOMEM. */
int steady_look(struct steady *s, uint32_t member, enum lp_mark direction, uint32_t end,
	struct steady_count *count, enum steadiness *ret);

#endif
