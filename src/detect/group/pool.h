/* Connections between two recorded observers speak about both of them. Taken one by one, each has
 * few retransmits and nobody knows which end is to blame. Pooled over all connections that touch an
 * observer the counts add up, and blame sorts itself: an observer that loses packets has all its
 * connections against it, each of the others only the one that leads there.
 */
#ifndef DETECT_GROUP_POOL_H
#define DETECT_GROUP_POOL_H

#include "model/hosts.h"
#include <limpet/table.h>

/* In every table replace the rows of connections whose remote is a recorded observer by pooled rows
 * of both ends: "oss7/tcp:all:in" and "oss7/tcp:peers:out" for one that accepts connections,
 * "client3/tcp:all:out" and "client3/tcp:peers:in" for one that opens them. Connections between two
 * that accept some are pooled apart where there are clients as well ("oss7/tcp:servers:in",
 * "oss7/tcp:server-peers:out"), without their windows and round trips. What traced clients saw
 * of a server becomes one row of that server, "oss7/peer:clients" (or, of one that is not recorded,
 * "10.0.0.7/peer:clients"): means are weighed with
 * how many calls each is over, where a table tells that (struct lp_metric). Rows of other
 * components, and of connections with somebody unknown, stay as they are. */
int pool_connections(
	struct lp_table **tables, uint32_t n, const struct hosts *hosts, struct lp_err *err);

/* Is a component what others see of an observer's connections ("oss7/tcp:peers:out")? */
bool pool_is_far_view(const struct lp_identity *component);

#endif
