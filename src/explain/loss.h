/* Distinguishes occasional packet loss from steady loss, and the end that loses packets from the
 * other one. */
#ifndef EXPLAIN_LOSS_H
#define EXPLAIN_LOSS_H

#include "explain/context.h"

/* Set findings about congestion windows and retransmits aside if the retransmits show no steady
 * loss. Connections with little traffic do not open their window again, so a single old loss shows
 * for hours; and a queue that is full for a moment loses many packets at once. Without records of
 * retransmits the window decides, as in the papers.
 *
 * Also set the findings about an observer aside if its connections lead to another observer that
 * loses at least twice as many packets at the same time: a client that mostly uses the server that
 * loses packets retransmits more than other clients. If the client loses packets itself, too, that
 * shows after the server is repaired. */
int loss_filter(struct explain_context *ctx, struct lp_err *err);

#endif
