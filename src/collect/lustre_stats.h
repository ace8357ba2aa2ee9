/* The text of Lustre's statistics files, which have had the same form since 1.6:
 *
 *   read_bytes    27846475 samples [bytes] 4096 1048576 14421705314304 [SUM OF SQUARES]
 *   get_info      3735777 samples [reqs]
 *
 * and the text of brw_stats, rpc_stats and import. All functions take NUL-terminated text, set the
 * values that they find and do not change the others.
 */
#ifndef COLLECT_LUSTRE_STATS_H
#define COLLECT_LUSTRE_STATS_H

#include "collect/parse.h"
#include <stdbool.h>

/* A line of a statistics file and the columns that it fills; -1: none. */
struct lustre_line {
	const char *name;
	const char *unit; /* "usec" matches "[usec]" and "[usecs]"; NULL: any unit */
	int count, sum;
};

/* Fills the columns of the lines in `wanted` (ended by a row without a name). Returns the number of
 * values found. If two lines fill the same column, their values are added. */
unsigned lustre_parse_stats(const char *text, const struct lustre_line *wanted, int64_t *values);

/* Histograms of brw_stats: "I/O time (1/1000s)" of disk I/O. Sets the number of I/Os and the sum of
 * their times in ms, where an I/O counts as three quarters of the upper end of its bucket, which is
 * the middle of the bucket. Returns 2, or 0 if there is no such histogram. */
unsigned lustre_parse_brw_times(const char *text, int64_t *ret_ios, int64_t *ret_ms);

/* The "pages per rpc" histogram of rpc_stats, and the values above it. */
struct lustre_rpc {
	int64_t read_in_flight, write_in_flight; /* RPCs, now */
	int64_t pending_read, pending_write;	 /* pages, now */
	int64_t reads, writes;			 /* RPCs so far */
};
unsigned lustre_parse_rpc_stats(const char *text, struct lustre_rpc *ret);

/* Is "status: RECOVERING" in the text of recovery_status? Sets 0 or 1 and returns 1, or returns 0
 * if there is no status. */
unsigned lustre_parse_recovery(const char *text, int64_t *ret);

/* A client's connection to a target. */
struct lustre_import {
	bool full; /* state FULL or IDLE: it works */
	int64_t in_flight, timeouts, attempts;
	char target[PARSE_NAME_MAX + 1]; /* "scratch-OST0003_UUID"; "": not given */
	char nid[PARSE_NAME_MAX + 1];	 /* "10.0.0.7@o2ib": its current server */
};
/* Members that the text does not contain are LP_MISSING or "". Returns the number of those it
 * contains. */
unsigned lustre_parse_import(const char *text, struct lustre_import *ret);

/* The operations of one job on one target. */
enum { LUSTRE_JOB_RD_BYTES, LUSTRE_JOB_WR_BYTES, LUSTRE_JOB_OPS, LUSTRE_JOB_N };

struct lustre_job {
	char name[PARSE_NAME_MAX + 1]; /* longer names are truncated */
	int64_t values[LUSTRE_JOB_N];
};

/* The next job in the text of job_stats; moves `*p` past it. False if there is none. */
bool lustre_parse_job(const char **p, struct lustre_job *ret);

/* LNet: the columns of nis and stats. */
enum lnet_column {
	LNET_UP,
	LNET_CREDITS_MAX,
	LNET_CREDITS,
	LNET_CREDITS_MIN,
	LNET_SENT,
	LNET_RECEIVED,
	LNET_DROPPED,
	LNET_TX_BYTES,
	LNET_RX_BYTES,
	LNET_N,
};

#define LNET_FIELDS_MAX 16

/* The column of each field of a line of nis, from its heading. Zero-initialise it before the first
 * line. */
struct lnet_heading {
	int8_t column[LNET_FIELDS_MAX]; /* of field i + 1; 0: none, else 1 + enum lnet_column */
	unsigned n;			/* fields except the first; 0: no heading yet */
};

/* Parse one line of nis; moves `*p` to the next. Returns PARSE_SKIP for the heading and the
 * loopback. Columns that the line does not have are LP_MISSING. */
enum parse_result lnet_parse_ni(const char **p, struct lnet_heading *h, const char **ret_name,
	size_t *ret_len, int64_t ret[LNET_N]);

/* Parse the eleven numbers of stats. Returns the number of values found. */
unsigned lnet_parse_stats(const char *text, int64_t ret[LNET_N]);

#endif
