/* Peer groups from the data, where nobody said who is a peer of whom.
 *
 * Components of a kind are split where their throughput shows that they do not behave as one group:
 * by observer, where the components of one observer are more alike than those of different ones; or
 * into classes of throughput that are clearly apart. Latency is not looked at, which is what they
 * are to be compared in. A few components that differ are no class: they may be the culprits.
 * docs/topology.md has the definitions.
 */
#ifndef DETECT_GROUP_DISCOVER_H
#define DETECT_GROUP_DISCOVER_H

#include <limpet/verdict.h>

/* Replace the groups of `v` that are not one by those that were found. It needs the verdict's
 * components, tables (those whose role is work are used), row_of and groups; it adds notes that say
 * what was done. */
int discover_groups(struct lp_verdict *v, struct lp_err *err);

#endif
