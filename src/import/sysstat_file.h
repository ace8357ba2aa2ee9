/* A sysstat activity file as a sequence of records. This handles headers, bounds and damage, but
 * not the meaning of the statistics.
 */
#ifndef IMPORT_SYSSTAT_FILE_H
#define IMPORT_SYSSTAT_FILE_H

#include "import/sysstat_format.h"
#include <limpet/err.h>

struct sysstat_old_items;

/* sysstat's own limits; beyond them a file is damaged. */
#define SYSSTAT_HEADER_BYTES_MAX 8192
#define SYSSTAT_ACTIVITIES_MAX 256
#define SYSSTAT_ITEMS_MAX (65536 * 4096)
#define SYSSTAT_COMMENT_BYTES 64

/* The maximum number of activities to read at once. */
#define SYSSTAT_WANTED_MAX 3

/* One activity as the file announces it. */
struct sysstat_activity {
	uint32_t id, magic;
	uint32_t nr;  /* items per record, unless `has_nr` */
	uint32_t nr2; /* structures per item */
	bool has_nr;  /* each record has its own number of items */
	uint32_t size;
	struct sysstat_types types;
	int wanted; /* index in sysstat_record.spans; -1: skip it */
	/* Old formats only: */
	uint32_t first_nr;		     /* `nr` before the first restart */
	const struct sysstat_old_items *old; /* the layout of its items; NULL: unknown */
};

struct sysstat_file {
	const char *path; /* not owned */
	int fd;
	uint64_t size; /* at the time of opening; data appended later is not read */
	uint8_t *window;
	uint64_t window_at;
	size_t window_len, window_cap;
	unsigned format;
	bool old; /* sysstat_old.h reads it */
	struct sysstat_arch arch;
	char version[32];  /* "12.6.1": the sysstat that wrote it */
	char nodename[66]; /* as in the file */
	struct sysstat_activity *activities;
	uint32_t n_activities;
	uint32_t n_volatile;  /* old formats: activities in the record of a restart */
	uint32_t record_size; /* of a record's header */
	struct sysstat_types record_types;
	uint64_t records_at;  /* first byte of the first record */
	uint64_t record_hint; /* the length of the last record: the next one is similar */
};

enum sysstat_record_type {
	SYSSTAT_R_STATS = 1,
	SYSSTAT_R_RESTART = 2,
	SYSSTAT_R_LAST_STATS = 3,
	SYSSTAT_R_COMMENT = 4,
	SYSSTAT_R_EXTRA_MIN = 5,
	SYSSTAT_R_EXTRA_MAX = 15,
};

/* Where the items of one activity are. */
struct sysstat_span {
	uint64_t at;
	uint32_t n;
};

struct sysstat_record {
	uint64_t at, end; /* offsets in the file */
	enum sysstat_record_type type;
	int64_t wall_us;
	uint64_t uptime_cs; /* since the machine started */
	struct sysstat_span spans[SYSSTAT_WANTED_MAX];
};

/* Does it contain statistics? */
static inline bool sysstat_record_is_stats(const struct sysstat_record *r)
{
	return r->type == SYSSTAT_R_STATS || r->type == SYSSTAT_R_LAST_STATS;
}

/* Open a file and read everything before its first record. `path` must outlive `f`. Call
 * sysstat_file_release() only after success. */
int sysstat_file_open(struct sysstat_file *f, const char *path, struct lp_err *err);
void sysstat_file_release(struct sysstat_file *f);

/* Read the record that begins at `at`. Returns 1, 0 if the file ends there, or a negative errno if
 * it is damaged or truncated. Only complete records are returned. */
int sysstat_file_record(
	struct sysstat_file *f, uint64_t at, struct sysstat_record *ret_record, struct lp_err *err);

/* `len` bytes of the file, valid until the next call with this file. Reading past the end is
 * damage: -EBADMSG, with an error that the file ends within `what`. */
int sysstat_file_bytes(struct sysstat_file *f, uint64_t at, uint64_t len, const char *what,
	const uint8_t **ret_bytes, struct lp_err *err);

/* What the formats share: */

/* Returns -EBADMSG, with an error that the file is damaged at byte `at`. */
int sysstat_file_damaged(
	const struct sysstat_file *f, uint64_t at, const char *what, struct lp_err *err);

/* Read the end of a header: two bytes of the date, the size of a long, names of 65 bytes. They are
 * the `len` bytes at `at`. */
int sysstat_file_header_text(
	struct sysstat_file *f, const uint8_t *text, uint64_t len, uint64_t at, struct lp_err *err);

/* Check activity `i`, whose description is at `f->records_at`; those before it were checked. */
int sysstat_file_check_activity(const struct sysstat_file *f, uint32_t i, struct lp_err *err);

/* Check the times of a record, of which `clock` has the hour, the minute and the second, and set
 * its `wall_us`. */
int sysstat_file_record_time(const struct sysstat_file *f, struct sysstat_record *rec,
	uint64_t seconds, const uint8_t clock[3], struct lp_err *err);

/* Find the items of all activities of a record with statistics. */
int sysstat_file_spans(struct sysstat_file *f, struct sysstat_record *rec, struct lp_err *err);

#endif
