/* Peer groups from the data, if the user did not define them.
 *
 * Structure comes first. Parts of an observer, such as the disks of a host, are compared with the
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

/* Earlier decisions, which change only on strong evidence. Zero-initialise it. */
struct discover_memory {
	struct strmap split; /* by group: are observers compared separately? */
};

void discover_memory_release(struct discover_memory *m);

/* Split the groups of `v` that are not homogeneous. It needs the verdict's components, tables (it
 * uses those with the role work or latency), row_of and groups, and adds notes about the result.
 * `memory` has earlier decisions, and gets the new ones; NULL: none. */
int discover_groups(struct lp_verdict *v, struct discover_memory *memory, struct lp_err *err);

#endif
