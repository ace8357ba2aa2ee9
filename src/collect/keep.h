/* The recorder's own files in its directory: which there are, and which have had their time. */
#ifndef COLLECT_KEEP_H
#define COLLECT_KEEP_H

#include <limpet/err.h>
#include <stddef.h>
#include <stdint.h>

/* Daily files begin at 00:00:05 UTC: a clock that is set back by up to five seconds just after does
 * not begin a file for the old day again. */
#define KEEP_DAY_OFFSET_US (5 * INT64_C(1000000))

/* The start of the recording day that a time is in: 00:00:05 UTC of its day, or of the day before.
 */
int64_t keep_day_start(int64_t wall_us);

struct keep_file {
	char *path;
	int64_t start_us; /* by its name */
	uint64_t bytes;
};

struct keep_list {
	struct keep_file *files; /* oldest first */
	size_t n, cap;
	uint64_t bytes;
};

void keep_list_release(struct keep_list *l);

/* Find DIR/NAME-20110509T000005Z.lpa and its like. A directory that does not exist has none. */
int keep_list_load(const char *dir, const char *name, struct keep_list *ret, struct lp_err *err);

/* Remove the oldest files until the rest is younger than `age_us` and smaller than `bytes` (0: no
 * limit), sparing `current`. `*ret_bytes` is what remains without it, also where (an error) a file
 * cannot be removed: the others are, all the same. */
int keep_expire(const char *dir, const char *name, const char *current, int64_t now_us,
	int64_t age_us, uint64_t bytes, uint64_t *ret_bytes, struct lp_err *err);

/* Remove DIR/NAME-20110509T000005Z.lpa.tmp and its like, which lp_archive_seal() leaves where it is
 * killed. */
int keep_remove_leftovers(const char *dir, const char *name, struct lp_err *err);

#endif
