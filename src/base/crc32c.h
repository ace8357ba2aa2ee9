/* CRC-32C (Castagnoli), the checksum of archive frames. */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of `data` continuing from `crc` (0 at the beginning). */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

/* The same without special instructions of the processor. */
uint32_t crc32c_plain(uint32_t crc, const void *data, size_t size);

#endif
