/* The configuration of Ceph, for tests. */
#ifndef LAB_FS_CEPH_H
#define LAB_FS_CEPH_H

#include "base/strbuf.h"
#include "lab/lab.h"

/* Of all daemons and clients; `fsid` is the cluster's UUID. */
void ceph_config(const struct lab *lab, const char *fsid, struct strbuf *out);

#endif
