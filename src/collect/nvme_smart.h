/* The SMART log page of NVMe drives. */
#ifndef COLLECT_NVME_SMART_H
#define COLLECT_NVME_SMART_H

#include <stdint.h>

#define NVME_SMART_BYTES 512

enum {
	SMART_WARNINGS,
	SMART_CELSIUS,
	SMART_SPARE_PERCENT,
	SMART_PERCENT_USED,
	SMART_MEDIA_ERRORS,
	SMART_UNSAFE_SHUTDOWNS,
	SMART_HOT_MINUTES,
	SMART_THROTTLES,
	SMART_N,
};

/* Decode the log page. Counters beyond 63 bits are INT64_MAX. */
void nvme_smart_decode(const uint8_t log[NVME_SMART_BYTES], int64_t ret[SMART_N]);

#endif
