/* Distinguishes occasional loss of packets from steady loss. */
#ifndef EXPLAIN_LOSS_H
#define EXPLAIN_LOSS_H

#include "explain/context.h"

/* Put findings of congestion windows and of retransmits aside if retransmits show no steady loss.
 * Connections with little to send do not open their window again, so a single old loss shows in it
 * for hours; and a queue that was full for a moment loses many packets at once. Without records of
 * retransmits the window decides, as in the papers. */
int loss_filter(struct explain_context *ctx, struct lp_err *err);

#endif
