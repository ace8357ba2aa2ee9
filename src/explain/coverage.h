/* The time that each observer's data covers, and whether there was anything to compare it with. */
#ifndef EXPLAIN_COVERAGE_H
#define EXPLAIN_COVERAGE_H

#include "base/hash.h"
#include <limpet/verdict.h>

/* The number of peers with data in a window that is needed to decide which of them is off. */
#define COVERAGE_PEERS_LEAST 3

struct observer_coverage {
	char *observer;
	int64_t first_us, last_us; /* of its data; equal: there is none */
	uint32_t n_compared;	   /* windows with its data, of the series in which it has most */
};

struct coverage {
	struct observer_coverage *items; /* in the order of first appearance */
	uint32_t n;
	size_t cap;
	struct strmap index;
	uint32_t n_compared; /* windows, of the series that has most */
};

/* Derive it from the tables and the marks of a verdict; 0 or -ENOMEM. Zero-initialise `ret`;
 * coverage_release() it also after a failure. */
int coverage_make(const struct lp_verdict *v, struct coverage *ret);
void coverage_release(struct coverage *c);

/* The coverage of an observer, or NULL. */
const struct observer_coverage *coverage_find(const struct coverage *c, const char *observer);

/* Is there data of an observer? */
bool coverage_has_data(const struct observer_coverage *o);

/* Is there no other observer with data of the same time as this one, which has some? */
bool coverage_is_alone(const struct coverage *c, const struct observer_coverage *o);

/* Has the component of a finding ever had data while enough of its peers had some for a comparison?
 * If not, it is not missing when these have data. True if it has no data at all. */
bool coverage_had_peers(const struct lp_verdict *v, const struct lp_finding *f);

/* The data of some observers comes and goes within a minute: too briefly to be missing, too often
 * to be judged. State an observer as unknown if it has no data in at least half of the time in
 * which most others have, though it is never away for longer than a minute. 0 or -ENOMEM. */
int patchy_judge(struct lp_verdict *v);

#endif
