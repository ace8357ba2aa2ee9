/* Peer groups from the data, where nobody said who is a peer of whom.
 *
 * Structure comes first: what is part of an observer, as the disks of a host are, is compared with
 * the other parts of that observer, unless the data shows that observers are alike in load and in
 * latency. Components of other kinds are one group, unless their throughput shows that those of one
 * observer are more alike than those of different ones. Classes of throughput that are clearly
 * apart are compared apart. A few components that differ are no class: they may be the culprits.
 * docs/topology.md has the definitions.
 */
#ifndef DETECT_GROUP_DISCOVER_H
#define DETECT_GROUP_DISCOVER_H

#include "base/hash.h"
#include <limpet/verdict.h>

/* What was decided, so that it changes only on strong evidence. Zero-initialise it. */
struct discover_memory {
	struct strmap split; /* by group: are observers compared apart? */
};

void discover_memory_release(struct discover_memory *m);

/* Replace the groups of `v` that are not one by those that were found. It needs the verdict's
 * components, tables (those whose role is work or latency are used), row_of and groups; it adds
 * notes that say what was done. `memory` has what was decided before, and gets what was decided
 * now; NULL: nothing was, and nobody will ask. */
int discover_groups(struct lp_verdict *v, struct discover_memory *memory, struct lp_err *err);

#endif
