/* A small congestion window is a sign of lost packets only where packets are lost. */
#ifndef EXPLAIN_LOSS_H
#define EXPLAIN_LOSS_H

#include "explain/inquiry.h"

/* Put findings of congestion windows aside where the retransmits that were recorded tell of no
 * loss: connections that have little to send do not open their window again, so that what was lost
 * once, long ago, is seen in it for hours. Without records of retransmits the window has the last
 * word, as in the papers. */
int loss_filter(struct inquiry *q, struct lp_err *err);

#endif
