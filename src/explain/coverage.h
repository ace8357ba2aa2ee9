/* The time range of each observer's data, and whether there was other data to compare it with. */
#ifndef EXPLAIN_COVERAGE_H
#define EXPLAIN_COVERAGE_H

#include "base/hash.h"
#include <limpet/verdict.h>

/* With data of fewer peers in a window, it is impossible to decide which one is off. */
#define COVERAGE_PEERS_LEAST 3

struct observer_coverage {
	char *observer;
	int64_t first_us, last_us; /* of its data; equal: it has none */
	uint32_t n_compared;	   /* windows with its data, in the series where it has the most */
};

struct coverage {
	struct observer_coverage *items; /* in the order of first appearance */
	uint32_t n;
	size_t cap;
	struct strmap index;
	uint32_t n_compared; /* windows, in the series that has the most */
};

/* Compute the coverage from the tables and marks of a verdict. 0 or -ENOMEM. Zero-initialise `ret`,
 * and call coverage_release() even after a failure. */
int coverage_make(const struct lp_verdict *v, struct coverage *ret);
void coverage_release(struct coverage *c);

/* The coverage of an observer, or NULL. */
const struct observer_coverage *coverage_find(const struct coverage *c, const char *observer);

/* Does an observer have data? */
bool coverage_has_data(const struct observer_coverage *o);

/* An observer has data: does no other observer have data of the same time? */
bool coverage_is_alone(const struct coverage *c, const struct observer_coverage *o);

/* Did the component of a finding ever have data at the same time as enough peers for a comparison?
 * If not, it is not missing when those peers have data. True if it has no data at all. */
bool coverage_had_peers(const struct lp_verdict *v, const struct lp_finding *f);

/* Some observers have many short gaps, each under a minute: too short to be missing, too many for a
 * judgement. Report an observer as unknown if it has no data for at least half of the time in which
 * most others have data, and no gap is longer than a minute. 0 or -ENOMEM. */
int patchy_judge(struct lp_verdict *v);

#endif
