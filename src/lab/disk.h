/* A server's disk: an image in memory, behind a disk's service times (FUSE), under a loop device
 * with direct I/O and two partitions, the first with a file system. */
#ifndef LAB_DISK_H
#define LAB_DISK_H

#include "lab/lab.h"

/* Make it: image, disk program (`limpet lab disk`, run/NODE-disk.pid, in the node's namespace),
 * loop device with BFQ, partitions by addpart, ext4 without journal on the first, mounted on
 * NODE/brick. Sets node->loop. */
int disk_up(const struct lab *lab, struct lab_node *node, struct lp_err *err);

/* Remove all of that, whatever is there of it. Partitions go with delpart before the device. */
int disk_down(const struct lab *lab, const struct lab_node *node, struct lp_err *err);

/* The name of the first partition as the kernel lists it ("loop3p1"): what is recorded. */
void disk_partition(const struct lab_node *node, unsigned i, char *buf, unsigned size);

#endif
