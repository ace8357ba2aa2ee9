/* Seals complete archives and removes old ones, in a separate thread at the lowest priority.
 */
#ifndef SERVE_INGEST_CHORES_H
#define SERVE_INGEST_CHORES_H

#include <limpet/err.h>
#include <stddef.h>
#include <stdint.h>

struct chores;

struct chores_config {
	const char *dir;
	int dir_fd; /* the same, open */
	int64_t keep_age_us;
	uint64_t keep_bytes;
	struct lp_warn *warn;
};

int chores_open(const struct chores_config *config, struct chores **ret, struct lp_err *err);

/* End after the current file. Accepts NULL. */
void chores_close(struct chores *c);

/* Complete a file (a name in the directory). A file that already waits is not added again. */
void chores_finish(struct chores *c, const char *file);

/* Remove old files of a series (NAME-TIME.lpa), but not `current`. */
void chores_expire(struct chores *c, const char *series, const char *current);

size_t chores_waiting(struct chores *c);

/* The time up to which the files of a series have been removed (the start of the newest of them);
 * INT64_MIN: none. */
int64_t chores_expired(int dir, const char *series);

#endif
