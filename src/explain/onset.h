/* The beginning and the end of trouble: the change points in the samples. Windows only show roughly
 * when a component was anomalous: the first anomalous window begins before the trouble. */
#ifndef EXPLAIN_ONSET_H
#define EXPLAIN_ONSET_H

#include "explain/context.h"

/* A change of level in a row of numbers. */
struct onset_step {
	uint32_t at;	      /* the first number after it */
	uint32_t low, high;   /* it may be at any of these */
	double before, after; /* the means */
};

/* Find where `n` numbers rise from one level to another: the step that fits best by least squares,
 * after removing single spikes. `scratch` has room for n numbers. False: there are too few numbers,
 * or the rise is not larger than noise. */
bool onset_step(const double *x, uint32_t n, double *scratch, struct onset_step *ret);

/* Refine `first_us` and `last_us` of the findings of suspects and asymmetries, and fill in
 * `onset_error_us`, `since_before` and `ended`. Code that needs the times of windows must run
 * before this. */
int onset_refine(struct explain_context *ctx, struct lp_err *err);

struct onset {
	int64_t first_us, last_us, error_us;
	bool since_before, ended;
};

/* Combine the beginnings and ends of several troubles; `all` initially has the most important one.
 * The result begins with the one that was certainly first and ends with the last. Trouble that was
 * always there may be unrelated, and does not count as the first. */
void onset_join(struct onset *all, struct onset one);

/* The beginning and the end of a suspect's trouble, from its findings or from the logs of system
 * calls. Does not set the times of the suspect itself. */
struct onset onset_of_suspect(const struct explain_context *ctx, const struct lp_suspect *s);

/* Set the times of all suspects and asymmetries. */
void onset_settle(struct explain_context *ctx);

#endif
