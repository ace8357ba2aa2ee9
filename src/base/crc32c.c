#include "base/crc32c.h"

#include "base/bytes.h"
#include <pthread.h>
#include <stdbool.h>

/* Reflected polynomial of CRC-32C. */
#define POLY UINT32_C(0x82f63b78)

static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void table_build(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ ((crc & 1) ? POLY : 0);
		table[0][i] = crc;
	}
	for (int slice = 1; slice < 8; slice++) {
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t below = table[slice - 1][i];

			table[slice][i] = (below >> 8) ^ table[0][below & 0xff];
		}
	}
}

/* With tables, on any processor; `crc` and the result are complements. */
static uint32_t crc_by_table(uint32_t crc, const uint8_t *p, size_t size)
{
	pthread_once(&table_once, table_build);
	for (; size >= 8; size -= 8, p += 8) {
		uint32_t lo = get_u32(p) ^ crc, hi = get_u32(p + 4);

		crc = table[7][lo & 0xff] ^ table[6][(lo >> 8) & 0xff] ^
			table[5][(lo >> 16) & 0xff] ^ table[4][lo >> 24] ^ table[3][hi & 0xff] ^
			table[2][(hi >> 8) & 0xff] ^ table[1][(hi >> 16) & 0xff] ^
			table[0][hi >> 24];
	}
	for (; size; size--, p++)
		crc = (crc >> 8) ^ table[0][(crc ^ *p) & 0xff];
	return crc;
}

#if defined(__x86_64__)
/* With the instruction of the processor. */
__attribute__((target("sse4.2"))) static uint32_t crc_by_cpu(
	uint32_t crc, const uint8_t *p, size_t size)
{
	uint64_t wide = crc;

	for (; size >= 8; size -= 8, p += 8)
		wide = __builtin_ia32_crc32di(wide, get_u64(p));
	crc = (uint32_t)wide;
	for (; size; size--, p++)
		crc = __builtin_ia32_crc32qi(crc, *p);
	return crc;
}

static bool cpu_has_crc(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#else
static uint32_t crc_by_cpu(uint32_t crc, const uint8_t *p, size_t size)
{
	return crc_by_table(crc, p, size);
}

static bool cpu_has_crc(void)
{
	return false;
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
	return ~(cpu_has_crc() ? crc_by_cpu : crc_by_table)(~crc, data, size);
}

uint32_t crc32c_plain(uint32_t crc, const void *data, size_t size)
{
	return ~crc_by_table(~crc, data, size);
}
