/* Peer groups from the data, if the user did not define them.
 *
 * Structure comes first: parts of an observer, such as the disks of a host, are compared with the
 * other parts of that observer, unless the data shows that observers are alike in load and in
 * latency. Components of other kinds are one group, unless their throughput shows that those of one
 * observer are more alike than those of different ones. Classes of throughput that are clearly
 * separate are compared separately. A few components that differ are not a class: they may be the
 * culprits. docs/topology.md has the definitions.
 */
#ifndef DETECT_GROUP_DISCOVER_H
#define DETECT_GROUP_DISCOVER_H

#include "base/hash.h"
#include <limpet/verdict.h>

/* Earlier decisions, so that they change only on strong evidence. Zero-initialise it. */
struct discover_memory {
	struct strmap split; /* by group: are observers compared separately? */
};

void discover_memory_release(struct discover_memory *m);

/* Replace the groups of `v` that are not homogeneous by the groups that were found. It needs the
 * verdict's components, tables (those whose role is work or latency are used), row_of and groups;
 * it adds notes about what was done. `memory` has earlier decisions, and gets the new ones; NULL:
 * there are none. */
int discover_groups(struct lp_verdict *v, struct discover_memory *memory, struct lp_err *err);

#endif
