/* The recorder's own files in its directory: which there are, and which can be deleted. */
#ifndef COLLECT_KEEP_H
#define COLLECT_KEEP_H

#include <limpet/err.h>
#include <stddef.h>
#include <stdint.h>

/* Daily files begin at 00:00:05 UTC, so that a clock that is set back by up to five seconds just
 * after that does not begin a file for the old day again. */
#define KEEP_DAY_OFFSET_US (5 * INT64_C(1000000))

/* The start of the recording day that a time is in: 00:00:05 UTC of its day, or of the day before.
 */
int64_t keep_day_start(int64_t wall_us);

struct keep_file {
	char *path;
	int64_t start_us;   /* by its name */
	int64_t written_us; /* its last change according to the file system */
	uint64_t bytes;
};

struct keep_list {
	struct keep_file *files; /* oldest first */
	size_t n, cap;
	uint64_t bytes;
	int dir; /* the directory, held open if there are files */
};

void keep_list_release(struct keep_list *l);

/* Find DIR/NAME-20110509T000005Z.lpa and the like. A directory that does not exist has none. */
int keep_list_load(const char *dir, const char *name, struct keep_list *ret, struct lp_err *err);

/* The clock is trusted to decide what is old if the archives themselves hold samples of the last
 * seven days by this clock: half an hour in total, the first of them at least a day ago (or, if
 * less is to be kept than that, as much as is to be kept). So after a clock jumps, to 2038 or while
 * a machine starts, it has to be steady for a day before any file is deleted that would have stayed
 * without the jump. */
#define KEEP_WITNESS_US (7 * US_PER_DAY)
#define KEEP_WITNESS_SPAN_US US_PER_DAY
#define KEEP_WITNESS_COVER_US (30 * 60 * US_PER_SEC)

/* The limits. A file is as old as its last sample, by the clock at that time (the next file begins
 * after it), and as its last change: a file that was begun in 1970, before a machine got the time,
 * and finished after that, is not from 1970. */
struct keep_limits {
	int64_t now_us;
	int64_t age_us; /* 0: any */
	uint64_t bytes; /* 0: any number */
};

struct keep_result {
	uint64_t bytes;	  /* of the remaining files, without the current one */
	size_t n_waiting; /* files that would be too old if the clock could be trusted */
};

/* Remove the oldest files until the rest is within the limits, but not `current`. If a file cannot
 * be removed, the others still are; the result is then filled in and an error is returned. */
int keep_expire(const char *dir, const char *name, const char *current,
	const struct keep_limits *limits, struct keep_result *ret, struct lp_err *err);

/* Remove DIR/NAME-20110509T000005Z.lpa.tmp and the like, which lp_archive_seal() leaves if it is
 * killed. */
int keep_remove_leftovers(const char *dir, const char *name, struct lp_err *err);

#endif
