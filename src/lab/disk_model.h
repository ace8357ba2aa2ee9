/* The service times of a disk, as arithmetic on time: one request at a time, in the order of
 * arrival; a seek if a request does not follow the previous one; transfer at a bandwidth; seeded
 * randomness. It uses no clock, so it can be tested in simulated time. */
#ifndef LAB_DISK_MODEL_H
#define LAB_DISK_MODEL_H

#include <stdint.h>

struct disk_params {
	uint64_t size_bytes, bandwidth_bytes; /* of the whole disk; per second */
	uint32_t seek_min_us, seek_max_us;    /* next track .. full stroke, plus rotation */
	uint64_t seed;
};

#define DISK_SLOW_MIN 0.001
#define DISK_SLOW_MAX 1000.0
#define DISK_BUSY_MAX 0.95
#define DISK_STALL_MAX_MS (24 * 3600 * UINT64_C(1000))

/* Settings that can change at run time. */
struct disk_trouble {
	double slow; /* multiplies service times, DISK_SLOW_MIN .. DISK_SLOW_MAX; 1 */
	double busy; /* share of time that hidden load takes, 0 .. DISK_BUSY_MAX */
	/* About every `stall_every_ms`, the disk stalls for `stall_for_ms`, at most half of that;
	 * 0, 0: never. */
	uint64_t stall_every_ms, stall_for_ms;
};

/* A disk in good condition. */
#define DISK_TROUBLE_NONE ((struct disk_trouble){.slow = 1})

struct disk_model {
	struct disk_params params;
	struct disk_trouble trouble;
	uint64_t rng;
	uint64_t head_bytes; /* where the last transfer ended */
	int64_t free_ns;     /* when the disk has finished all requests */
	int64_t stall_ns;    /* when the next stall begins */
	int64_t busy_ns;     /* when the next hidden request arrives */
};

/* Initialise an idle disk with its head at the start. Only seed and seeks of `p` may be zero. */
void disk_model_init(struct disk_model *m, const struct disk_params *p, int64_t now_ns);

/* Change its trouble. Times that disk_model_serve() returned stay valid. */
void disk_model_set(struct disk_model *m, const struct disk_trouble *t, int64_t now_ns);

/* A request arrives at `now_ns` (not before earlier requests). Returns when it is done, never
 * before the previous one. */
int64_t disk_model_serve(
	struct disk_model *m, int64_t now_ns, uint64_t offset, uint32_t size_bytes);

#endif
