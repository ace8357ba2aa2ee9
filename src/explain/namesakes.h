/* Devices of another sort in every server: the disk of the logs, an old drive among new ones. Such
 * a device has the same name on every server, and takes longer than the others on most servers. */
#ifndef EXPLAIN_NAMESAKES_H
#define EXPLAIN_NAMESAKES_H

#include "explain/context.h"

/* Findings about slow storage get FATE_CLEARED, and a note names them, if the components of that
 * name were slow from the beginning on more than half of the observers, at least 3, beside others
 * of the same observer. Nothing changes if the user gave a topology, which says which components
 * are peers, or if thresholds were trained or given, because they allow for the device. */
int namesakes_filter(struct explain_context *ctx, struct lp_err *err);

#endif
