/* Following an archive that grows: a reader that can answer "nothing yet".
 *
 * The writer may be killed and continue later: the reader waits for an unfinished frame, and skips
 * it when other frames follow. The writer may close the file (the index at the end is not read) and
 * append to it again. Or it may seal the file, which replaces it by another one: open that one with
 * `after_us`, and reading continues after the last delivered sample. Only one thread at a time may
 * use a reader.
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

/* The next item. It is valid until the next call. */
struct follow_item {
	enum follow_what what;
	const struct lp_source *source; /* its catalogue, path and interval; do not read from it */
	const char *observer;		/* of the file; "" if its components name their own */
	const struct lp_batch *batch;
	const struct lp_log *log;
	int64_t wall_us; /* of a remark */
	const char *text;
};

struct follow_options {
	int64_t from_us; /* 0: from the beginning; else frames that end earlier are skipped */
	const struct lp_select *select; /* columns and components; its times are ignored */
	struct lp_warn *warn;		/* of damage; may be NULL */
	/* Copies up to `size` bytes that belong at `offset` of a file but could not be written to
	 * it yet, and returns their number. NULL: there are none. */
	size_t (*peek)(void *ctx, const char *path, uint64_t offset, void *buf, size_t size);
	void *peek_ctx;
};

/* Open a file, which may still be empty. Samples up to `after_us` are not delivered (INT64_MIN: all
 * are). `options` and everything it points to must outlive the reader. */
int follow_open(const char *path, const struct follow_options *options, int64_t after_us,
	struct follow **ret, struct lp_err *err);
void follow_close(struct follow *f);

/* The next item. Returns 1, or 0 if there is none yet, or none that begins up to `until_us`.
 * -EBADMSG, -EPROTONOSUPPORT: this is not an archive. Damage inside is reported through `warn` and
 * skipped. */
int follow_next(
	struct follow *f, int64_t until_us, struct follow_item *ret_item, struct lp_err *err);

/* The beginning of the item that is held back; INT64_MAX: none. Valid after follow_next() returned
 * 0. */
int64_t follow_held_us(const struct follow *f);

/* The latest time in what was not delivered yet, by the headers of frames; INT64_MIN: there is
 * none.
 */
int64_t follow_newest_us(const struct follow *f);

/* Was anything delivered? */
bool follow_has_begun(const struct follow *f);

/* The last sample that was delivered, for follow_open(). */
int64_t follow_delivered_us(const struct follow *f);

/* Use this selection from now on. */
void follow_select(struct follow *f, const struct lp_select *select);

/* The open file, and its name, which may change. */
const struct stat *follow_stat(const struct follow *f);
const char *follow_path(const struct follow *f);
int follow_rename(struct follow *f, const char *path); /* 0 or -ENOMEM */

/* A value of the file's description; NULL: no description yet, or no such key. Valid until the next
 * call.
 */
const char *follow_meta(struct follow *f, const char *key);
int64_t follow_interval_us(const struct follow *f);

/* The observer of the file; "": not known yet, or its components name their own. */
const char *follow_observer(const struct follow *f);

/* Was the file closed properly, so that nothing more is expected? */
bool follow_closed(const struct follow *f);

/* The number of damaged stretches so far. */
unsigned follow_n_damaged(const struct follow *f);

#endif
