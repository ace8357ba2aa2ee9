#include "archive/catalogue_codec.h"

#include "archive/chunks.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define METHOD_PLAIN 0
#define METHOD_ZSTD 1
#define CATALOGUE_LEVEL 9

/* The maximum size of a catalogue, enough for a million components with labels, and its maximum
 * compression ratio: a frame of a few bytes that unpacks to megabytes is an attack. */
#define CATALOGUE_RAW_MAX (UINT64_C(1) << 26)
#define CATALOGUE_RATIO_MAX 256
#define CATALOGUE_SMALL 65536

static uint64_t raw_limit(uint64_t stored)
{
	uint64_t limit = CATALOGUE_SMALL + CATALOGUE_RATIO_MAX * stored;

	return limit < CATALOGUE_RAW_MAX ? limit : CATALOGUE_RAW_MAX;
}

static void put_schema(struct strbuf *sb, const struct lp_schema *s)
{
	put_string(sb, s->kind);
	put_varint(sb, s->n_columns);
	for (uint32_t i = 0; i < s->n_columns; i++) {
		put_string(sb, s->columns[i].name);
		put_string(sb, s->columns[i].unit);
		strbuf_putc(sb, (char)s->columns[i].type);
		strbuf_putc(sb, (char)s->columns[i].bits);
		put_string(sb, "");
	}
}

static void put_component(struct strbuf *sb, uint32_t id, const struct lp_component *c)
{
	put_varint(sb, id);
	put_varint(sb, c->schema);
	put_string(sb, c->observer);
	put_string(sb, c->name);
	put_string(sb, c->labels);
	put_string(sb, "");
}

/* Write method, length, and the bytes. */
static int put_compressed(struct strbuf *out, const struct strbuf *raw)
{
	size_t bound = ZSTD_compressBound(raw->len), start = out->len, size;

	strbuf_putc(out, METHOD_ZSTD);
	put_varint(out, raw->len);
	strbuf_reserve(out, bound);
	if (out->failed)
		return -ENOMEM;
	size = ZSTD_compress(out->text + out->len, bound, raw->text, raw->len, CATALOGUE_LEVEL);
	if (ZSTD_isError(size))
		return -EIO;
	if (size < raw->len && raw->len <= raw_limit(size)) {
		out->len += size;
		return 0;
	}
	out->len = start;
	strbuf_putc(out, METHOD_PLAIN);
	put_varint(out, raw->len);
	strbuf_add(out, raw->text, raw->len);
	return out->failed ? -ENOMEM : 0;
}

int catalogue_encode(struct strbuf *out, const char *meta, const struct lp_catalogue *c,
	uint32_t first_schema, uint32_t first_component)
{
	_cleanup_(strbuf_release) struct strbuf raw = {0};

	put_string(&raw, meta);
	put_varint(&raw, first_schema);
	put_varint(&raw, c->n_schemas - first_schema);
	for (uint32_t i = first_schema; i < c->n_schemas; i++)
		put_schema(&raw, &c->schemas[i]);
	put_varint(&raw, c->n_components - first_component);
	for (uint32_t i = first_component; i < c->n_components; i++)
		put_component(&raw, i, &c->components[i]);
	if (raw.failed)
		return -ENOMEM;
	if (raw.len > CATALOGUE_RAW_MAX)
		return -EFBIG;
	return put_compressed(out, &raw);
}

/* A copy of a string, or NULL and `in->bad`. */
static char *take_string(struct cursor *in)
{
	const char *text;
	size_t len = cursor_string(in, &text);
	char *copy;

	/* A NUL would truncate the name. */
	if (in->bad || (len && memchr(text, '\0', len))) {
		in->bad = true;
		return NULL;
	}
	copy = strndup(len ? text : "", len);
	in->bad = !copy;
	return copy;
}

static void skip_string(struct cursor *in)
{
	const char *text;

	cursor_string(in, &text);
}

static void columns_free(struct lp_column *columns, uint64_t n)
{
	for (uint64_t i = 0; columns && i < n; i++) {
		free((char *)columns[i].name);
		free((char *)columns[i].unit);
	}
	free(columns);
}

static int take_schema(struct cursor *in, struct lp_catalogue *c, uint64_t number,
	uint32_t *deferred, struct lp_err *err)
{
	_cleanup_free_ char *kind = take_string(in);
	uint64_t n = cursor_varint(in);
	struct lp_column *columns;
	uint32_t placed;
	int r = 0;

	if (in->bad || n > LP_COLUMNS_MAX || number >= CATALOGUE_SCHEMAS_MAX)
		return lp_err_set(err, -EBADMSG, "the catalogue's schemas are invalid");
	columns = calloc(n + 1, sizeof(*columns));
	for (uint64_t i = 0; columns && i < n; i++) {
		columns[i].name = take_string(in);
		columns[i].unit = take_string(in);
		columns[i].type = cursor_u8(in);
		columns[i].bits = cursor_u8(in);
		skip_string(in);
		if (columns[i].type > LP_REAL)
			in->bad = true;
	}
	if (!columns || in->bad) {
		r = lp_err_set(
			err, columns ? -EBADMSG : -ENOMEM, "the catalogue's schemas are invalid");
	} else if (number > c->n_schemas) {
		++*deferred;
	} else {
		struct lp_schema s = {.kind = kind, .columns = columns, .n_columns = (uint32_t)n};

		r = lp_catalogue_add_schema(c, &s, &placed, err);
		if (r == 0 && placed != number)
			r = lp_err_set(err, -EBADMSG, "the catalogue contradicts itself");
	}
	columns_free(columns, n);
	return r;
}

static int take_component(
	struct cursor *in, struct lp_catalogue *c, uint32_t *deferred, struct lp_err *err)
{
	uint64_t id = cursor_varint(in), schema = cursor_varint(in);
	_cleanup_free_ char *observer = take_string(in);
	_cleanup_free_ char *name = take_string(in);
	_cleanup_free_ char *labels = take_string(in);
	uint32_t placed;
	int r;

	skip_string(in);
	if (in->bad || !observer || !name || !labels)
		return lp_err_set(err, -EBADMSG, "the catalogue's components are invalid");
	if (id >= CATALOGUE_COMPONENTS_MAX)
		return lp_err_set(err, -EBADMSG, "the catalogue has too many components");
	if (id > c->n_components || schema >= c->n_schemas) {
		++*deferred;
		return 0;
	}
	r = lp_catalogue_add_component(c, (uint32_t)schema, observer, name, labels, &placed, err);
	if (r == 0 && placed != id)
		r = lp_err_set(err, -EBADMSG, "the catalogue contradicts itself");
	return r;
}

static int take_contents(struct cursor *in, struct lp_catalogue *c, char **meta,
	uint32_t *ret_deferred, struct lp_err *err)
{
	_cleanup_free_ char *new_meta = take_string(in);
	uint64_t first = cursor_varint(in), n_schemas = cursor_varint(in), n_components;
	uint32_t deferred = 0;
	int r = 0;

	if (in->bad || !new_meta)
		return lp_err_set(err, -EBADMSG, "the catalogue is cut short");
	for (uint64_t i = 0; i < n_schemas && r == 0; i++)
		r = take_schema(in, c, first + i, &deferred, err);
	n_components = cursor_varint(in);
	for (uint64_t i = 0; i < n_components && r == 0; i++)
		r = take_component(in, c, &deferred, err);
	if (r == 0 && in->bad)
		r = lp_err_set(err, -EBADMSG, "the catalogue is cut short");
	if (r < 0)
		return r;
	free(*meta);
	*meta = TAKE_PTR(new_meta);
	*ret_deferred = deferred;
	return 0;
}

/* The contents of a payload. `*ret` is a cursor over them, in the payload or in `*raw`, which the
 * caller frees. */
static int contents_unpack(
	const uint8_t *payload, size_t size, uint8_t **raw, struct cursor *ret, struct lp_err *err)
{
	struct cursor in = {.p = payload, .end = payload + size};
	uint8_t method = cursor_u8(&in);
	uint64_t raw_size = cursor_varint(&in);
	size_t got;

	if (in.bad || method > METHOD_ZSTD || raw_size > raw_limit((uint64_t)(in.end - in.p)))
		return lp_err_set(err, -EBADMSG, "the catalogue is invalid");
	*ret = in;
	if (method == METHOD_PLAIN)
		return 0;
	*raw = malloc(raw_size + 1);
	if (!*raw)
		return lp_err_sys(err, -ENOMEM, "cannot read the catalogue");
	got = ZSTD_decompress(*raw, raw_size, in.p, (size_t)(in.end - in.p));
	if (ZSTD_isError(got) || got != raw_size)
		return lp_err_set(err, -EBADMSG, "the catalogue does not decompress");
	*ret = (struct cursor){.p = *raw, .end = *raw + raw_size};
	return 0;
}

int catalogue_decode(const uint8_t *payload, size_t size, struct lp_catalogue *c, char **meta,
	uint32_t *ret_deferred, struct lp_err *err)
{
	_cleanup_free_ uint8_t *raw = NULL;
	struct cursor in;
	int r = contents_unpack(payload, size, &raw, &in, err);

	return r < 0 ? r : take_contents(&in, c, meta, ret_deferred, err);
}

/* Does the next component belong to this observer? */
static int check_component(struct cursor *in, const char *observer, struct lp_err *err)
{
	size_t want = strlen(observer), len;
	const char *text;

	cursor_varint(in);
	cursor_varint(in);
	len = cursor_string(in, &text);
	if (!in->bad && (len != want || memcmp(text, observer, len) != 0))
		return lp_err_set(err, -EPERM, "a component is of '%.*s', not of '%s'",
			(int)(len < 80 ? len : 80), text, observer);
	for (int i = 0; i < 3; i++)
		skip_string(in);
	return 0;
}

/* Does the meta name this observer? */
static int check_meta(const char *meta, const char *observer, struct lp_err *err)
{
	size_t len = 0;
	const char *who = meta_find(meta, "observer", &len);

	if (who && len == strlen(observer) && !memcmp(who, observer, len))
		return 0;
	return lp_err_set(err, -EPERM, "the archive is of '%.*s', not of '%s'",
		(int)(len < 80 ? len : 80), who ? who : "", observer);
}

DEFINE_CLEANUP(struct lp_catalogue *, lp_catalogue_free);

int catalogue_check_observer(
	const uint8_t *payload, size_t size, const char *observer, struct lp_err *err)
{
	_cleanup_free_ uint8_t *raw = NULL;
	_cleanup_free_ char *meta = NULL;
	_cleanup_(lp_catalogue_freep) struct lp_catalogue *scratch = lp_catalogue_new();
	struct cursor in = {0};
	uint32_t deferred = 0;
	uint64_t first, n;
	int r = scratch ? contents_unpack(payload, size, &raw, &in, err) : -ENOMEM;

	if (r < 0)
		return r;
	meta = take_string(&in);
	r = meta ? check_meta(meta, observer, err)
		 : lp_err_set(err, -EBADMSG, "the catalogue is cut short");
	first = cursor_varint(&in);
	n = cursor_varint(&in);
	for (uint64_t i = 0; r == 0 && !in.bad && i < n; i++)
		r = take_schema(&in, scratch, first + i, &deferred, err);
	n = r == 0 ? cursor_varint(&in) : 0;
	for (uint64_t i = 0; r == 0 && !in.bad && i < n; i++)
		r = check_component(&in, observer, err);
	if (r == 0 && in.bad)
		r = lp_err_set(err, -EBADMSG, "the catalogue is cut short");
	return r;
}

char *meta_format(const struct lp_archive_meta *meta)
{
	struct strbuf sb = {0};

	strbuf_printf(&sb, "observer=%s\ninterval_us=%" PRId64 "\nlimpet=%s\n", meta->observer,
		meta->interval_us, LIMPET_VERSION);
	if (meta->extra)
		strbuf_puts(&sb, meta->extra);
	return strbuf_take(&sb);
}

const char *meta_find(const char *meta, const char *key, size_t *ret_len)
{
	size_t len = strlen(key);

	for (const char *line = meta; line && *line;) {
		size_t line_len = strcspn(line, "\n");

		if (line_len > len && !strncmp(line, key, len) && line[len] == '=') {
			*ret_len = line_len - len - 1;
			return line + len + 1;
		}
		line += line_len + (line[line_len] == '\n');
	}
	return NULL;
}

/* Apply the catalogue frames once, in file order; returns the number of damaged ones. */
static int meta_pass(int fd, const struct frame_list *frames, struct lp_catalogue *catalogue,
	char **meta, const struct meta_warn *warn, uint32_t *ret_deferred, struct lp_err *err)
{
	int damaged = 0;

	*ret_deferred = 0;
	for (size_t i = 0; i < frames->n; i++) {
		_cleanup_free_ uint8_t *payload = NULL;
		const struct frame *f = &frames->items[i];
		uint32_t deferred = 0;
		int r;

		if (f->type != FRAME_CATALOGUE)
			continue;
		r = frame_read(fd, f, &payload, err);
		if (r == 0)
			r = catalogue_decode(
				payload, f->payload_size, catalogue, meta, &deferred, err);
		if (r < 0 && r != -EBADMSG)
			return r;
		if (r < 0 && warn)
			lp_warn_raise(warn->to,
				"%s: the catalogue at byte %" PRIu64 " is damaged: %s", warn->path,
				f->offset, err->text);
		damaged += r < 0;
		*ret_deferred += deferred;
	}
	return damaged;
}

int meta_load(int fd, const struct frame_list *frames, struct lp_catalogue *catalogue, char **meta,
	const struct meta_warn *warn, struct lp_err *err)
{
	uint32_t deferred = 0;
	int r = meta_pass(fd, frames, catalogue, meta, warn, &deferred, err);

	/* Entries had to wait for a copy of a damaged frame. Copies are complete, so a second pass
	 * is enough. */
	if (r >= 0 && deferred)
		r = meta_pass(fd, frames, catalogue, meta, NULL, &deferred, err);
	if (r >= 0 && deferred && warn)
		lp_warn_raise(warn->to,
			"%s: %u entries of the catalogue cannot be placed, as others are lost",
			warn->path, deferred);
	return r < 0 ? r : r + (deferred > 0);
}
