#include "archive/log.h"

#include "archive/writer.h"
#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>

/* The records of one frame: enough to compress well, but few enough to read only a part of a log.
 */
#define MERGE_RECORDS (UINT32_C(1) << 17)
#define MERGE_TEXT_BYTES (UINT64_C(8) << 20)

struct log_merge {
	struct lp_archive_writer *to;
	/* The description of the collected records; n_records 0: none. */
	struct lp_log log;
	struct lp_log_field fields[LP_LOG_FIELDS_MAX];
	struct strbuf names; /* of the log, of the fields and of the units, NUL-terminated */
	const int64_t *ints[LP_LOG_FIELDS_MAX];
	const struct lp_log_text *texts[LP_LOG_FIELDS_MAX];
	/* The memory for `ints` and `texts`. */
	int64_t *int_room[LP_LOG_FIELDS_MAX];
	struct lp_log_text *text_room[LP_LOG_FIELDS_MAX];
	size_t cap_ints[LP_LOG_FIELDS_MAX], cap_texts[LP_LOG_FIELDS_MAX];
	char **blocks; /* bytes of texts, one block per frame that was added */
	size_t n_blocks, cap_blocks;
	uint64_t text_bytes;
};

struct log_merge *log_merge_new(struct lp_archive_writer *to)
{
	struct log_merge *m = calloc(1, sizeof(*m));

	if (m)
		m->to = to;
	return m;
}

static void merge_clear(struct log_merge *m)
{
	for (size_t i = 0; i < m->n_blocks; i++)
		free(m->blocks[i]);
	m->n_blocks = 0;
	m->text_bytes = 0;
	m->log.n_records = 0;
}

void log_merge_free(struct log_merge *m)
{
	if (!m)
		return;
	merge_clear(m);
	for (size_t i = 0; i < LP_LOG_FIELDS_MAX; i++) {
		free(m->int_room[i]);
		free(m->text_room[i]);
	}
	strbuf_release(&m->names);
	free(m->blocks);
	free(m);
}

static uint64_t log_text_bytes(const struct lp_log *log)
{
	uint64_t bytes = 0;

	for (uint32_t f = 0; f < log->n_fields; f++) {
		for (uint32_t i = 0; log->texts[f] && i < log->n_records; i++)
			bytes += log->texts[f][i].len;
	}
	return bytes;
}

/* Do these records follow the collected ones, with the same fields? */
static bool merge_continues(const struct log_merge *m, const struct lp_log *log)
{
	const struct lp_log *have = &m->log;

	if (strcmp(have->name, log->name) || have->n_fields != log->n_fields ||
		have->first_record + have->n_records != log->first_record)
		return false;
	for (uint32_t i = 0; i < log->n_fields; i++) {
		const struct lp_log_field *a = &m->fields[i], *b = &log->fields[i];

		if (a->type != b->type || strcmp(a->name, b->name) || strcmp(a->unit, b->unit))
			return false;
	}
	return true;
}

/* Begin with the description of `log`. */
static int merge_begin(struct log_merge *m, const struct lp_log *log)
{
	const char *p;

	strbuf_reset(&m->names);
	strbuf_add(&m->names, log->name, strlen(log->name) + 1);
	for (uint32_t i = 0; i < log->n_fields; i++) {
		strbuf_add(&m->names, log->fields[i].name, strlen(log->fields[i].name) + 1);
		strbuf_add(&m->names, log->fields[i].unit, strlen(log->fields[i].unit) + 1);
	}
	if (m->names.failed)
		return -ENOMEM;
	m->log = *log;
	m->log.n_records = 0;
	m->log.name = p = m->names.text;
	for (uint32_t i = 0; i < log->n_fields; i++) {
		m->fields[i] = log->fields[i];
		m->fields[i].name = p += strlen(p) + 1;
		m->fields[i].unit = p += strlen(p) + 1;
	}
	m->log.fields = m->fields;
	m->log.ints = m->ints;
	m->log.texts = m->texts;
	return 0;
}

/* Make room for the records of `log` after the collected ones, and a block for its texts. */
static int merge_reserve(struct log_merge *m, const struct lp_log *log, uint64_t bytes)
{
	size_t n = (size_t)m->log.n_records + log->n_records;

	for (uint32_t f = 0; f < log->n_fields; f++) {
		if (log->fields[f].type == LP_LOG_INT
				? array_reserve(&m->int_room[f], &m->cap_ints[f], n,
					  sizeof(**m->int_room)) < 0
				: array_reserve(&m->text_room[f], &m->cap_texts[f], n,
					  sizeof(**m->text_room)) < 0)
			return -ENOMEM;
		m->ints[f] = log->fields[f].type == LP_LOG_INT ? m->int_room[f] : NULL;
		m->texts[f] = log->fields[f].type == LP_LOG_TEXT ? m->text_room[f] : NULL;
	}
	if (array_reserve(&m->blocks, &m->cap_blocks, m->n_blocks + 1, sizeof(*m->blocks)) < 0)
		return -ENOMEM;
	m->blocks[m->n_blocks] = malloc(bytes + 1);
	if (!m->blocks[m->n_blocks])
		return -ENOMEM;
	m->n_blocks++;
	return 0;
}

static int merge_append(struct log_merge *m, const struct lp_log *log, uint64_t bytes)
{
	uint32_t have = m->log.n_records;
	char *to;

	if (merge_reserve(m, log, bytes) < 0)
		return -ENOMEM;
	to = m->blocks[m->n_blocks - 1];
	for (uint32_t f = 0; f < log->n_fields; f++) {
		if (log->fields[f].type == LP_LOG_INT) {
			memcpy(m->int_room[f] + have, log->ints[f],
				log->n_records * sizeof(**m->int_room));
			continue;
		}
		for (uint32_t i = 0; i < log->n_records; i++) {
			struct lp_log_text text = log->texts[f][i];

			if (text.len)
				memcpy(to, text.bytes, text.len);
			m->text_room[f][have + i] =
				(struct lp_log_text){.bytes = to, .len = text.len};
			to += text.len;
		}
	}
	m->log.n_records += log->n_records;
	m->text_bytes += bytes;
	m->log.first_us = log->first_us < m->log.first_us ? log->first_us : m->log.first_us;
	m->log.last_us = log->last_us > m->log.last_us ? log->last_us : m->log.last_us;
	return 0;
}

int log_merge_flush(struct log_merge *m, struct lp_err *err)
{
	int r = 0;

	if (m->log.n_records)
		r = writer_put_log(m->to, &m->log, LP_ARCHIVE_DENSE, err);
	merge_clear(m);
	return r;
}

int log_merge_add(struct log_merge *m, const struct lp_log *log, struct lp_err *err)
{
	uint64_t bytes = log_text_bytes(log);
	bool large = log->n_records >= MERGE_RECORDS / 2 || bytes >= MERGE_TEXT_BYTES / 2;
	int r = 0;

	if (m->log.n_records &&
		(large || !merge_continues(m, log) ||
			m->log.n_records + log->n_records > MERGE_RECORDS ||
			m->text_bytes + bytes > MERGE_TEXT_BYTES))
		r = log_merge_flush(m, err);
	if (r < 0)
		return r;
	if (large)
		return writer_put_log(m->to, log, LP_ARCHIVE_DENSE, err);
	if (!m->log.n_records)
		r = merge_begin(m, log);
	if (r == 0)
		r = merge_append(m, log, bytes);
	return r < 0 ? lp_err_sys(err, r, "cannot gather a log") : 0;
}
