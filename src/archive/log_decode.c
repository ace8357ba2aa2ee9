#include "archive/log.h"

#include "archive/column.h"
#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>

/* The values of one field; the memory is reused for the next frame. */
struct field_room {
	struct strbuf raw; /* the bytes of texts in a dense frame */
	int64_t *ints;
	struct lp_log_text *texts;
	size_t cap_ints, cap_texts;
};

struct log_decoder {
	struct chunk_reader chunks;
	struct strbuf raw;	 /* chunk 0 */
	struct strbuf field_raw; /* integers of a dense frame */
	struct strbuf names;	 /* of the fields, NUL-terminated */
	struct log_place place;
	struct lp_log_field fields[LP_LOG_FIELDS_MAX];
	struct field_room rooms[LP_LOG_FIELDS_MAX];
	const int64_t *ints[LP_LOG_FIELDS_MAX];
	const struct lp_log_text *texts[LP_LOG_FIELDS_MAX];
	uint32_t n_fields; /* in the frame, including unknown ones */
	/* The current dictionary. */
	int64_t *int_entries;
	struct lp_log_text *text_entries;
	size_t cap_int_entries, cap_text_entries;
};

struct log_decoder *log_decoder_new(void)
{
	return calloc(1, sizeof(struct log_decoder));
}

void log_decoder_free(struct log_decoder *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < LP_LOG_FIELDS_MAX; i++) {
		strbuf_release(&d->rooms[i].raw);
		free(d->rooms[i].ints);
		free(d->rooms[i].texts);
	}
	chunk_reader_release(&d->chunks);
	strbuf_release(&d->raw);
	strbuf_release(&d->field_raw);
	strbuf_release(&d->names);
	free(d->int_entries);
	free(d->text_entries);
	free(d);
}

static int damaged(struct lp_err *err, const char *what)
{
	return lp_err_set(err, -EBADMSG, "%s", what);
}

/* The head: the list of chunks, the log's name, the number of the first record. */
static int head_read(struct log_decoder *d, const struct frame *f, payload_read_fn read,
	void *read_ctx, struct lp_err *err)
{
	struct cursor tail;
	const char *name;
	size_t len;
	int r;

	if (f->flags & ~FRAME_PACKED)
		return lp_err_set(err, -EBADMSG, "it needs a newer limpet (flags %#x)", f->flags);
	r = chunk_reader_begin(&d->chunks, f, read, read_ctx, &tail, err);
	if (r < 0)
		return r;
	len = cursor_string(&tail, &name);
	d->place.first_record = cursor_varint(&tail);
	if (tail.bad || !len || len > LOG_NAME_MAX || memchr(name, '\0', len) ||
		d->place.first_record > INT64_MAX)
		return damaged(err, "the log's name or the number of its records is wrong");
	memcpy(d->place.name, name, len);
	d->place.name[len] = '\0';
	return 0;
}

int log_locate(struct log_decoder *d, const struct frame *f, payload_read_fn read, void *read_ctx,
	struct log_place *ret, struct lp_err *err)
{
	int r = head_read(d, f, read, read_ctx, err);

	if (r == 0)
		*ret = d->place;
	return r;
}

/* Copy a string of the description, with a NUL, to d->names; returns its offset there. */
static size_t take_name(struct log_decoder *d, struct cursor *in)
{
	const char *text;
	size_t len = cursor_string(in, &text), at = d->names.len;

	if (!in->bad && len && memchr(text, '\0', len))
		in->bad = true;
	if (!in->bad)
		strbuf_add(&d->names, text, len);
	strbuf_putc(&d->names, '\0');
	return at;
}

/* The list of fields. */
static int fields_read(struct log_decoder *d, struct cursor *in, struct lp_err *err)
{
	uint64_t n = cursor_varint(in);
	size_t at[LP_LOG_FIELDS_MAX][2];

	if (in->bad || !n || n > LP_LOG_FIELDS_MAX)
		return damaged(err, "the number of fields is wrong");
	strbuf_reset(&d->names);
	for (uint64_t i = 0; i < n && !in->bad; i++) {
		const char *extra;

		at[i][0] = take_name(d, in);
		at[i][1] = take_name(d, in);
		d->fields[i].type = cursor_u8(in);
		cursor_string(in, &extra);
	}
	if (in->bad)
		return damaged(err, "the fields are cut short");
	if (d->names.failed)
		return lp_err_sys(err, -ENOMEM, "cannot read a log");
	for (uint64_t i = 0; i < n; i++) {
		d->fields[i].name = d->names.text + at[i][0];
		d->fields[i].unit = d->names.text + at[i][1];
	}
	d->n_fields = (uint32_t)n;
	return 0;
}

/* The planes of indexes into a dictionary. */
struct index_planes {
	const uint8_t *planes;
	uint32_t n;
	unsigned width;
};

static int index_find(struct cursor *in, uint32_t n, struct index_planes *ret)
{
	unsigned width = cursor_u8(in);

	if (in->bad || width > 4)
		return -EBADMSG;
	*ret = (struct index_planes){
		.planes = cursor_bytes(in, (size_t)n * width), .n = n, .width = width};
	return in->bad || in->p != in->end ? -EBADMSG : 0;
}

static inline uint64_t index_get(const struct index_planes *x, uint32_t i)
{
	uint64_t v = 0;

	for (unsigned plane = 0; plane < x->width; plane++)
		v |= (uint64_t)x->planes[(size_t)plane * x->n + i] << (8 * plane);
	return v;
}

/* The number of entries of a dictionary. It is limited by the number of records and by the size. */
static int entries_count(struct cursor *in, uint32_t n_records, uint64_t *ret)
{
	uint64_t n = cursor_varint(in);

	if (in->bad || !n || n > n_records || n > (uint64_t)(in->end - in->p))
		return -EBADMSG;
	*ret = n;
	return 0;
}

static int ints_by_dictionary(struct log_decoder *d, struct cursor *in, uint32_t n, int64_t *out)
{
	struct index_planes index;
	uint64_t n_entries;
	int r = entries_count(in, n, &n_entries);

	if (r < 0)
		return r;
	if (array_reserve(&d->int_entries, &d->cap_int_entries, n_entries, sizeof(int64_t)) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < n_entries; i++)
		d->int_entries[i] = unzigzag(cursor_varint(in));
	if (index_find(in, n, &index) < 0)
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t entry = index_get(&index, i);

		if (entry >= n_entries)
			return -EBADMSG;
		out[i] = d->int_entries[entry];
	}
	return 0;
}

static int ints_by_column(struct cursor *in, uint32_t n, int64_t *out)
{
	static const uint32_t row = 0;
	static const uint8_t carried = 0;
	struct column_shape shape = {.type = LP_GAUGE,
		.n_rows = 1,
		.n_samples = n,
		.stride = n,
		.rows = &row,
		.carried = &carried};
	int r = column_decode(in, &shape, out);

	return r < 0 || in->p != in->end ? -EBADMSG : 0;
}

/* Read the entries of a dictionary of texts, which point into the current bytes. */
static int text_entries_read(struct log_decoder *d, struct cursor *in, uint64_t n)
{
	if (array_reserve(&d->text_entries, &d->cap_text_entries, n, sizeof(*d->text_entries)) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t len = cursor_varint(in);

		if (in->bad || len > LOG_TEXT_MAX)
			return -EBADMSG;
		d->text_entries[i].len = (uint32_t)len;
	}
	for (uint64_t i = 0; i < n; i++)
		d->text_entries[i].bytes = (const char *)cursor_bytes(in, d->text_entries[i].len);
	return in->bad ? -EBADMSG : 0;
}

static int texts_by_dictionary(
	struct log_decoder *d, struct cursor *in, uint32_t n, struct lp_log_text *out)
{
	struct index_planes index;
	uint64_t n_entries;
	int r = entries_count(in, n, &n_entries);

	if (r == 0)
		r = text_entries_read(d, in, n_entries);
	if (r == 0)
		r = index_find(in, n, &index);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t entry = index_get(&index, i);

		if (entry >= n_entries)
			return -EBADMSG;
		out[i] = d->text_entries[entry];
	}
	return 0;
}

/* Decode one field into its memory. */
static int field_decode(struct log_decoder *d, uint32_t field, struct cursor *in, uint32_t n)
{
	struct field_room *room = &d->rooms[field];
	uint8_t coding = cursor_u8(in);

	if (in->bad || coding > LOG_DICTIONARY)
		return -EBADMSG;
	if (d->fields[field].type == LP_LOG_TEXT) {
		if (coding != LOG_DICTIONARY)
			return -EBADMSG;
		if (array_reserve(&room->texts, &room->cap_texts, n, sizeof(*room->texts)) < 0)
			return -ENOMEM;
		return texts_by_dictionary(d, in, n, room->texts);
	}
	if (array_reserve(&room->ints, &room->cap_ints, n, sizeof(*room->ints)) < 0)
		return -ENOMEM;
	return coding == LOG_COLUMN ? ints_by_column(in, n, room->ints)
				    : ints_by_dictionary(d, in, n, room->ints);
}

/* The maximum size of a field of `n` integers. */
static uint64_t ints_size_max(uint32_t n)
{
	return 1 + column_size_max(1, n) + (uint64_t)n * 6;
}

/* The bytes of a field: the next ones in chunk 0, or a separate chunk. */
static int field_find(struct log_decoder *d, const struct frame *f, uint32_t field,
	struct cursor *packed, payload_read_fn read, void *read_ctx, struct cursor *ret,
	struct lp_err *err)
{
	bool text = d->fields[field].type == LP_LOG_TEXT;
	const char *bytes;
	size_t len;

	if (f->flags & FRAME_PACKED) {
		len = cursor_string(packed, &bytes);
		if (packed->bad)
			return damaged(err, "the fields are cut short");
		*ret = (struct cursor){
			.p = (const uint8_t *)bytes, .end = (const uint8_t *)bytes + len};
		return 0;
	}
	if (field + 1 >= d->chunks.n)
		return damaged(err, "a field's chunk is not there");
	if (!text && d->chunks.items[field + 1].raw > ints_size_max(f->n_samples))
		return damaged(err, "a field is impossibly long");
	return chunk_reader_load(&d->chunks, field + 1, text ? &d->rooms[field].raw : &d->field_raw,
		read, read_ctx, ret, err);
}

/* Read all fields of known types. */
static int values_read(struct log_decoder *d, const struct frame *f, struct cursor *packed,
	payload_read_fn read, void *read_ctx, struct lp_err *err)
{
	for (uint32_t i = 0; i < d->n_fields; i++) {
		struct cursor in = {0};
		bool known = d->fields[i].type <= LP_LOG_TEXT;
		int r = 0;

		if (known || f->flags & FRAME_PACKED)
			r = field_find(d, f, i, packed, read, read_ctx, &in, err);
		if (r < 0)
			return r;
		if (known)
			r = field_decode(d, i, &in, f->n_samples);
		if (r == -ENOMEM)
			return lp_err_sys(err, r, "cannot read a log");
		if (r < 0)
			return lp_err_set(err, r, "the field %s is invalid", d->fields[i].name);
	}
	return 0;
}

/* Leave out the fields of unknown types, and point to the values. */
static void log_describe(struct log_decoder *d, const struct frame *f, struct lp_log *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n_fields; i++) {
		if (d->fields[i].type > LP_LOG_TEXT)
			continue;
		d->fields[n] = d->fields[i];
		d->ints[n] = d->fields[i].type == LP_LOG_INT ? d->rooms[i].ints : NULL;
		d->texts[n] = d->fields[i].type == LP_LOG_TEXT ? d->rooms[i].texts : NULL;
		n++;
	}
	*ret = (struct lp_log){.name = d->place.name,
		.fields = d->fields,
		.n_fields = n,
		.first_record = d->place.first_record,
		.first_us = f->first_us,
		.last_us = f->last_us,
		.n_records = f->n_samples,
		.ints = d->ints,
		.texts = d->texts};
}

int log_decode(struct log_decoder *d, const struct frame *f, payload_read_fn read, void *read_ctx,
	struct lp_log *ret, struct lp_err *err)
{
	struct cursor in = {0};
	int r = head_read(d, f, read, read_ctx, err);

	if (r == 0)
		r = chunk_reader_load(&d->chunks, 0, &d->raw, read, read_ctx, &in, err);
	if (r == 0)
		r = fields_read(d, &in, err);
	if (r < 0)
		return r;
	if (!f->n_samples || f->n_samples > log_records_max(d->n_fields))
		return damaged(err, "the number of records is wrong");
	r = values_read(d, f, &in, read, read_ctx, err);
	if (r == 0)
		log_describe(d, f, ret);
	return r;
}
