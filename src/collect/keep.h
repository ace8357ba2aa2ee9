/* The recorder's own files in its directory, and which of them can be deleted. */
#ifndef COLLECT_KEEP_H
#define COLLECT_KEEP_H

#include <limpet/err.h>
#include <stddef.h>
#include <stdint.h>

/* Daily files begin at 00:00:05 UTC, so that a clock that is set back by up to five seconds just
 * after that does not begin a file for the old day again. */
#define KEEP_DAY_OFFSET_US (5 * INT64_C(1000000))

/* The start of the recording day of a time: 00:00:05 UTC of its day, or of the day before.
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

/* Find DIR/NAME-20110509T000005Z.lpa and the like. A missing directory has none. */
int keep_list_load(const char *dir, const char *name, struct keep_list *ret, struct lp_err *err);

/* limpet trusts the clock to decide which files are old if the archives have samples from the last
 * seven days by this clock: half an hour in total, and the first of them at least a day old (or as
 * old as the period to keep, if that is shorter). So after a clock jumps, to 2038 or while a
 * machine starts, it must be steady for a day before limpet deletes a file because of the jump. */
#define KEEP_WITNESS_US (7 * US_PER_DAY)
#define KEEP_WITNESS_SPAN_US US_PER_DAY
#define KEEP_WITNESS_COVER_US (30 * 60 * US_PER_SEC)

/* The limits. The age of a file is that of its last sample, by the clock at that time (the next
 * file begins after it), or that of its last change if that is later: a file that was begun in
 * 1970, before the machine knew the time, and finished later is not from 1970. */
struct keep_limits {
	int64_t now_us;
	int64_t age_us; /* 0: any */
	uint64_t bytes; /* 0: any number */
};

struct keep_result {
	uint64_t bytes;	  /* of the remaining files, without the current one */
	size_t n_waiting; /* files that would be too old if the clock were trusted */
};

/* Remove the oldest files until the rest is within the limits, but never `current`. If a file
 * cannot be removed, it continues with the others, fills in the result and returns an error. */
int keep_expire(const char *dir, const char *name, const char *current,
	const struct keep_limits *limits, struct keep_result *ret, struct lp_err *err);

/* Remove DIR/NAME-20110509T000005Z.lpa.tmp and the like, which lp_archive_seal() leaves if it is
 * killed. */
int keep_remove_leftovers(const char *dir, const char *name, struct lp_err *err);

#endif
