/* Answers of a Ceph OSD on its admin socket: pure functions on NUL-terminated JSON, which extract
 * single numbers without building a tree. */
#ifndef COLLECT_CEPH_PARSE_H
#define COLLECT_CEPH_PARSE_H

#include <stdbool.h>
#include <stdint.h>

enum ceph_column {
	CEPH_OPS,
	CEPH_OP_US,
	CEPH_RD_OPS,
	CEPH_RD_US,
	CEPH_WR_OPS,
	CEPH_WR_US,
	CEPH_SUBOPS,
	CEPH_SUBOP_US,
	CEPH_RD_BYTES,
	CEPH_WR_BYTES,
	CEPH_IN_PROGRESS,
	CEPH_COMMITS,
	CEPH_COMMIT_US,
	CEPH_APPLIES,
	CEPH_APPLY_US,
	CEPH_KVS,
	CEPH_KV_US,
	CEPH_RECOVERIES,
	CEPH_SLOWEST_US,
	CEPH_N,
};

/* Parse the answer to "perf dump" of OSDs with BlueStore or FileStore. Fills the columns that it
 * finds and returns their number. */
unsigned ceph_parse_perf(const char *text, int64_t values[CEPH_N]);

/* Parse the answer to "dump_historic_ops": find the longest operation. False if it is not such an
 * answer. */
bool ceph_parse_historic(const char *text, int64_t *ret_slowest_us);

#endif
