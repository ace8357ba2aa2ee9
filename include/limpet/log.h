/* Logs in an archive: records with named fields, for data that a time grid would lose (system
 * calls, changes of descriptors). A log describes itself: its name and fields are in every frame.
 */
#ifndef LIMPET_LOG_H
#define LIMPET_LOG_H

#include <limpet/archive.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

enum lp_log_type {
	LP_LOG_INT = 0,	 /* 64 bits; the field's name and unit say whether it is signed */
	LP_LOG_TEXT = 1, /* bytes, any */
};

#define LP_LOG_FIELDS_MAX 64
#define LP_LOG_RECORDS_MAX (1u << 20) /* in one frame; with more than 16 fields, 2^24 / fields */

struct lp_log_field {
	const char *name; /* "start" */
	const char *unit; /* "ns since 1970", "" */
	enum lp_log_type type;
};

struct lp_log_text {
	const char *bytes; /* not NUL-terminated */
	uint32_t len;
};

/* Some consecutive records of one log. */
struct lp_log {
	const char *name; /* "syscalls" */
	const struct lp_log_field *fields;
	uint32_t n_fields;
	uint64_t first_record;	   /* the number of records in the log before these; set by the
				    * writer */
	int64_t first_us, last_us; /* the time that the records cover, since 1970 */
	uint32_t n_records;
	/* [field]: of an LP_LOG_INT field `ints[field][record]`, of an LP_LOG_TEXT field
	 * `texts[field][record]`; the other pointer is NULL. */
	const int64_t *const *ints;
	const struct lp_log_text *const *texts;
};

/* Append a frame with these records (at least one; -E2BIG if they do not fit into a frame). Their
 * numbers continue those of this log in the file; first_record is ignored. On failure the file has
 * none of them. */
int lp_archive_write_log(struct lp_archive_writer *w, const struct lp_log *log, struct lp_err *err);

/* Call `fn` for the frames of the log `name` (NULL: all logs) of a source that lp_archive_open()
 * returned, in file order. A frame is delivered whole if any part of it is in the selected time.
 * `log` and everything it points to are valid during the call only. Stops when `fn` returns
 * non-zero, and returns that value. Damaged frames are reported through the source's `warn` and
 * left out; then it ends with -EBADMSG.
 */
int lp_archive_logs(const struct lp_source *source, const char *name,
	int (*fn)(void *ctx, const struct lp_log *log), void *ctx, struct lp_err *err);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
