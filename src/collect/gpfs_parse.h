/* The output of GPFS' mmpmon -p and mmdiag --waiters: pure functions on NUL-terminated text.
 *
 * mmpmon prints words in pairs, "_key_ value"; a line that begins with the name of a request begins
 * a response.
 */
#ifndef COLLECT_GPFS_PARSE_H
#define COLLECT_GPFS_PARSE_H

#include "collect/parse.h"
#include <stdbool.h>

/* The I/O of a server on one of its NSDs (nsd_ds). */
enum { NSD_RD_OPS, NSD_WR_OPS, NSD_RD_BYTES, NSD_WR_BYTES, NSD_RD_US, NSD_WR_US, NSD_N };

struct gpfs_nsd {
	char name[PARSE_NAME_MAX + 1];
	char device[PARSE_NAME_MAX + 1];
	int64_t values[NSD_N]; /* LP_MISSING if the text does not contain it */
};

/* The next NSD in the text; moves `*p` past it. False if there is none. */
bool gpfs_parse_nsd(const char **p, struct gpfs_nsd *ret);

/* The I/O of a node in one file system (fs_io_s). */
enum {
	GPFS_RD_BYTES,
	GPFS_WR_BYTES,
	GPFS_OPENS,
	GPFS_CLOSES,
	GPFS_RD_CALLS,
	GPFS_WR_CALLS,
	GPFS_FS_N
};

struct gpfs_fs {
	char name[PARSE_NAME_MAX + 1];
	int64_t values[GPFS_FS_N];
};

bool gpfs_parse_fs(const char **p, struct gpfs_fs *ret);

/* The request histogram (rhist s): the number of I/Os, and the sum of their times in us. Each I/O
 * counts as the middle of its range. Returns the number of ranges. */
unsigned gpfs_parse_rhist(const char *text, int64_t *ret_ios, int64_t *ret_us);

/* Parse mmdiag --waiters: the number of waiting threads, and the longest wait in ms. False if it is
 * not the output of mmdiag. */
bool gpfs_parse_waiters(const char *text, int64_t *ret_n, int64_t *ret_longest_ms);

#endif
