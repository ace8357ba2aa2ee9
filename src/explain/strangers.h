/* Connections with hosts that are not recorded. Either end may cause a slow connection, and there
 * is no data of the other end. If an observer also has connections with recorded observers, those
 * show whether it is at fault. */
#ifndef EXPLAIN_STRANGERS_H
#define EXPLAIN_STRANGERS_H

#include "explain/context.h"

/* Findings about single connections that an observer opened to an unrecorded host get FATE_CLEARED,
 * if its connections with other observers were compared, too; unless most observers that have
 * connections with that host show the same. */
int strangers_filter(struct explain_context *ctx, struct lp_err *err);

#endif
