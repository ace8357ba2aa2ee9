/* The common state of the steps of an explanation: the verdict, and facts about each finding and
 * component. */
#ifndef EXPLAIN_CONTEXT_H
#define EXPLAIN_CONTEXT_H

#include "explain/state.h"
#include "model/hosts.h"
#include "model/identity.h"
#include "model/topology.h"
#include <limpet/metric.h>
#include <limpet/verdict.h>
#include <stdbool.h>

struct semantic_finding;

/* How a finding is used. */
enum fate {
	FATE_ASIDE = 0, /* an asymmetry that does not make a culprit */
	FATE_CULPRIT,	/* evidence against its component */
	FATE_WARNING,	/* mild evidence against its component */
	FATE_WORKLOAD,	/* load that the server itself causes: no culprit */
	FATE_CLEARED,	/* before the operator's clear, without peers, or idle by design; ignored */
};

/* Facts about a finding, looked up in advance. */
struct finding_facts {
	enum fate fate;
	enum resource resource;
	enum lp_role role;
	bool of_calls;	   /* found in system calls, not at a device */
	double floor;	   /* differences below this never matter; 0: unknown */
	bool no_data;	   /* for an absent finding: there was no data (else: no work) */
	enum lp_gone gone; /* for an absent finding: what is missing */
	double size;	   /* log2 of the asymmetry, see rank.h */
	double severity;   /* see rank.h */
};

struct explain_context {
	struct lp_verdict *v;
	const struct topology *topology;    /* may be NULL */
	const struct hosts *hosts;	    /* may be NULL */
	const struct operator_state *state; /* may be NULL */
	int64_t now_us;
	struct finding_facts *facts; /* [finding] */
	uint32_t *observer;	     /* [component] number of its observer */
	uint32_t n_observers;
	/* The findings of each component: by_component[first_of[c] .. first_of[c + 1] - 1]. */
	uint32_t *first_of, *by_component;
	/* [suspect] the suspect on the same observer that causes the trouble of this one, or
	 * UINT32_MAX. */
	uint32_t *follows;
	/* [component] its finding in the logs of system calls (explain/semantic.h), or NULL; the
	 * array may be NULL. */
	const struct semantic_finding **semantic;
};

/* Collect all facts. Release it even after a failure. */
int context_init(struct explain_context *ctx, struct lp_verdict *v, const struct topology *topology,
	const struct operator_state *state, struct lp_err *err);
void context_release(struct explain_context *ctx);

/* The slots `*ret_from` .. `*ret_end - 1` of a table, which cover the time of a finding. Slot i
 * covers the step that ends at its time. */
void context_slots(const struct lp_table *t, const struct lp_finding *f, uint32_t *ret_from,
	uint32_t *ret_end);

/* The finding about a suspect in the logs, or NULL. A suspect without one has at least one other
 * finding. */
const struct semantic_finding *context_semantic(
	const struct explain_context *ctx, const struct lp_suspect *s);

/* Do two times belong together, i.e. do they overlap for at least half of the shorter one? */
bool times_overlap(int64_t first_a, int64_t last_a, int64_t first_b, int64_t last_b);

#endif
