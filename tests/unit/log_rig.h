/* Logs with values that follow from the number of the record, for tests of src/archive. */
#ifndef LOG_RIG_H
#define LOG_RIG_H

#include "archive_util.h"

#include <limpet/log.h>

#define LOG_RIG_FIELDS 7
#define LOG_RIG_SECOND INT64_C(1000000)

/* Each coding has its field: sequences, small steps, few values, constants, anything; a few texts,
 * and texts that are all different, with every byte in them. */
static const struct lp_log_field log_rig_fields[LOG_RIG_FIELDS] = {
	{"seq", "", LP_LOG_INT},
	{"start", "ns since 1970", LP_LOG_INT},
	{"tid", "", LP_LOG_INT},
	{"what", "", LP_LOG_INT},
	{"result", "", LP_LOG_INT},
	{"name", "", LP_LOG_TEXT},
	{"text", "", LP_LOG_TEXT},
};

UNUSED static int64_t log_rig_int(uint32_t field, uint64_t record)
{
	static const int64_t few[] = {INT64_MIN, -5, 0, 812, 1 << 20, INT64_MAX};
	uint64_t seed = record * 8 + field;
	uint64_t x = random_next(&seed);

	switch (field) {
	case 0:
		return (int64_t)(record * 3);
	case 1:
		return TRUTH_START * 1000 + (int64_t)(record * 1000000000 + x % 1000);
	case 2:
		return few[x % ARRAY_SIZE(few)];
	case 3:
		return -1;
	default:
		return x % 50 ? (int64_t)x : INT64_MIN;
	}
}

/* The text of a record; `buf` holds generated ones. */
UNUSED static struct lp_log_text log_rig_text(uint32_t field, uint64_t record, char buf[300])
{
	static const char *const names[] = {"read", "write", "", "pwrite64", "close"};
	uint64_t seed = record * 8 + field;
	uint64_t x = random_next(&seed);
	const char *name = names[x % ARRAY_SIZE(names)];
	uint32_t len = (uint32_t)(x % 300);

	if (field == 5)
		return (struct lp_log_text){name, (uint32_t)strlen(name)};
	for (uint32_t i = 0; i < len; i++)
		buf[i] = (char)(random_next(&seed) >> 8);
	return (struct lp_log_text){buf, len};
}

/* Records first .. first+n-1, one per second. */
struct log_rig {
	struct lp_log log;
	int64_t *ints[LOG_RIG_FIELDS];
	struct lp_log_text *texts[LOG_RIG_FIELDS];
	char *bytes;
};

UNUSED static void log_rig_release(struct log_rig *r)
{
	for (uint32_t f = 0; f < LOG_RIG_FIELDS; f++) {
		free(r->ints[f]);
		free(r->texts[f]);
	}
	free(r->bytes);
}

UNUSED static void log_rig_make(struct log_rig *r, const char *name, uint64_t first, uint32_t n)
{
	*r = (struct log_rig){.bytes = malloc((size_t)n * 300 + 1)};
	for (uint32_t f = 0; f < LOG_RIG_FIELDS; f++) {
		bool text = log_rig_fields[f].type == LP_LOG_TEXT;

		r->ints[f] = text ? NULL : calloc(n + 1, sizeof(**r->ints));
		r->texts[f] = text ? calloc(n + 1, sizeof(**r->texts)) : NULL;
		for (uint32_t i = 0; i < n; i++) {
			if (text)
				r->texts[f][i] =
					log_rig_text(f, first + i, r->bytes + (size_t)i * 300);
			else
				r->ints[f][i] = log_rig_int(f, first + i);
		}
	}
	r->log = (struct lp_log){.name = name,
		.fields = log_rig_fields,
		.n_fields = LOG_RIG_FIELDS,
		.first_record = first,
		.first_us = TRUTH_START + (int64_t)first * LOG_RIG_SECOND,
		.last_us = TRUTH_START + (int64_t)(first + n - 1) * LOG_RIG_SECOND,
		.n_records = n,
		.ints = (const int64_t *const *)r->ints,
		.texts = (const struct lp_log_text *const *)r->texts};
}

/* Do the records match their numbers? */
UNUSED static void log_rig_check(const struct lp_log *log)
{
	assert_int_equal(log->n_fields, LOG_RIG_FIELDS);
	for (uint32_t f = 0; f < LOG_RIG_FIELDS; f++) {
		assert_string_equal(log->fields[f].name, log_rig_fields[f].name);
		assert_string_equal(log->fields[f].unit, log_rig_fields[f].unit);
		assert_int_equal(log->fields[f].type, log_rig_fields[f].type);
		for (uint32_t i = 0; i < log->n_records; i++) {
			char buf[300];
			struct lp_log_text text;

			if (log_rig_fields[f].type == LP_LOG_INT) {
				assert_int_equal(
					log->ints[f][i], log_rig_int(f, log->first_record + i));
				continue;
			}
			text = log_rig_text(f, log->first_record + i, buf);
			assert_int_equal(log->texts[f][i].len, text.len);
			assert_memory_equal(log->texts[f][i].bytes, text.bytes, text.len);
		}
	}
}

/* Write `n` records of a log in frames of `step`, from record `first` on. */
UNUSED static void log_rig_write(
	struct lp_archive_writer *w, const char *name, uint64_t first, uint32_t n, uint32_t step)
{
	struct lp_err err = {0};

	for (uint32_t at = 0; at < n; at += step) {
		_cleanup_(log_rig_release) struct log_rig r;

		log_rig_make(&r, name, first + at, n - at < step ? n - at : step);
		if (lp_archive_write_log(w, &r.log, &err) < 0)
			fail_msg("%s", err.text);
	}
}

/* The records of a log that were read: all up to here, in order. */
struct log_rig_found {
	uint64_t next; /* the next record */
	unsigned n_frames;
};

UNUSED static int log_rig_take(void *ctx, const struct lp_log *log)
{
	struct log_rig_found *found = ctx;

	assert_int_equal(log->first_record, found->next);
	log_rig_check(log);
	found->next += log->n_records;
	found->n_frames++;
	return 0;
}

/* All records of a log of a file, in order; returns their number. */
UNUSED static struct log_rig_found log_rig_read(const char *path, const char *name)
{
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct log_rig_found found = {0};
	struct lp_err err = {0};

	if (lp_archive_open(path, NULL, NULL, &s, &err) < 0 ||
		lp_archive_logs(s, name, log_rig_take, &found, &err) < 0)
		fail_msg("%s", err.text);
	return found;
}

#endif
