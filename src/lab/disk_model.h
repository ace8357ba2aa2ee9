/* The service times of a disk, as arithmetic on time: one request at a time, in the order they
 * come; a seek where a request does not follow the one before; transfer at a bandwidth; seeded
 * randomness. Knows no clock, so that it can be tested in simulated time. */
#ifndef LAB_DISK_MODEL_H
#define LAB_DISK_MODEL_H

#include <stdbool.h>
#include <stdint.h>

struct disk_params {
	uint64_t size_bytes, bandwidth_bytes; /* of the whole disk; a second */
	uint32_t seek_min_us, seek_max_us;    /* next track .. full stroke, plus rotation */
	uint64_t seed;
};

/* What can be changed while it runs. */
struct disk_trouble {
	double slow; /* service times times this; 1 */
	double busy; /* share of time that hidden load asks for, 0 .. 0.95 */
	uint64_t stall_every_ms, stall_for_ms;
};

struct disk_model {
	struct disk_params params;
	struct disk_trouble trouble;
	uint64_t rng;
	uint64_t head_bytes; /* where the last transfer ended */
	int64_t free_ns;     /* when the disk is done with all it was given */
	int64_t stall_ns;    /* when the next stall begins */
	int64_t busy_ns;     /* when the next hidden request arrives */
};

void disk_model_init(struct disk_model *m, const struct disk_params *p, int64_t now_ns);
void disk_model_set(struct disk_model *m, const struct disk_trouble *t, int64_t now_ns);

/* A request arrives at `now_ns` (never before that of an earlier call): when is it done? */
int64_t disk_model_serve(
	struct disk_model *m, int64_t now_ns, uint64_t offset, uint32_t size_bytes, bool write);

#endif
