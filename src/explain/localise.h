/* Find the part of the system that the affected components share, and the others do not. */
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
	uint32_t *group_of; /* [component] the group it is compared in, UINT32_MAX: none */
	/* Scratch of localise(). */
	bool *affected;		     /* [component] */
	uint32_t *affected_of_group; /* [group] how many */
	bool *groups;		     /* [group] chosen for comparison */
	bool *seen;		     /* [part] */
};

int parts_init(struct parts *p, const struct explain_context *ctx, struct lp_err *err);
void parts_release(struct parts *p);

bool parts_has(const struct parts *p, uint32_t component, uint32_t part);

struct location {
	uint32_t part;	     /* UINT32_MAX: none explains more than the component itself */
	uint32_t n_members;  /* the number of its components in the groups of the affected ones */
	uint32_t n_affected; /* of these */
	double surprise;     /* how much more likely the affected ones are with it, a logarithm */
};

/* The part that distinguishes the affected components best from the unaffected ones, in the peer
 * groups in which it has affected ones: the logarithm of the likelihood ratio between "components
 * of the part are affected at one rate and the others at another" and "all at the same rate". It
 * must exceed what the best of so many parts reaches by chance; of equals the smaller part wins. */
struct location localise(
	struct parts *p, const struct explain_context *ctx, const uint32_t *affected, uint32_t n);

/* The logarithm of that likelihood ratio for a part with a of n affected where b of m others are;
 * 0 if the part is not affected more than the others. */
double localise_surprise(double a, double n, double b, double m);

#endif
