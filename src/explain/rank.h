/* How bad and how certain: the numbers by which suspects and incidents are ranked (docs/causes.md
 * has the formulas). */
#ifndef EXPLAIN_RANK_H
#define EXPLAIN_RANK_H

#include "explain/context.h"

/* An asymmetry counts as a factor of 2^10 = 1024 at most. */
#define RANK_SIZE_MAX 10.0
/* Having nothing, where the peers have something, counts as a factor of 2^6 = 64. */
#define RANK_SIZE_ABSENT 6.0
/* "Much larger" means four times the factor. */
#define RANK_MUCH_LARGER 2.0

/* The size of an asymmetry: the log2 of its ratio to the peers, in either direction. `floor` limits
 * the ratio if the peers do next to nothing. If the median is like that of the peers but the
 * distribution differs (jitter), the distance divided by its threshold counts, up to 3. */
double rank_size(const struct lp_finding *f, double floor);

/* size * (1 + log2(1 + n)), where n is the mean of the persistence at the end and at its peak.
 * Large and short trouble weighs as much as small and long trouble, and trouble that is over weighs
 * less than trouble that continues. */
double rank_severity(double size, uint32_t persistence, uint32_t peak);

/* The inputs of the confidence, which grows with each of them, except for `crowd`. */
struct rank_grounds {
	double margin;	    /* distance / threshold, at least 1 */
	double share;	    /* of anomalous windows, from the first to the last of them */
	uint32_t n_windows; /* anomalous ones */
	uint32_t n_peers;
	uint32_t n_metrics; /* that agree */
	bool trained;
	double crowd; /* the share of the peers with the same accusation */
};

/* 0 .. 1: the weighted geometric mean of the contributions of the grounds. */
double rank_confidence(const struct rank_grounds *g);

/* Fill in severity, confidence, persistence and times of a suspect from its findings. */
void rank_suspect(const struct explain_context *ctx, struct lp_suspect *s);

/* Sort: the most severe first, then the longest, then by number. */
void rank_suspects(struct lp_suspect *suspects, uint32_t n);

/* The joint confidence of two suspects of the same problem, with the confidences `a` and `b`. Their
 * evidence is not independent, so the second one counts for a quarter. */
double rank_joint_confidence(double a, double b);

#endif
