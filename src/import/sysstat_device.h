/* The names of devices and interfaces in sysstat's files, which contain numbers. */
#ifndef IMPORT_SYSSTAT_DEVICE_H
#define IMPORT_SYSSTAT_DEVICE_H

#include <stddef.h>
#include <stdint.h>

/* Large enough for any name below. */
#define SYSSTAT_NAME_MAX 72

/* The kernel's name of a block device if it follows from its numbers ("sda1", "md0"), else
 * "dev252-3" as sysstat prints it. */
void sysstat_disk_name(uint32_t major, uint32_t minor, char buf[SYSSTAT_NAME_MAX]);

/* "0x5000c500a1b2c3d4-1": the world wide name and the number of the partition in sysstat's own
 * form. */
void sysstat_wwn_text(const uint64_t wwn[2], uint32_t partition, char buf[SYSSTAT_NAME_MAX]);

/* Make a valid component name from at most `len` bytes of a file: unprintable bytes become '_', and
 * an empty name becomes "unnamed". */
void sysstat_clean_name(const void *text, size_t len, char buf[SYSSTAT_NAME_MAX]);

#endif
