#include "base/crc32c.h"

#include "base/bytes.h"
#include <pthread.h>

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

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;

	pthread_once(&table_once, table_build);
	crc = ~crc;
	for (; size >= 8; size -= 8, p += 8) {
		uint32_t lo = get_u32(p) ^ crc, hi = get_u32(p + 4);

		crc = table[7][lo & 0xff] ^ table[6][(lo >> 8) & 0xff] ^
			table[5][(lo >> 16) & 0xff] ^ table[4][lo >> 24] ^ table[3][hi & 0xff] ^
			table[2][(hi >> 8) & 0xff] ^ table[1][(hi >> 16) & 0xff] ^
			table[0][hi >> 24];
	}
	for (; size; size--, p++)
		crc = (crc >> 8) ^ table[0][(crc ^ *p) & 0xff];
	return ~crc;
}
