#include "archive/chunks.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/crc32c.h"
#include <errno.h>
#include <pthread.h>

/* The minimum size of a chunk in the head: two varints and a checksum. */
#define CHUNK_ENTRY_MIN 6

void put_varint(struct strbuf *sb, uint64_t v)
{
	uint8_t buf[10];

	strbuf_add(sb, buf, (size_t)(write_varint(buf, v) - buf));
}

void put_string(struct strbuf *sb, const char *s)
{
	put_varint(sb, strlen(s));
	strbuf_puts(sb, s);
}

int chunk_writer_init(struct chunk_writer *w)
{
	*w = (struct chunk_writer){.zstd = ZSTD_createCCtx()};
	return w->zstd ? 0 : -ENOMEM;
}

void chunk_writer_release(struct chunk_writer *w)
{
	strbuf_release(&w->raw);
	strbuf_release(&w->tail);
	strbuf_release(&w->frame);
	strbuf_release(&w->head);
	strbuf_release(&w->chunks);
	ZSTD_freeCCtx(w->zstd);
	w->zstd = NULL;
}

void chunk_writer_begin(struct chunk_writer *w, int level)
{
	strbuf_reset(&w->raw);
	strbuf_reset(&w->tail);
	strbuf_reset(&w->head);
	strbuf_reset(&w->chunks);
	w->n = 0;
	w->level = level;
}

int chunk_writer_end_chunk(struct chunk_writer *w)
{
	size_t bound = ZSTD_compressBound(w->raw.len), size;
	uint8_t crc[4];
	size_t at = w->chunks.len;

	if (w->raw.failed || w->raw.len > CHUNK_RAW_MAX)
		return w->raw.failed ? -ENOMEM : -EFBIG;
	strbuf_reserve(&w->chunks, bound);
	if (w->chunks.failed)
		return -ENOMEM;
	size = ZSTD_compressCCtx(
		w->zstd, w->chunks.text + at, bound, w->raw.text, w->raw.len, w->level);
	if (ZSTD_isError(size) || size >= w->raw.len) {
		strbuf_add(&w->chunks, w->raw.text, w->raw.len);
		size = w->raw.len;
	} else {
		w->chunks.len += size;
	}
	put_varint(&w->head, size);
	put_varint(&w->head, w->raw.len);
	put_u32(crc, crc32c(0, w->chunks.text + at, size));
	strbuf_add(&w->head, crc, 4);
	w->n++;
	strbuf_reset(&w->raw);
	return w->head.failed ? -ENOMEM : 0;
}

/* zstd allocates its work space for the number of bytes. */
int chunk_writer_make_room(struct chunk_writer *w, struct strbuf *more)
{
	size_t room = w->raw.len + w->raw.len / 2 + 1024, bound = ZSTD_compressBound(room);
	_cleanup_free_ uint8_t *zeroes = NULL;

	if (w->raw.len <= w->room)
		return 0;
	zeroes = calloc(1, room);
	strbuf_reserve(&w->raw, room);
	strbuf_reserve(more, room);
	strbuf_reserve(&w->chunks, bound);
	strbuf_reserve(&w->frame, 2 * bound);
	if (!zeroes || w->raw.failed || more->failed || w->chunks.failed || w->frame.failed)
		return -ENOMEM;
	ZSTD_compressCCtx(w->zstd, w->chunks.text + w->chunks.len, bound, zeroes, room, w->level);
	w->room = room;
	return 0;
}

int chunk_writer_finish(struct chunk_writer *w, struct frame *f)
{
	uint8_t header[FRAME_HEADER_SIZE] = {0}, count[10];
	size_t count_len = (size_t)(write_varint(count, w->n) - count);
	size_t head_size = count_len + w->head.len + w->tail.len;

	if (w->chunks.len > PAYLOAD_MAX - head_size)
		return -EFBIG;
	f->head_size = (uint32_t)head_size;
	f->payload_size = f->head_size + (uint32_t)w->chunks.len;
	strbuf_reset(&w->frame);
	strbuf_add(&w->frame, header, sizeof(header));
	strbuf_add(&w->frame, count, count_len);
	strbuf_add(&w->frame, w->head.text, w->head.len);
	strbuf_add(&w->frame, w->tail.text, w->tail.len);
	strbuf_add(&w->frame, w->chunks.text, w->chunks.len);
	if (w->frame.failed || w->tail.failed)
		return -ENOMEM;
	f->head_crc = crc32c(0, w->frame.text + FRAME_HEADER_SIZE, f->head_size);
	format_put_frame((uint8_t *)w->frame.text, f);
	return 0;
}

int payload_read_memory(void *ctx, uint64_t offset, void *buf, size_t size)
{
	memcpy(buf, (const uint8_t *)ctx + offset, size);
	return 0;
}

void chunk_reader_release(struct chunk_reader *r)
{
	strbuf_release(&r->head);
	strbuf_release(&r->stored);
	free(r->items);
	*r = (struct chunk_reader){0};
}

static int damaged(struct lp_err *err, const char *what)
{
	return lp_err_set(err, -EBADMSG, "%s", what);
}

/* Read the list of chunks at the beginning of the head. */
static int list_read(
	struct chunk_reader *r, const struct frame *f, struct cursor *in, struct lp_err *err)
{
	uint64_t offset = f->head_size, n = cursor_varint(in);

	if (n < 1 || n > f->head_size / CHUNK_ENTRY_MIN ||
		array_reserve(&r->items, &r->cap, n, sizeof(*r->items)) < 0)
		return damaged(err, "the frame's list of chunks is wrong");
	for (uint64_t i = 0; i < n && !in->bad; i++) {
		uint64_t stored = cursor_varint(in), raw = cursor_varint(in);

		if (stored > PAYLOAD_MAX || raw > CHUNK_RAW_MAX)
			return damaged(err, "a chunk is impossibly large");
		r->items[i] =
			(struct chunk){offset, (uint32_t)stored, (uint32_t)raw, cursor_u32(in)};
		offset += stored;
	}
	if (in->bad || offset != f->payload_size)
		return damaged(err, "the frame's list of chunks is wrong");
	r->n = n;
	return 0;
}

int chunk_reader_begin(struct chunk_reader *r, const struct frame *f, payload_read_fn read,
	void *read_ctx, struct cursor *ret_tail, struct lp_err *err)
{
	struct cursor in;
	int got;

	strbuf_reset(&r->head);
	strbuf_reserve(&r->head, f->head_size);
	if (r->head.failed)
		return lp_err_sys(err, -ENOMEM, "cannot read a frame");
	got = read(read_ctx, 0, r->head.text, f->head_size);
	if (got < 0)
		return lp_err_sys(err, got, "cannot read a frame");
	if (crc32c(0, r->head.text, f->head_size) != f->head_crc)
		return damaged(err, "the frame's list of chunks has a wrong checksum");
	in = (struct cursor){.p = (uint8_t *)r->head.text};
	in.end = in.p + f->head_size;
	got = list_read(r, f, &in, err);
	if (got == 0)
		*ret_tail = in;
	return got;
}

/* Decompression needs 160 kB. All readers of a thread share them, because a collector follows
 * thousands of files. They are freed with the thread. */
static pthread_once_t zstd_once = PTHREAD_ONCE_INIT;
static pthread_key_t zstd_key;
static bool zstd_has_key;

static void zstd_free(void *zstd)
{
	ZSTD_freeDCtx(zstd);
}

static void zstd_make_key(void)
{
	zstd_has_key = pthread_key_create(&zstd_key, zstd_free) == 0;
}

/* The decompressor of this thread; NULL: out of memory. */
static ZSTD_DCtx *zstd_of_thread(void)
{
	ZSTD_DCtx *zstd;

	pthread_once(&zstd_once, zstd_make_key);
	if (!zstd_has_key)
		return NULL;
	zstd = pthread_getspecific(zstd_key);
	if (zstd)
		return zstd;
	zstd = ZSTD_createDCtx();
	if (zstd && pthread_setspecific(zstd_key, zstd) != 0) {
		ZSTD_freeDCtx(zstd);
		return NULL;
	}
	return zstd;
}

int chunk_reader_load(struct chunk_reader *r, size_t i, struct strbuf *out, payload_read_fn read,
	void *read_ctx, struct cursor *ret, struct lp_err *err)
{
	const struct chunk *c = &r->items[i];
	bool plain = c->stored == c->raw;
	struct strbuf *stored = plain ? out : &r->stored;
	size_t size;
	int got;

	strbuf_reset(stored);
	strbuf_reserve(stored, c->stored);
	strbuf_reset(out);
	strbuf_reserve(out, c->raw);
	if (stored->failed || out->failed)
		return lp_err_sys(err, -ENOMEM, "cannot read a chunk");
	got = read(read_ctx, c->offset, stored->text, c->stored);
	if (got < 0)
		return lp_err_sys(err, got, "cannot read a chunk");
	if (crc32c(0, stored->text, c->stored) != c->crc)
		return damaged(err, "a chunk has a wrong checksum");
	if (!plain) {
		ZSTD_DCtx *zstd = zstd_of_thread();

		if (!zstd)
			return lp_err_sys(err, -ENOMEM, "cannot read a chunk");
		size = ZSTD_decompressDCtx(zstd, out->text, c->raw, stored->text, c->stored);
		if (ZSTD_isError(size) || size != c->raw)
			return damaged(err, "a chunk does not decompress");
	}
	*ret = (struct cursor){.p = (uint8_t *)out->text, .end = (uint8_t *)out->text + c->raw};
	return 0;
}

bool chunks_sound(const struct frame *f, const uint8_t *payload)
{
	struct cursor in = {.p = payload, .end = payload + f->head_size};
	uint64_t n = cursor_varint(&in), at = f->head_size;

	for (uint64_t i = 0; i < n && !in.bad; i++) {
		uint64_t stored = cursor_varint(&in);
		uint32_t crc;

		cursor_varint(&in);
		crc = cursor_u32(&in);
		if (in.bad || stored > f->payload_size - at ||
			crc32c(0, payload + at, stored) != crc)
			return false;
		at += stored;
	}
	return !in.bad && at == f->payload_size;
}

uint64_t chunks_raw_size(const struct frame *f, const uint8_t *payload)
{
	struct cursor in = {.p = payload, .end = payload + f->head_size};
	uint64_t n = cursor_varint(&in), sum = 0;

	for (uint64_t i = 0; i < n && !in.bad; i++) {
		uint64_t raw;

		cursor_varint(&in);
		raw = cursor_varint(&in);
		cursor_u32(&in);
		if (raw > CHUNK_RAW_MAX)
			return UINT64_MAX;
		sum += raw;
	}
	return in.bad ? UINT64_MAX : sum;
}
