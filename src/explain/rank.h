/* How bad and how certain: the numbers by which suspects and incidents are ranked (docs/causes.md
 * has the formulas). */
#ifndef EXPLAIN_RANK_H
#define EXPLAIN_RANK_H

#include "explain/context.h"

/* An asymmetry counts as no more than 2^10 = 1024 times. */
#define RANK_SIZE_MAX 10.0
/* Nothing at all, where the peers have something, counts as 2^6 = 64 times. */
#define RANK_SIZE_ABSENT 6.0
/* "Much larger": four times the factor. */
#define RANK_MUCH_LARGER 2.0

/* The size of an asymmetry: the log2 of its ratio to the peers, in either direction. `floor` keeps
 * peers that do next to nothing from making any value infinitely large. If the median is like the
 * peers' but the shape differs (jitter), the distance over its threshold counts, up to 3. */
double rank_size(const struct lp_finding *f, double floor);

/* size * (1 + log2(1 + n)), n the mean of the persistence at the end and at its peak: large and
 * short weighs as much as small and long, and trouble that is over weighs less than trouble that
 * continues. */
double rank_severity(double size, uint32_t persistence, uint32_t peak);

/* The inputs of the confidence, which grows with each. */
struct rank_grounds {
	double margin;	    /* distance / threshold, at least 1 */
	double share;	    /* of the windows from the first to the last anomalous one */
	uint32_t n_windows; /* anomalous ones */
	uint32_t n_peers;
	uint32_t n_metrics; /* that agree */
	bool trained;
	double crowd; /* the share of the peers that are accused of the same */
};

/* 0 .. 1: the weighted geometric mean of the contributions of the grounds. */
double rank_confidence(const struct rank_grounds *g);

/* Together with the findings: fill in severity, confidence, persistence and times of a suspect. */
void rank_suspect(const struct explain_context *ctx, struct lp_suspect *s);

/* The most severe first, then the longest, then by number. */
void rank_suspects(struct lp_suspect *suspects, uint32_t n);

/* The confidence of `a` together with another suspect, of confidence `b`, of the same problem.
 * Their evidence is not independent, so it counts for a quarter. */
double rank_joint_confidence(double a, double b);

#endif
