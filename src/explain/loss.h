/* Distinguishes occasional packet loss from steady loss. */
#ifndef EXPLAIN_LOSS_H
#define EXPLAIN_LOSS_H

#include "explain/context.h"

/* Set findings about congestion windows and retransmits aside if the retransmits show no steady
 * loss. Connections with little traffic do not open their window again, so a single old loss shows
 * for hours; and a queue that is full for a moment loses many packets at once. Without records of
 * retransmits the window decides, as in the papers. */
int loss_filter(struct explain_context *ctx, struct lp_err *err);

#endif
