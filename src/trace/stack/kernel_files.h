/* Names of what the kernel's events identify by numbers: open files of other processes, and disks.
 */
#ifndef TRACE_KERNEL_FILES_H
#define TRACE_KERNEL_FILES_H

#include "trace/stack/kernel_spans.h"

/* The path of a descriptor of a process, and the key by which clients of its file system identify
 * the file (GlusterFS keeps it in an attribute of the file). "" and 0 if unknown: the file may be
 * closed already, and the descriptor may be another file. */
void kernel_file_find(int32_t pid, int32_t fd, uint64_t inode, struct kernel_file *ret);

/* "sda1"; "8:1" if there is no name. `device` is as in stat(). */
void kernel_disk_name(uint64_t device, char *ret, size_t size);

#endif
