/* Loop devices with direct I/O and partitions: what the kernel counts the requests of. */
#ifndef LAB_LOOP_H
#define LAB_LOOP_H

#include <limpet/err.h>
#include <stdint.h>

#define LOOP_NAME_MAX 24 /* "/dev/loop3" */

/* Put a free loop device on `file`, with direct I/O (-ENOTSUP if that cannot be) and, where the
 * kernel has it, the BFQ scheduler. */
int loop_attach(const char *file, char ret_device[LOOP_NAME_MAX], struct lp_err *err);

/* Partition `number` (1, ...) from `start` on, in bytes; no table is written. */
int loop_add_partition(const char *device, int number, uint64_t start_bytes, uint64_t size_bytes,
	struct lp_err *err);

/* Find a device on a file in the folder `dir` (also if that file is deleted or dead): 1 and its
 * name, or 0. */
int loop_find(const char *dir, char ret_device[LOOP_NAME_MAX]);

/* Remove its partitions, and free the device. -EBUSY if something still uses it. */
int loop_detach(const char *device, struct lp_err *err);

#endif
