/* Parsers of /proc text: pure functions on a NUL-terminated buffer, so that they can be fuzzed.
 *
 * They do not trust the text: anything that is not in the kernel's format is refused or becomes
 * LP_MISSING, and is never guessed.
 */
#ifndef COLLECT_PARSE_H
#define COLLECT_PARSE_H

#include <errno.h>
#include <limpet/catalogue.h>

/* The longest name of a device or an interface that is accepted (the kernel's limits are 31 and 15
 * bytes). */
#define PARSE_NAME_MAX 63

/* The results of the parsers for single lines. */
enum parse_result {
	PARSE_BAD = -EBADMSG, /* not in the kernel's format */
	PARSE_SKIP = 0,	      /* valid, but irrelevant: a heading, an empty line */
	PARSE_OK = 1,
};

enum disk_column {
	DISK_RD_IOS,
	DISK_RD_MERGES,
	DISK_RD_SEC,
	DISK_RD_TICKS,
	DISK_WR_IOS,
	DISK_WR_MERGES,
	DISK_WR_SEC,
	DISK_WR_TICKS,
	DISK_IN_FLIGHT,
	DISK_TOT_TICKS,
	DISK_RQ_TICKS, /* the last column before Linux 4.18 */
	DISK_DC_IOS,
	DISK_DC_MERGES,
	DISK_DC_SEC,
	DISK_DC_TICKS, /* the last column before Linux 5.5 */
	DISK_FL_IOS,
	DISK_FL_TICKS,
	DISK_N_COLUMNS,
};

struct disk_line {
	uint32_t major, minor;
	const char *name; /* points into the text, `len` bytes */
	size_t len;
	int64_t values[DISK_N_COLUMNS]; /* LP_MISSING if the kernel has no such column */
};

/* Parse one line of /proc/diskstats; always moves `*p` to the next line. Columns of future kernels
 * are ignored; the four-column lines of old kernels' partitions are skipped. */
enum parse_result parse_diskstats_line(const char **p, struct disk_line *ret);

enum net_column {
	NET_RX_BYTES,
	NET_RX_PACKETS,
	NET_RX_ERRS,
	NET_RX_DROP,
	NET_RX_FIFO,
	NET_RX_FRAME,
	NET_RX_COMPRESSED,
	NET_RX_MULTICAST,
	NET_TX_BYTES,
	NET_TX_PACKETS,
	NET_TX_ERRS,
	NET_TX_DROP,
	NET_TX_FIFO,
	NET_TX_COLLS,
	NET_TX_CARRIER,
	NET_TX_COMPRESSED,
	NET_N_COLUMNS,
};

struct net_line {
	const char *name; /* points into the text, `len` bytes */
	size_t len;
	int64_t values[NET_N_COLUMNS];
};

/* Parse one line of /proc/net/dev; always moves `*p` to the next line. The name may be glued to the
 * first number ("eth0:123456") and may itself contain colons ("eth0:1"). */
enum parse_result parse_netdev_line(const char **p, struct net_line *ret);

enum host_column {
	HOST_CPU_USER,
	HOST_CPU_NICE,
	HOST_CPU_SYSTEM,
	HOST_CPU_IDLE,
	HOST_CPU_IOWAIT,
	HOST_CPU_IRQ,
	HOST_CPU_SOFTIRQ,
	HOST_CPU_STEAL,
	HOST_CTXT,
	HOST_PROCS_RUNNING,
	HOST_PROCS_BLOCKED,
	HOST_MEM_TOTAL_KB,
	HOST_MEM_FREE_KB,
	HOST_MEM_AVAILABLE_KB,
	HOST_MEM_BUFFERS_KB,
	HOST_MEM_CACHED_KB,
	HOST_MEM_DIRTY_KB,
	HOST_MEM_WRITEBACK_KB,
	HOST_SWAP_TOTAL_KB,
	HOST_SWAP_FREE_KB,
	HOST_LOAD1_X100,
	HOST_LOAD5_X100,
	HOST_LOAD15_X100,
	HOST_PSI_CPU_SOME_US,
	HOST_PSI_MEM_SOME_US,
	HOST_PSI_MEM_FULL_US,
	HOST_PSI_IO_SOME_US,
	HOST_PSI_IO_FULL_US,
	HOST_N_CPUS,
	HOST_N_COLUMNS,
};

/* The parsers below take a whole file and write the columns that they find; the caller sets all
 * columns to LP_MISSING first. Each returns the number of columns found. */

/* /proc/stat: HOST_CPU_*, HOST_CTXT, HOST_PROCS_*, HOST_N_CPUS. */
unsigned parse_stat(const char *text, int64_t values[HOST_N_COLUMNS]);

/* /proc/meminfo: HOST_MEM_*, HOST_SWAP_*. */
unsigned parse_meminfo(const char *text, int64_t values[HOST_N_COLUMNS]);

/* /proc/loadavg: HOST_LOAD*_X100, hundredths. */
unsigned parse_loadavg(const char *text, int64_t values[HOST_N_COLUMNS]);

/* /proc/pressure/X: the totals of the "some" and "full" lines. `full` may be NULL. */
unsigned parse_pressure(const char *text, int64_t *some, int64_t *full);

/* cpu.stat of a control group, in microseconds; LP_MISSING if a value is not there. */
struct cgroup_stat {
	int64_t user_us, system_us; /* version 2 only */
	int64_t stall_us; /* throttled time; includes waiting for a processor if that is counted */
};

/* cpu.stat of a control group of either version. Returns the number of values found. */
unsigned parse_cgroup_stat(const char *text, struct cgroup_stat *ret);

#endif
