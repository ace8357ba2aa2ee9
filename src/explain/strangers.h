/* Connections with somebody whom nobody watches. A slow one may be the fault of either end, and the
 * other one cannot be asked. Where an observer also has connections with others that are watched,
 * those say what is wrong with it. */
#ifndef EXPLAIN_STRANGERS_H
#define EXPLAIN_STRANGERS_H

#include "explain/context.h"

/* Findings about single connections that an observer opened to a stranger get FATE_CLEARED, if its
 * connections with other observers were compared, too; unless most that have connections with that
 * stranger say the same of it. */
int strangers_filter(struct explain_context *ctx, struct lp_err *err);

#endif
