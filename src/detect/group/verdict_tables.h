/* The beginning of a verdict: what tables say of clients is left out, connections and functions are
 * put together, the tables become the verdict's own, and every component gets a number. */
#ifndef DETECT_GROUP_VERDICT_TABLES_H
#define DETECT_GROUP_VERDICT_TABLES_H

#include "model/hosts.h"
#include <limpet/table.h>
#include <limpet/verdict.h>

/* Take over the tables (also the array, also after a failure) and fill in components, in the order
 * of their first appearance, and row_of. */
int verdict_own_tables(
	struct lp_verdict *v, struct lp_table **tables, uint32_t n_tables, struct lp_err *err);

/* Clients wait for servers. How long reads and writes of files take them says how the servers do
 * that have these files, and nothing about a disk of their own: whoever has its files on a slow
 * server would be called slow itself.
 *
 * Take the rows of clients out of the tables of storage service times ("dread", "dwrite"). A client
 * is who reads responses of recorded observers, as its traced processes show, and no requests. To
 * be called before connections are pooled. 0 or -ENOMEM. */
int clients_drop(
	struct lp_table **tables, uint32_t n, const struct hosts *hosts, struct lp_err *err);

/* Connections between two recorded observers speak about both of them. Taken one by one, each has
 * few retransmits and nobody knows which end is to blame. Pooled over all connections that touch an
 * observer the counts add up, and blame sorts itself: an observer that loses packets has all its
 * connections against it, each of the others only the one that leads there.
 *
 * In every table replace the rows of connections whose remote is a recorded observer by pooled rows
 * of both ends: "oss7/tcp:all:in" and "oss7/tcp:peers:out" for one that accepts connections,
 * "client3/tcp:all:out" and "client3/tcp:peers:in" for one that opens them. Connections between two
 * that accept some are pooled apart where there are clients as well ("oss7/tcp:servers:in",
 * "oss7/tcp:server-peers:out"), without their windows and round trips. What traced clients saw
 * of a server becomes one row of that server, "oss7/peer:clients" (or, of one that is not recorded,
 * "10.0.0.7/peer:clients"): means are weighed with how many calls each is over, where a table says
 * that (struct lp_metric). Rows of other components, and of connections with somebody unknown, stay
 * as they are. */
int pool_connections(
	struct lp_table **tables, uint32_t n, const struct hosts *hosts, struct lp_err *err);

/* Is a component what others see of an observer's connections ("oss7/tcp:peers:out")? */
bool pool_is_far_view(const struct lp_identity *component);

/* Functions of an observer taken together are one component, "oss3/functions:all", that is compared
 * with those of the other observers by its vector, one value for each function. Its dimensions are
 * the components of this kind. */
#define FUNCTION_KIND "function"

/* Add to every table that has functions a row for each observer, the total of its functions. The
 * rows of the functions stay. */
int functions_join(struct lp_table **tables, uint32_t n, struct lp_err *err);

/* Is a component such a row? */
bool functions_joined(const struct lp_identity *component);

#endif
