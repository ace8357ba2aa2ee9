/* Packets that are lost now and then, and packets that are lost. */
#ifndef EXPLAIN_LOSS_H
#define EXPLAIN_LOSS_H

#include "explain/context.h"

/* Put findings of congestion windows and of retransmits aside where what was sent again shows no
 * steady loss. Connections that have little to send do not open their window again, so that what
 * was lost once, long ago, is seen in it for hours; and a queue that was full for a moment loses
 * many packets at once. Without records of retransmits the window has the last word, as in the
 * papers. */
int loss_filter(struct explain_context *ctx, struct lp_err *err);

#endif
