/* Names of disks. The kernel's name is not stable ("sdb" may be another disk after a reboot), so
 * stable names are looked up in /sys and /dev/disk/by-id when a disk appears.
 */
#ifndef COLLECT_DISKNAME_H
#define COLLECT_DISKNAME_H

#include "base/hash.h"
#include "collect/procfile.h"

/* The links of /dev/disk/by-id, read once even if many disks appear in a sample. */
struct diskname_links {
	struct strmap targets; /* "sda" -> index in names */
	char **names;	       /* the best link to each target */
	size_t n, cap;
	bool loaded;
};

void diskname_links_release(struct diskname_links *l);

struct diskname {
	bool partition; /* a part of a device */
	bool empty; /* a device of size 0: a loop device without a file, a drive without a medium */
	char *labels; /* "key=value" lines; owned */
};

/* Describe a disk of /proc/diskstats from the files under `root`. 0 or -ENOMEM; unknown attributes
 * are left out. Labels: `devno`, `dm` (device-mapper name), `mpath` (UUID of a multipath map),
 * `wwid`, `serial`, `model`, `by_id` and `stable`, the best of them. */
int diskname_describe(const struct proc_root *root, struct diskname_links *links, const char *name,
	uint32_t major, uint32_t minor, struct diskname *ret);

void diskname_release(struct diskname *d);

/* Is this the name of a partition? A guess from the name alone, for trees without /sys. */
bool diskname_looks_partition(const char *name);

/* Is this the name of a loop, ram or zram device (or of a partition of one)? */
bool diskname_is_memory(const char *name);

#endif
