/* The disk of a server: an image in memory, a FUSE program with the service times of a disk, and a
 * loop device with direct I/O and two partitions, the first with a file system. */
#ifndef LAB_DISK_H
#define LAB_DISK_H

#include "lab/lab.h"

/* Create it: image, disk program (`limpet lab disk`, run/NODE-disk.pid, in the node's namespace),
 * loop device with BFQ, two partitions, ext4 without journal on the first, mounted on NODE/brick.
 * Sets node->loop. On failure everything is removed again. The directories mem/, log/ and run/ of
 * the lab must exist; those of the node are created. */
int disk_up(const struct lab *lab, struct lab_node *node, struct lp_err *err);

/* Remove everything that is left of it; only the directory of the lab and the name of the node are
 * needed. Servers that use the brick must have ended. */
int disk_down(const struct lab *lab, const struct lab_node *node, struct lp_err *err);

/* Unmount the file system on NODE/brick, which is no longer in use, check it, and mount it again,
 * after an error that made it read-only. */
int disk_remount(const struct lab *lab, const struct lab_node *node, struct lp_err *err);

/* The name of partition `number` (1 with the file system, 2 for the hog) as the kernel lists it:
 * "loop3p1". "" if there is no disk. */
void disk_partition(const struct lab_node *node, unsigned number, char *buf, unsigned size);

#endif
