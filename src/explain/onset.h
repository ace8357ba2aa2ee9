/* Since when, and until when: the change points in the samples. Windows only say in which of them a
 * component was anomalous, and the first of these begins before the trouble does. */
#ifndef EXPLAIN_ONSET_H
#define EXPLAIN_ONSET_H

#include "explain/context.h"

/* A change of level in a row of numbers. */
struct onset_step {
	uint32_t at;	      /* the first number behind it */
	uint32_t low, high;   /* it may as well be at any of these */
	double before, after; /* the means */
};

/* Find where `n` numbers rise from one level to another: the two means that fit best by least
 * squares, after single spikes were taken out. `scratch` has room for n numbers, too. False: there
 * are too few numbers, or the rise is no larger than what noise makes. */
bool onset_step(const double *x, uint32_t n, double *scratch, struct onset_step *ret);

/* Refine `first_us` and `last_us` of what the suspects and asymmetries are listed for, and fill in
 * `onset_error_us`, `since_before` and `ended`. Whoever takes them as a stretch of windows comes
 * before this. */
int onset_refine(struct explain_context *ctx, struct lp_err *err);

struct onset {
	int64_t first_us, last_us, error_us;
	bool since_before, ended;
};

/* Since when and until when several things were so, the most important of which is in `all` at
 * first: since what was certainly there first, and until all of them have ended. What was always so
 * beside it may be nothing but a habit: it does not count as the first. */
void onset_join(struct onset *all, struct onset one);

/* Since when and until when a suspect limps: as its findings say, or the logs of system calls. Sets
 * no times of the suspect itself. */
struct onset onset_of_suspect(const struct explain_context *ctx, const struct lp_suspect *s);

/* Put that into all suspects and asymmetries. */
void onset_settle(struct explain_context *ctx);

#endif
