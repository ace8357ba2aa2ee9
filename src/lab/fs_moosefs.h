/* The configuration of MooseFS, for tests. */
#ifndef LAB_FS_MOOSEFS_H
#define LAB_FS_MOOSEFS_H

#include "base/strbuf.h"
#include "lab/lab.h"

/* Of the master, and of one chunk server. */
void moosefs_master_config(const struct lab *lab, struct strbuf *out);
void moosefs_server_config(const struct lab *lab, const struct lab_node *node, struct strbuf *out);

#endif
