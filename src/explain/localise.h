/* Find the part of the system that the affected components have in common and the others do not. */
#ifndef EXPLAIN_LOCALISE_H
#define EXPLAIN_LOCALISE_H

#include "explain/context.h"

/* The parts of the components of a verdict: attribute values of the topology, the observer, and the
 * remote address of connections. */
struct parts {
	char **names; /* [part] "controller:ddn12a" */
	uint32_t n;
	/* The parts of component c: of[first_of[c] .. first_of[c + 1] - 1]. */
	uint32_t *first_of, *of;
	/* The compared components of part p: members[first_member[p] .. first_member[p + 1] - 1].
	 */
	uint32_t *first_member, *members;
	uint32_t *group_of; /* [component] the group in which it is compared, UINT32_MAX: none */
	/* Work space of localise(). */
	bool *affected;		     /* [component] */
	uint32_t *affected_of_group; /* [group] the number of affected components */
	bool *groups;		     /* [group] chosen for comparison */
	bool *seen;		     /* [part] */
};

int parts_init(struct parts *p, const struct explain_context *ctx, struct lp_err *err);
void parts_release(struct parts *p);

bool parts_has(const struct parts *p, uint32_t component, uint32_t part);

struct location {
	uint32_t part;	     /* UINT32_MAX: no part explains more than the component itself */
	uint32_t n_members;  /* the number of its components in groups with affected ones */
	uint32_t n_affected; /* of these */
	double surprise;     /* log-likelihood ratio: how much better the part explains the affected
			      * components */
};

/* Find the part that best distinguishes the affected components from the others, in the peer groups
 * where the part has affected components. It is judged by the log-likelihood ratio between
 * "components of the part are affected at one rate, and the others at another" and "all are
 * affected at the same rate". The ratio must exceed what the best of all parts reaches by chance.
 * If there is a tie, the smaller part wins. */
struct location localise(
	struct parts *p, const struct explain_context *ctx, const uint32_t *affected, uint32_t n);

/* The log-likelihood ratio of localise() for a part with `a` of `n` components affected, while `b`
 * of `m` others are; 0 if the part is not affected more than the others. */
double localise_surprise(double a, double n, double b, double m);

#endif
