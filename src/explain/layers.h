/* The resource that a slow layer of the I/O stack (`limpet stack`) is about. */
#ifndef EXPLAIN_LAYERS_H
#define EXPLAIN_LAYERS_H

#include "explain/context.h"

/* A request is in the layer "server" while its data arrives, too. If the files and disks of a
 * server are recorded and not slow, and its clients wait longer for its answers than it works on
 * them, its slow requests are about the network: change their findings' resource. Call it before
 * suspects are gathered. */
void layers_filter(struct explain_context *ctx);

#endif
