/* Clients wait for servers. How long reads and writes of files take them says how the servers do
 * that have these files, and nothing about a disk of their own: whoever has its files on a slow
 * server would be called slow itself. */
#ifndef DETECT_GROUP_CLIENTS_H
#define DETECT_GROUP_CLIENTS_H

#include "model/hosts.h"
#include <limpet/table.h>

/* Take the rows of clients out of the tables of storage service times ("dread", "dwrite"). A client
 * is who reads responses of recorded observers, as its traced processes show, and no requests. To
 * be called before connections are pooled. 0 or -ENOMEM. */
int clients_drop(
	struct lp_table **tables, uint32_t n, const struct hosts *hosts, struct lp_err *err);

#endif
