/* Parsers of small files under /sys and of kstats: pure functions on NUL-terminated text, so that
 * they can be fuzzed. Each returns the number of values found and does not change the others.
 */
#ifndef COLLECT_PARSE_SYS_H
#define COLLECT_PARSE_SYS_H

#include "collect/parse.h"
#include <stdbool.h>

/* A decimal number, which may be negative: "42000\n". */
unsigned parse_number(const char *text, int64_t *ret);

/* A hexadecimal number: "0x1f\n". */
unsigned parse_hex(const char *text, int64_t *ret);

/* The rate of an InfiniBand port: "100 Gb/sec (4X EDR)", in Mb/s, and its lanes. */
unsigned parse_ib_rate(const char *text, int64_t *ret_mbps, int64_t *ret_lanes);

/* The state of an InfiniBand port, "4: ACTIVE": 1 if it is active, else 0. */
unsigned parse_ib_state(const char *text, int64_t *ret);

/* The speed of a PCIe link, "8.0 GT/s PCIe" (in old kernels "8 GT/s"), in MT/s. */
unsigned parse_pcie_speed(const char *text, int64_t *ret_mts);

/* The speed of a SATA link, "6.0 Gbps", in Mb/s; nothing for "<unknown>". */
unsigned parse_sata_speed(const char *text, int64_t *ret_mbps);

/* The current action of an md array. */
enum md_action {
	MD_IDLE,
	MD_RESYNC,
	MD_RECOVER,
	MD_CHECK,
	MD_REPAIR,
	MD_RESHAPE,
	MD_FROZEN,
};
unsigned parse_md_action(const char *text, int64_t *ret);

/* "4096 / 8192", in thousandths; nothing for "none". */
unsigned parse_md_completed(const char *text, int64_t *ret_permille);

/* Does an array in this state ("clean", "active", ...) work? 1 or 0. */
unsigned parse_md_state(const char *text, int64_t *ret);

/* The I/O kstat of a ZFS pool. */
enum kstat_io {
	KSTAT_RD_BYTES,
	KSTAT_WR_BYTES,
	KSTAT_RD_OPS,
	KSTAT_WR_OPS,
	KSTAT_WAIT_NS,
	KSTAT_RUN_NS,
	KSTAT_IO_N
};
unsigned parse_kstat_io(const char *text, int64_t ret[KSTAT_IO_N]);

/* The values of lines "NAME TYPE VALUE" of a kstat, for each of `n` names. */
unsigned parse_kstat(const char *text, const char *const *names, unsigned n, int64_t *ret);

/* The value of the line "dataset_name 7 tank/home". */
bool parse_kstat_dataset(const char *text, char ret[PARSE_NAME_MAX + 1]);

#endif
