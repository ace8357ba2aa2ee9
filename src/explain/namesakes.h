/* Another sort of device in every server: the disk of the logs, an old drive among new ones. It has
 * the same name on each of them, and takes longer than the others on most of them. */
#ifndef EXPLAIN_NAMESAKES_H
#define EXPLAIN_NAMESAKES_H

#include "explain/context.h"

/* Findings about slow storage get FATE_CLEARED, and a note names them, if the components of that
 * name were slow from the beginning on more than half of the observers, at least 3, beside others
 * of the same observer. Whoever gave a topology has said which components are peers, and thresholds
 * that were trained or given know the device: nothing changes then. */
int namesakes_filter(struct explain_context *ctx, struct lp_err *err);

#endif
