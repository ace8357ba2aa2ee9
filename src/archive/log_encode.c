#include "archive/log.h"

#include "archive/column.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include <errno.h>

/* Integers get a dictionary if it has at most this many entries, so that an index is one byte. */
#define INTS_MAX 256
#define INT_SLOTS 1024 /* a power of two */

#define NO_TEXT UINT32_MAX

struct text_entry {
	struct lp_log_text text;
	uint32_t same; /* another entry with the same hash, or NO_TEXT */
};

struct log_encoder {
	struct chunk_writer chunks;
	struct strbuf field, other; /* the current field, encoded in two ways */
	uint64_t *scratch;	    /* for columns; then [record] its index in the dictionary */
	size_t cap_scratch;
	struct text_entry *texts;
	size_t n_texts, cap_texts;
	struct idmap by_hash; /* the last entry of `texts` with that hash */
	int64_t ints[INTS_MAX];
	uint16_t int_slots[INT_SLOTS]; /* 1 + the entry of `ints` */
};

struct log_encoder *log_encoder_new(void)
{
	struct log_encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	if (chunk_writer_init(&e->chunks) < 0) {
		free(e);
		return NULL;
	}
	return e;
}

void log_encoder_free(struct log_encoder *e)
{
	if (!e)
		return;
	chunk_writer_release(&e->chunks);
	strbuf_release(&e->field);
	strbuf_release(&e->other);
	free(e->scratch);
	free(e->texts);
	idmap_release(&e->by_hash);
	free(e);
}

/* Write indexes into a dictionary of `n_entries`, in planes. */
static void put_index(struct strbuf *out, const uint64_t *index, uint32_t n, size_t n_entries)
{
	unsigned width = 0;
	char *end;

	for (size_t last = n_entries - 1; last; last >>= 8)
		width++;
	strbuf_reserve(out, 1 + (size_t)n * width);
	if (out->failed)
		return;
	end = (char *)column_put_planes((uint8_t *)out->text + out->len, index, n, width);
	out->len = (size_t)(end - out->text);
}

/* Number the distinct values of a field; 0: there are too many. */
static size_t ints_number(struct log_encoder *e, const int64_t *values, uint32_t n)
{
	size_t n_ints = 0;

	memset(e->int_slots, 0, sizeof(e->int_slots));
	for (uint32_t i = 0; i < n; i++) {
		size_t slot = (uint64_t)values[i] * UINT64_C(0x9e3779b97f4a7c15) >> 54;

		while (e->int_slots[slot] && e->ints[e->int_slots[slot] - 1] != values[i])
			slot = (slot + 1) % INT_SLOTS;
		if (!e->int_slots[slot]) {
			if (n_ints == INTS_MAX)
				return 0;
			e->ints[n_ints] = values[i];
			e->int_slots[slot] = (uint16_t)++n_ints;
		}
		e->scratch[i] = e->int_slots[slot] - 1u;
	}
	return n_ints;
}

static void put_column(struct log_encoder *e, const int64_t *values, uint32_t n)
{
	static const uint32_t row = 0;
	static const uint8_t carried = 0, whole = 1;
	struct column_shape shape = {.type = LP_GAUGE,
		.n_rows = 1,
		.n_samples = n,
		.stride = n,
		.rows = &row,
		.carried = &carried,
		.whole = &whole};

	strbuf_putc(&e->field, LOG_COLUMN);
	column_encode(&e->field, &shape, values, e->scratch);
}

/* Encode integers as differences, or with a dictionary if that is not longer. zstd compresses a
 * dictionary better, because equal sequences of calls have equal bytes. */
static const struct strbuf *ints_encode(struct log_encoder *e, const int64_t *values, uint32_t n)
{
	size_t n_ints;

	strbuf_reset(&e->field);
	put_column(e, values, n);
	if (e->field.len < n) /* it is constant */
		return &e->field;
	n_ints = ints_number(e, values, n);
	if (!n_ints)
		return &e->field;
	strbuf_reset(&e->other);
	strbuf_putc(&e->other, LOG_DICTIONARY);
	put_varint(&e->other, n_ints);
	for (size_t i = 0; i < n_ints; i++)
		put_varint(&e->other, zigzag(e->ints[i]));
	put_index(&e->other, e->scratch, n, n_ints);
	return e->other.len <= e->field.len ? &e->other : &e->field;
}

static bool text_equal(const struct lp_log_text *a, const struct lp_log_text *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->bytes, b->bytes, a->len));
}

static int text_number(struct log_encoder *e, const struct lp_log_text *t, uint64_t *ret)
{
	uint64_t hash = hash_bytes(t->bytes, t->len);
	uint32_t first = NO_TEXT, i;

	idmap_get(&e->by_hash, hash, &first);
	for (i = first; i != NO_TEXT && !text_equal(&e->texts[i].text, t);)
		i = e->texts[i].same;
	if (i == NO_TEXT) {
		i = (uint32_t)e->n_texts;
		if (array_reserve(&e->texts, &e->cap_texts, e->n_texts + 1, sizeof(*e->texts)) <
				0 ||
			idmap_put(&e->by_hash, hash, i) < 0)
			return -ENOMEM;
		e->texts[e->n_texts++] = (struct text_entry){*t, first};
	}
	*ret = i;
	return 0;
}

/* Encode texts with a dictionary. */
static int texts_encode(struct log_encoder *e, const struct lp_log_text *texts, uint32_t n)
{
	int r = 0;

	e->n_texts = 0;
	idmap_clear(&e->by_hash);
	for (uint32_t i = 0; i < n && r == 0; i++)
		r = text_number(e, &texts[i], &e->scratch[i]);
	if (r < 0)
		return r;
	strbuf_reset(&e->field);
	strbuf_putc(&e->field, LOG_DICTIONARY);
	put_varint(&e->field, e->n_texts);
	for (size_t i = 0; i < e->n_texts; i++)
		put_varint(&e->field, e->texts[i].text.len);
	for (size_t i = 0; i < e->n_texts; i++)
		strbuf_add(&e->field, e->texts[i].text.bytes, e->texts[i].text.len);
	put_index(&e->field, e->scratch, n, e->n_texts);
	return 0;
}

static int put_field(struct log_encoder *e, const struct lp_log *log, uint32_t field, bool packed)
{
	const struct strbuf *coded = &e->field;
	int r = 0;

	if (log->fields[field].type == LP_LOG_INT)
		coded = ints_encode(e, log->ints[field], log->n_records);
	else
		r = texts_encode(e, log->texts[field], log->n_records);
	if (r < 0 || coded->failed)
		return -ENOMEM;
	if (packed)
		put_varint(&e->chunks.raw, coded->len);
	strbuf_add(&e->chunks.raw, coded->text, coded->len);
	return packed ? 0 : chunk_writer_end_chunk(&e->chunks);
}

static void put_fields(struct strbuf *out, const struct lp_log *log)
{
	put_varint(out, log->n_fields);
	for (uint32_t i = 0; i < log->n_fields; i++) {
		put_string(out, log->fields[i].name);
		put_string(out, log->fields[i].unit);
		strbuf_putc(out, (char)log->fields[i].type);
		put_string(out, "");
	}
}

/* Do these records fit into a frame? */
static int log_check(const struct lp_log *log, struct lp_err *err)
{
	uint64_t bytes = 0;

	if (!log->n_records || !log->n_fields || !*log->name || strlen(log->name) > LOG_NAME_MAX)
		return lp_err_set(err, -EINVAL, "a log needs a name, fields and records");
	if (log->n_fields > LP_LOG_FIELDS_MAX || log->n_records > log_records_max(log->n_fields))
		return lp_err_set(err, -E2BIG, "%u records of %u fields do not fit into a frame",
			log->n_records, log->n_fields);
	for (uint32_t i = 0; i < log->n_fields; i++) {
		bool text = log->fields[i].type == LP_LOG_TEXT;

		if (text ? !log->texts[i] : !log->ints[i])
			return lp_err_set(err, -EINVAL, "the field %s of the log %s has no values",
				log->fields[i].name, log->name);
		for (uint32_t k = 0; text && k < log->n_records; k++)
			bytes += log->texts[i][k].len;
	}
	if (bytes > LOG_TEXT_MAX)
		return lp_err_set(err, -E2BIG, "a log frame cannot hold texts of %llu bytes",
			(unsigned long long)bytes);
	return 0;
}

/* Write chunk 0, and in dense frames the chunks after it. */
static int put_contents(struct log_encoder *e, const struct lp_log *log, bool packed)
{
	int r = 0;

	put_fields(&e->chunks.raw, log);
	if (!packed)
		r = chunk_writer_end_chunk(&e->chunks);
	for (uint32_t i = 0; i < log->n_fields && r == 0; i++)
		r = put_field(e, log, i, packed);
	return r == 0 && packed ? chunk_writer_end_chunk(&e->chunks) : r;
}

int log_encode(struct log_encoder *e, const struct lp_log *log, enum lp_archive_density density,
	const uint8_t **ret_frame, size_t *ret_size, struct frame *ret_header, struct lp_err *err)
{
	bool packed = density == LP_ARCHIVE_LOOSE;
	struct frame f = {.type = FRAME_LOG,
		.flags = packed ? FRAME_PACKED : 0,
		.n_samples = log->n_records,
		.first_us = log->first_us,
		.last_us = log->last_us};
	int r = log_check(log, err);

	if (r < 0)
		return r;
	if (array_reserve(&e->scratch, &e->cap_scratch, column_scratch(1, log->n_records),
		    sizeof(*e->scratch)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot encode a log");
	chunk_writer_begin(&e->chunks, packed ? LEVEL_PACKED : LEVEL_DENSE);
	put_string(&e->chunks.tail, log->name);
	put_varint(&e->chunks.tail, log->first_record);
	r = put_contents(e, log, packed);
	if (r == 0)
		r = chunk_writer_finish(&e->chunks, &f);
	if (r < 0)
		return lp_err_sys(err, r, "cannot encode a log");
	*ret_header = f;
	*ret_frame = (const uint8_t *)e->chunks.frame.text;
	*ret_size = e->chunks.frame.len;
	return 0;
}
