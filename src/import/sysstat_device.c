#include "import/sysstat_device.h"

#include "base/array.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MINORS (1u << 20) /* minors per major number */

/* Major numbers that always belong to the same driver (from the kernel's list of allocated
 * devices). Others are assigned at run time and mean nothing. */
static const struct driver {
	const char *prefix;
	uint32_t major, last_major;
	uint32_t first_disk;	  /* number of the first device of `major` */
	uint32_t minors_per_disk; /* including partitions; 1: devices have numbers, not letters */
	uint32_t minors;	  /* the number of minors in use */
} drivers[] = {
	{"ram", 1, 1, 0, 1, MINORS},
	{"fd", 2, 2, 0, 1, 4},
	{"hd", 3, 3, 0, 64, 128},
	{"loop", 7, 7, 0, 1, MINORS},
	{"sd", 8, 8, 0, 16, MINORS},
	{"md", 9, 9, 0, 1, MINORS},
	{"sr", 11, 11, 0, 1, MINORS},
	{"hd", 22, 22, 2, 64, 128},
	{"hd", 33, 34, 4, 64, 128},
	{"hd", 56, 57, 8, 64, 128},
	{"sd", 65, 71, 16, 16, MINORS},
	{"hd", 88, 91, 12, 64, 128},
	{"dasd", 94, 94, 0, 4, MINORS},
	{"sd", 128, 135, 128, 16, MINORS},
	{"drbd", 147, 147, 0, 1, MINORS},
	{"xvd", 202, 202, 0, 16, 256},
};

/* 0 -> "a", 25 -> "z", 26 -> "aa". */
static void disk_letters(uint32_t disk, char buf[8])
{
	char reverse[8];
	size_t n = 0;

	for (uint32_t rest = disk + 1; rest && n < sizeof(reverse) - 1; rest = (rest - 1) / 26)
		reverse[n++] = (char)('a' + (rest - 1) % 26);
	for (size_t i = 0; i < n; i++)
		buf[i] = reverse[n - 1 - i];
	buf[n] = '\0';
}

/* The number of a disk. Drivers with several major numbers fill 256 minors of each (hd: 128); after
 * its last major number sd continues with the first, with higher minors. */
static uint32_t disk_number(const struct driver *d, uint32_t major, uint32_t minor)
{
	uint32_t per = d->minors_per_disk, block = d->minors < 256 ? d->minors : 256;
	uint32_t number = d->first_disk + (major - d->major) * (block / per);

	if (d->major == d->last_major && d->major != 8)
		return number + minor / per;
	return number + minor % 256 / per + minor / 256 * 256;
}

static const struct driver *find_driver(uint32_t major, uint32_t minor)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		if (major >= drivers[i].major && major <= drivers[i].last_major)
			return minor < drivers[i].minors ? &drivers[i] : NULL;
	}
	return NULL;
}

void sysstat_disk_name(uint32_t major, uint32_t minor, char buf[SYSSTAT_NAME_MAX])
{
	const struct driver *d = find_driver(major, minor);
	char letters[8];
	int n;

	if (!d) {
		snprintf(buf, SYSSTAT_NAME_MAX, "dev%" PRIu32 "-%" PRIu32, major, minor);
		return;
	}
	if (d->minors_per_disk == 1) {
		snprintf(buf, SYSSTAT_NAME_MAX, "%s%" PRIu32, d->prefix, minor);
		return;
	}
	disk_letters(disk_number(d, major, minor), letters);
	n = snprintf(buf, SYSSTAT_NAME_MAX, "%s%s", d->prefix, letters);
	if (minor % d->minors_per_disk)
		snprintf(buf + n, SYSSTAT_NAME_MAX - (size_t)n, "%" PRIu32,
			minor % d->minors_per_disk);
}

void sysstat_wwn_text(const uint64_t wwn[2], uint32_t partition, char buf[SYSSTAT_NAME_MAX])
{
	int n = snprintf(buf, SYSSTAT_NAME_MAX, "%#016" PRIx64, wwn[0]);

	if (wwn[1])
		n += snprintf(buf + n, SYSSTAT_NAME_MAX - (size_t)n, "%016" PRIx64, wwn[1]);
	if (partition)
		snprintf(buf + n, SYSSTAT_NAME_MAX - (size_t)n, "-%" PRIu32, partition);
}

void sysstat_clean_name(const void *text, size_t len, char buf[SYSSTAT_NAME_MAX])
{
	size_t n = strnlen(text, len < SYSSTAT_NAME_MAX ? len : SYSSTAT_NAME_MAX - 1);

	memcpy(buf, text, n);
	buf[n] = '\0';
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)buf[i];

		if (c <= ' ' || c == 0x7f || c == '/')
			buf[i] = '_';
	}
	if (!n)
		memcpy(buf, "unnamed", sizeof("unnamed"));
}
