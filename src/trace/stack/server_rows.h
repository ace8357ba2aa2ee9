/* The servers as this host sees them, as samples: how many requests for data each of them answered,
 * and how long that took, from sending a request until all of its answer was read. One server is
 * the component "c1/peer:10.77.0.12:3334", as in traces of system calls.
 */
#ifndef TRACE_SERVER_ROWS_H
#define TRACE_SERVER_ROWS_H

#include "model/span.h"
#include "trace/named_rows.h"

/* Servers after this many are one row, "other". */
#define SERVER_ROWS_MAX 1024

/* The columns. */
const struct lp_schema *server_rows_schema(void);

/* NULL: out of memory. */
struct named_rows *server_rows_new(const char *observer);

/* Count a span if it is a request to a server that reads or writes data. 0 or -ENOMEM. */
int server_rows_add(struct named_rows *rows, const struct span *s);

#endif
