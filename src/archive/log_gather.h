/* Collects records of one log until they are written, and finds the fields of a log that is read:
 * the common part of the logs of traces (trace_log.c, span_log.c).
 */
#ifndef ARCHIVE_LOG_GATHER_H
#define ARCHIVE_LOG_GATHER_H

#include "base/strbuf.h"
#include <limpet/archive.h>
#include <limpet/log.h>

#define LOG_GATHER_FIELDS_MAX 24 /* more than any of these logs has */

/* A collected text: in `bytes`, or a constant. */
struct log_gather_text {
	const char *constant; /* NULL: the text is at `offset` */
	size_t offset;
	uint32_t len;
};

struct log_gather {
	const char *name;
	const struct lp_log_field *fields;
	uint32_t n_fields;
	uint32_t time_field, duration_field; /* in ns; if they are equal, there are no durations */
	uint32_t slice;			     /* this many records always fit into a frame */
	int64_t *ints[LOG_GATHER_FIELDS_MAX];
	struct log_gather_text *texts[LOG_GATHER_FIELDS_MAX];
	size_t n, cap, n_written; /* records; those that were already written */
	struct strbuf bytes;
};

/* Free all memory; `g` can be used again. */
void log_gather_release(struct log_gather *g);

/* Make room for another record and `bytes` of its text; 0 or -ENOMEM. The caller then fills in
 * every field of record g->n, and increments g->n. */
int log_gather_reserve(struct log_gather *g, size_t bytes);

/* Keep a copy of a text for record g->n. */
void log_gather_put_text(struct log_gather *g, uint32_t field, const char *text, size_t len);

/* The approximate number of waiting bytes. */
size_t log_gather_waiting(const struct log_gather *g);

/* Forget waiting records. */
void log_gather_clear(struct log_gather *g);

/* Append the collected records to the archive, and clear them. Records that could not be written
 * stay. */
int log_gather_write(struct log_gather *g, struct lp_archive_writer *w, struct lp_err *err);

/* The known fields of a log that is being read. */
struct log_fields {
	const int64_t *ints[LOG_GATHER_FIELDS_MAX];		/* NULL: there is no such field */
	const struct lp_log_text *texts[LOG_GATHER_FIELDS_MAX]; /* also */
};

/* Find the fields. -EBADMSG: one of them has the wrong type. */
int log_fields_find(struct log_fields *f, const struct lp_log *log,
	const struct lp_log_field *known, uint32_t n_known, struct lp_err *err);

/* A value of record `i`; 0 or "" if there is no such field. */
int64_t log_fields_int(const struct log_fields *f, uint32_t field, uint32_t i);
struct lp_log_text log_fields_text(const struct log_fields *f, uint32_t field, uint32_t i);

/* A time or a duration between 0 and `max`, so that sums and differences cannot overflow. */
int64_t log_fields_ns(const struct log_fields *f, uint32_t field, uint32_t i, int64_t max);

#endif
