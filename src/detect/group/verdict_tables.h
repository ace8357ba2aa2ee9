/* The beginning of a verdict: it removes clients from tables of storage, combines connections and
 * functions, takes over the tables, and numbers the components. */
#ifndef DETECT_GROUP_VERDICT_TABLES_H
#define DETECT_GROUP_VERDICT_TABLES_H

#include "model/hosts.h"
#include <limpet/table.h>
#include <limpet/verdict.h>

/* Take over the tables (and the array, even after a failure) and fill in components, in the order
 * of their first appearance, and row_of. */
int verdict_own_tables(
	struct lp_verdict *v, struct lp_table **tables, uint32_t n_tables, struct lp_err *err);

/* Clients wait for servers. The time that reads and writes of files take on a client depends on the
 * servers that have these files, not on a disk of the client. Otherwise a client with its files on
 * a slow server would be called slow.
 *
 * Remove the rows of clients from the tables of storage service times ("dread", "dwrite"). A client
 * reads responses of recorded observers, as its traced processes show, and no requests. Call it
 * before connections are pooled. 0 or -ENOMEM. */
int clients_drop(
	struct lp_table **tables, uint32_t n, const struct hosts *hosts, struct lp_err *err);

/* Connections between two recorded observers are evidence about both of them. A single connection
 * has few retransmits, which do not show which end causes them. Pooled over all connections of an
 * observer, they do: an observer that loses packets has retransmits on all its connections, each of
 * the others only on the one that leads there.
 *
 * In every table, replace the rows of connections to recorded observers by pooled rows of both
 * ends: "oss7/tcp:all:in" and "oss7/tcp:peers:out" for an observer that accepts connections,
 * "client3/tcp:all:out" and "client3/tcp:peers:in" for one that opens them. If there are clients,
 * connections between two observers that accept connections are pooled separately
 * ("oss7/tcp:servers:in", "oss7/tcp:server-peers:out"), without their windows and round trips. The
 * views of traced clients on a server become one row of that server, "oss7/peer:clients" (or, if it
 * is not recorded, "10.0.0.7/peer:clients"). Means are weighted by the number of calls, if a table
 * has it (struct lp_metric). Other rows, including connections with unknown hosts, do not
 * change. */
int pool_connections(
	struct lp_table **tables, uint32_t n, const struct hosts *hosts, struct lp_err *err);

/* Is a component the view of others on an observer's connections ("oss7/tcp:peers:out")? */
bool pool_is_far_view(const struct lp_identity *component);

/* All functions of an observer together are one component, "oss3/functions:all". It is compared
 * with those of the other observers by its vector, which has one value per function. Its dimensions
 * are the components of this kind. */
#define FUNCTION_KIND "function"

/* Add to every table of functions a row per observer with the total of its functions. The rows of
 * the functions stay. */
int functions_join(struct lp_table **tables, uint32_t n, struct lp_err *err);

/* Is a component such a row? */
bool functions_joined(const struct lp_identity *component);

#endif
