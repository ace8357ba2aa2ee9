/* Following an archive that grows: a reader that can say "nothing yet".
 *
 * The writer may be killed and go on later (what it left unfinished is waited for, or passed over
 * once frames follow it), close the file (an index at the end is not read) and append to it again,
 * or seal it, which puts another file in its place: open that one with `after_us`, and it goes on
 * behind what was delivered. One thread at a time uses it.
 */
#ifndef ARCHIVE_FOLLOW_H
#define ARCHIVE_FOLLOW_H

#include <limpet/archive.h>
#include <limpet/log.h>
#include <sys/stat.h>

struct follow;

enum follow_what {
	FOLLOW_NOTHING = 0,
	FOLLOW_BATCH,
	FOLLOW_LOG,
	FOLLOW_REMARK,
};

/* What came next. All of it is good until the next call. */
struct follow_item {
	enum follow_what what;
	const struct lp_source *source; /* its catalogue, path and interval; never read it */
	const char *observer;		/* of the file; "" if its components name their own */
	const struct lp_batch *batch;
	const struct lp_log *log;
	int64_t wall_us; /* of a remark */
	const char *text;
};

struct follow_options {
	int64_t from_us; /* 0: from the beginning; else frames that end before are passed over */
	const struct lp_select *select; /* columns and components; its times are not looked at */
	struct lp_warn *warn;		/* of damage; may be NULL */
};

/* Open a file, which may still be empty. Samples up to `after_us` are not delivered (INT64_MIN:
 * all are). `options` and what it points to must outlive it. */
int follow_open(const char *path, const struct follow_options *options, int64_t after_us,
	struct follow **ret, struct lp_err *err);
void follow_close(struct follow *f);

/* What is next: 1, or 0 if there is nothing yet, or nothing that begins up to `until_us`.
 * -EBADMSG, -EPROTONOSUPPORT: this is no archive. Damage inside is reported through `warn` and
 * passed over. */
int follow_next(
	struct follow *f, int64_t until_us, struct follow_item *ret_item, struct lp_err *err);

/* The time at which what is held back begins; INT64_MAX: there is nothing more. Good after
 * follow_next() returned 0. */
int64_t follow_held_us(const struct follow *f);

/* The last sample that was delivered, for follow_open(). */
int64_t follow_delivered_us(const struct follow *f);

/* Other selections from now on. */
void follow_select(struct follow *f, const struct lp_select *select);

/* The file that is open, and its name, which may change. */
const struct stat *follow_stat(const struct follow *f);
const char *follow_path(const struct follow *f);
int follow_rename(struct follow *f, const char *path); /* 0 or -ENOMEM */

/* "key=value" of the file's description; NULL: none yet, or no such key. Good until the next call.
 */
const char *follow_meta(struct follow *f, const char *key);
int64_t follow_interval_us(const struct follow *f);

/* Was the file closed in order, so that nothing more is expected? */
bool follow_closed(const struct follow *f);

/* Damaged stretches so far. */
unsigned follow_n_damaged(const struct follow *f);

#endif
