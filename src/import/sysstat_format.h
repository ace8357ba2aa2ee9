/* Numbers and structures of sysstat's activity files ("sa" files), format 0x2175, which sysstat
 * 11.7 to 12.7 write.
 *
 * A file is in the byte order and the word size of the machine that wrote it. Every structure in it
 * has the same form, so that old and new readers understand each other: first all fields of type
 * long long, then all long, then all int, then characters. For each structure the file states the
 * number of fields of each type; new versions only append fields to a type. A long takes 8 bytes
 * even if it has 4: the value comes first, then padding.
 */
#ifndef IMPORT_SYSSTAT_FORMAT_H
#define IMPORT_SYSSTAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SYSSTAT_MAGIC 0xd596
#define SYSSTAT_FORMAT 0x2175

/* Activities (kinds of statistics) that limpet reads. It skips the others by their size. */
#define SYSSTAT_A_DISK 11
#define SYSSTAT_A_NET_DEV 12
#define SYSSTAT_A_NET_EDEV 13

/* Added to the version of an activity's layout. */
#define SYSSTAT_ACTIVITY_MAGIC 0x8a

enum sysstat_class {
	SYSSTAT_ULL = 0, /* long long, 8 bytes */
	SYSSTAT_UL = 1,	 /* long, 4 or 8 bytes in 8 bytes */
	SYSSTAT_U = 2,	 /* int, 4 bytes */
};

/* The number of fields of each class in a structure. */
struct sysstat_types {
	uint32_t n[3];
};

/* The number formats of the machine that wrote a file. */
struct sysstat_arch {
	bool swap;	 /* its byte order differs from ours */
	bool long_is_64; /* its long has 8 bytes */
};

static inline uint16_t sysstat_u16(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t sysstat_u32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t sysstat_u64(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* The size of the numbers of a structure; its characters follow. */
uint64_t sysstat_types_size(const struct sysstat_types *t);

/* The offset of field `index` of a class; -1 if the structure is too old to have it. */
int sysstat_field_offset(const struct sysstat_types *t, enum sysstat_class class, uint32_t index);

/* The size of a field of a class: 4 or 8 bytes. */
unsigned sysstat_field_width(enum sysstat_class class, struct sysstat_arch arch);

/* The value of a field in the structure at `p`; 0 if the structure is too old to have it. The
 * caller must check that all numbers of the structure are present. */
uint64_t sysstat_field(const uint8_t *p, const struct sysstat_types *t, struct sysstat_arch arch,
	enum sysstat_class class, uint32_t index);

/* Could a structure of these types be an older or a newer form of the one that sysstat uses for
 * activity `id` in layout `magic`? True for unknown activities and layouts. */
bool sysstat_types_plausible(uint32_t id, uint32_t magic, const struct sysstat_types *t);

#endif
