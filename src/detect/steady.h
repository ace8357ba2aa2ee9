/* Is a member beyond the middle of its group in nearly all samples, or only sometimes? A component
 * that is really slower is slower at its best moments, too; a noisy one also has normal samples. */
#ifndef DETECT_STEADY_H
#define DETECT_STEADY_H

#include "detect/compare/compare.h"

enum steadiness {
	STEADY_UNKNOWN, /* the samples were not compared */
	STEADY_NOT,
	STEADY,
};

/* The middle of a group in each slot, computed on demand. */
struct steady {
	const struct comparison *c;
	const double **rows;   /* [member] its samples; NULL: none */
	const double **chosen; /* [member] the same, for the members that define the middle */
	double *middle;	       /* [slot] */
	double *values;	       /* room for one value per member */
	uint32_t n_slots;
	uint32_t n_members;
	bool *known; /* [slot] is the middle known? */
};

/* The samples of a member that were examined, up to slot `end`. */
struct steady_count {
	uint32_t end;
	uint32_t n, n_beyond;
};

/* Initialise it for a comparison; computes nothing yet. Call steady_release() in any case. */
void steady_init(struct steady *s, const struct comparison *c);
void steady_release(struct steady *s);

/* Examine a member's samples from `count->end` up to slot `end`. The result says how steadily it is
 * above or below the middle of its group in all samples examined so far. 0 or -ENOMEM. */
int steady_look(struct steady *s, uint32_t member, enum lp_mark direction, uint32_t end,
	struct steady_count *count, enum steadiness *ret);

#endif
