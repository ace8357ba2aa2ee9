/* Loop devices with direct I/O and partitions; the kernel counts their requests. */
#ifndef LAB_LOOP_H
#define LAB_LOOP_H

#include <limpet/err.h>
#include <stdint.h>

#define LOOP_NAME_MAX 24 /* "/dev/loop3" */

/* Attach a free loop device to `file`, with direct I/O (-ENOTSUP if that is impossible) and, if the
 * kernel has it, the BFQ scheduler. */
int loop_attach(const char *file, char ret_device[LOOP_NAME_MAX], struct lp_err *err);

/* Add partition `number` (1, ...) at `start`, in bytes; writes no partition table. */
int loop_add_partition(const char *device, int number, uint64_t start_bytes, uint64_t size_bytes,
	struct lp_err *err);

/* Free all devices on files in the folder `dir` (even if those files are deleted or dead), without
 * leaving partitions. -EBUSY if one is still in use; the others are freed. */
int loop_detach(const char *dir, struct lp_err *err);

#endif
