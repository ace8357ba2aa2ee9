/* The archive: limpet's file format (docs/archive-format.md), written by the recorder and by
 * `limpet import`, read by everything else.
 *
 * A file is a sequence of checksummed frames. While it is being recorded it grows by one loose data
 * frame every few seconds; lp_archive_seal() rewrites it densely and adds an index. Both forms can
 * be read and extended at any time, even after the writer was killed.
 */
#ifndef LIMPET_ARCHIVE_H
#define LIMPET_ARCHIVE_H

#include <limpet/source.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define LP_ARCHIVE_SUFFIX ".lpa"

/* Samples in a dense frame. */
#define LP_ARCHIVE_DENSE_SAMPLES 600

/* The description in a file's head. */
struct lp_archive_meta {
	const char *observer; /* "" if components name their own */
	int64_t interval_us;  /* nominal, 0 if unknown */
	const char *extra;    /* further "key=value\n" lines, or NULL */
};

struct lp_archive_writer;

/* Create a file; it must not exist. */
int lp_archive_create(const char *path, const struct lp_archive_meta *meta,
	struct lp_archive_writer **ret_writer, struct lp_err *err);

/* Continue writing an existing file, sealed or not. An unfinished frame that a killed writer left
 * at the end is cut off. -EBUSY: another process is writing the file. */
int lp_archive_append(const char *path, struct lp_archive_writer **ret_writer, struct lp_err *err);

enum lp_archive_density {
	LP_ARCHIVE_LOOSE, /* small; needs the frames before it */
	LP_ARCHIVE_DENSE, /* every column can be read on its own */
};

/* Append a batch, and the additions to the catalogue. Samples carried from an earlier batch are not
 * stored again. On failure no sample of the batch is in the file and the call may be repeated.
 * Loose writes with an unchanged catalogue allocate no memory once the largest has been written. */
int lp_archive_write(struct lp_archive_writer *w, const struct lp_catalogue *catalogue,
	const struct lp_batch *batch, enum lp_archive_density density, struct lp_err *err);

/* Append a remark of the recorder: one line "kind=clock-step step_us=-3600000000 ...". */
int lp_archive_write_event(
	struct lp_archive_writer *w, int64_t wall_us, const char *text, struct lp_err *err);

/* Make everything written so far survive power loss. */
int lp_archive_sync(struct lp_archive_writer *w, struct lp_err *err);

/* Bytes in the file so far. */
uint64_t lp_archive_size(const struct lp_archive_writer *w);

/* Was the file or its directory removed while the file was being written? */
bool lp_archive_vanished(const struct lp_archive_writer *w);

/* Write the index and close. Frees the writer even on failure; the file is readable in any case. */
int lp_archive_close(struct lp_archive_writer *w, struct lp_err *err);

/* Close without an index, as a crash would. Accepts NULL. */
void lp_archive_abandon(struct lp_archive_writer *w);

/* Rewrite a file densely, with an index, and replace it atomically (through PATH.tmp). A sealed
 * file stays as it is. The new one has the same owner and permissions. Symbolic links are not
 * followed. -EBUSY: another process is writing the file. */
int lp_archive_seal(const char *path, struct lp_warn *warn, struct lp_err *err);

/* Open a file for reading. Damage is reported through `warn`; intact frames are delivered, and then
 * next() ends with -EBADMSG. A last frame that a killed writer did not finish is not damage. */
int lp_archive_open(const char *path, const struct lp_select *select, struct lp_warn *warn,
	struct lp_source **ret_source, struct lp_err *err);

/* The meta of a source that lp_archive_open() returned: the value of `key`, or NULL. Valid until
 * the source is closed. */
const char *lp_archive_meta_get(const struct lp_source *source, const char *key);

/* The recorder's remarks in a file, in file order. Stops when `fn` returns non-zero, and returns
 * that value. Damaged ones are reported through the source's `warn` and left out; then it ends with
 * -EBADMSG.
 */
int lp_archive_events(const struct lp_source *source,
	int (*fn)(void *ctx, int64_t wall_us, const char *text), void *ctx, struct lp_err *err);

/* The findings of lp_archive_check(). */
struct lp_archive_report {
	uint64_t size_bytes;
	uint32_t n_frames, n_samples;
	uint64_t n_records;	   /* records of logs (limpet/log.h) */
	uint64_t log_bytes;	   /* the size of the frames that hold them */
	uint32_t n_damaged;	   /* damaged stretches */
	uint64_t damaged_bytes;	   /* in them */
	uint64_t unfinished_bytes; /* at the end, left by a killed writer; not damage */
	bool sealed;
	int64_t first_us, last_us;
};

/* Verify every byte of a file. Each damaged stretch is reported through `warn`, with its position
 * and the seconds of data that may be lost. If `repair_path` is not NULL, every intact frame is
 * copied to that new file. Returns 0 if the file is sound, -EBADMSG if it is damaged, or another
 * error if it cannot be read at all. `*ret_report` is written in the first two cases. */
int lp_archive_check(const char *path, const char *repair_path, struct lp_warn *warn,
	struct lp_archive_report *ret_report, struct lp_err *err);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
