/* Where the fields of disks and interfaces are in sysstat's old formats (sysstat_old.h). Unlike the
 * present format, the file does not describe its structures: the number of a layout determines
 * them.
 */
#ifndef IMPORT_SYSSTAT_OLD_ITEMS_H
#define IMPORT_SYSSTAT_OLD_ITEMS_H

#include "import/sysstat_format.h"

struct sysstat_old_items;

/* The layout `magic` of activity `id`, whose items have `size` bytes; NULL if there is none. */
const struct sysstat_old_items *sysstat_old_items_find(uint32_t id, uint32_t magic, uint32_t size);

/* The offset of the field that identifies an item: the numbers of a disk, the name of an
 * interface. */
int sysstat_old_items_key(const struct sysstat_old_items *items);

/* The place of a field, by the name of its column: its offset, and its width in bytes. False if
 * the structure does not have it. */
bool sysstat_old_items_field(const struct sysstat_old_items *items, const char *name,
	struct sysstat_arch arch, int *ret_offset, uint8_t *ret_width);

/* The number of items that are in use; `n` items are at `p`. sadc reserves some for devices that
 * appear later. */
uint32_t sysstat_old_items_used(
	const struct sysstat_old_items *items, const uint8_t *p, uint32_t n);

#endif
