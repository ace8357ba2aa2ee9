#include "archive/frames.h"

#include "archive/chunks.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "base/strbuf.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* As in PNG: a byte with the high bit set, then line ends that a text-mode copy would change. */
static const uint8_t file_magic[8] = {0x89, 'L', 'P', 'A', '\r', '\n', 0x1a, '\n'};
static const uint8_t frame_magic[4] = {0xf5, 'L', 'P', 'F'};
static const uint8_t trailer_magic[4] = {0xf5, 'L', 'P', 'E'};

void format_put_file_header(uint8_t buf[FILE_HEADER_SIZE])
{
	memcpy(buf, file_magic, 8);
	put_u16(buf + 8, FORMAT_MAJOR);
	put_u16(buf + 10, FORMAT_MINOR);
	put_u32(buf + 12, crc32c(0, buf, 12));
}

int format_check_file_header(const uint8_t *buf, size_t size, struct lp_err *err)
{
	if (size == 0)
		return lp_err_set(err, -EBADMSG, "the file is empty");
	if (size < FILE_HEADER_SIZE || memcmp(buf, file_magic, 8))
		return lp_err_set(
			err, -EBADMSG, "not a limpet archive (bytes 0-7 are not its magic)");
	if (get_u32(buf + 12) != crc32c(0, buf, 12))
		return lp_err_set(err, -EBADMSG, "the file header (bytes 0-15) is damaged");
	if (get_u16(buf + 8) != FORMAT_MAJOR)
		return lp_err_set(err, -EPROTONOSUPPORT,
			"format %u.%u is newer than this limpet reads (%u.x): use the limpet that "
			"wrote it",
			get_u16(buf + 8), get_u16(buf + 10), FORMAT_MAJOR);
	return 0;
}

/* The fields between the magic and the checksum of a header. An index has only these, so that a
 * search for frames does not find its entries. */
static void put_fields(uint8_t buf[FRAME_FIELDS_SIZE], const struct frame *f)
{
	buf[0] = f->type;
	buf[1] = f->flags;
	put_u16(buf + 2, 0);
	put_u32(buf + 4, f->payload_size);
	put_u32(buf + 8, f->head_size);
	put_u32(buf + 12, f->head_crc);
	put_u32(buf + 16, f->n_samples);
	put_u64(buf + 20, (uint64_t)f->first_us);
	put_u64(buf + 28, (uint64_t)f->last_us);
}

static bool get_fields(const uint8_t buf[FRAME_FIELDS_SIZE], struct frame *ret)
{
	struct frame f = {
		.type = buf[0],
		.flags = buf[1],
		.payload_size = get_u32(buf + 4),
		.head_size = get_u32(buf + 8),
		.head_crc = get_u32(buf + 12),
		.n_samples = get_u32(buf + 16),
		.first_us = (int64_t)get_u64(buf + 20),
		.last_us = (int64_t)get_u64(buf + 28),
	};

	if (f.payload_size > PAYLOAD_MAX || f.head_size > f.payload_size)
		return false;
	*ret = f;
	return true;
}

void format_put_frame(uint8_t buf[FRAME_HEADER_SIZE], const struct frame *f)
{
	memcpy(buf, frame_magic, 4);
	put_fields(buf + 4, f);
	put_u32(buf + 40, crc32c(0, buf, 40));
}

bool format_is_frame_magic(const uint8_t *p)
{
	return !memcmp(p, frame_magic, 4);
}

bool format_get_frame(const uint8_t buf[FRAME_HEADER_SIZE], struct frame *ret)
{
	return format_is_frame_magic(buf) && get_u32(buf + 40) == crc32c(0, buf, 40) &&
		get_fields(buf + 4, ret);
}

void format_put_entry(uint8_t buf[INDEX_ENTRY_SIZE], const struct frame *f)
{
	put_u64(buf, f->offset);
	put_fields(buf + 8, f);
}

bool format_get_entry(const uint8_t buf[INDEX_ENTRY_SIZE], struct frame *ret)
{
	if (!get_fields(buf + 8, ret))
		return false;
	ret->offset = get_u64(buf);
	return true;
}

void format_put_trailer(uint8_t buf[TRAILER_SIZE], uint64_t index_offset)
{
	put_u64(buf, index_offset);
	memcpy(buf + 8, trailer_magic, 4);
	put_u32(buf + 12, crc32c(0, buf, 12));
}

bool format_get_trailer(const uint8_t buf[TRAILER_SIZE], uint64_t *ret_index_offset)
{
	if (memcmp(buf + 8, trailer_magic, 4) || get_u32(buf + 12) != crc32c(0, buf, 12))
		return false;
	*ret_index_offset = get_u64(buf);
	return true;
}

bool frames_are_closed(int fd)
{
	uint8_t trailer[TRAILER_SIZE];
	struct stat st;
	uint64_t index;

	return fstat(fd, &st) == 0 && st.st_size > FILE_HEADER_SIZE + TRAILER_SIZE &&
		file_pread_full(fd, trailer, sizeof(trailer), st.st_size - TRAILER_SIZE) ==
		TRAILER_SIZE &&
		format_get_trailer(trailer, &index) && index < (uint64_t)st.st_size;
}

#define WALK_PIECE 65536

void frame_list_release(struct frame_list *l)
{
	free(l->items);
	free(l->gaps);
	*l = (struct frame_list){0};
}

int frame_list_add(struct frame_list *l, const struct frame *f)
{
	if (array_reserve(&l->items, &l->cap, l->n + 1, sizeof(*l->items)) < 0)
		return -ENOMEM;
	l->items[l->n++] = *f;
	return 0;
}

int frame_list_reserve(struct frame_list *l, size_t more)
{
	return array_reserve(&l->items, &l->cap, l->n + more, sizeof(*l->items));
}

static int gap_add(struct frame_list *l, uint64_t from, uint64_t to)
{
	if (array_reserve(&l->gaps, &l->cap_gaps, l->n_gaps + 1, sizeof(*l->gaps)) < 0)
		return -ENOMEM;
	l->gaps[l->n_gaps++] = (struct frame_gap){from, to};
	return 0;
}

int frame_read_into(int fd, const struct frame *f, uint8_t *payload, struct lp_err *err)
{
	ssize_t n = file_pread_full(
		fd, payload, f->payload_size, (off_t)(f->offset + FRAME_HEADER_SIZE));

	if (n < 0)
		return lp_err_sys(err, (int)n, "cannot read a frame");
	if ((size_t)n != f->payload_size)
		return lp_err_set(err, -EBADMSG, "a frame has a wrong checksum");
	return frame_check(f, payload, err);
}

int frame_check(const struct frame *f, const uint8_t *payload, struct lp_err *err)
{
	bool has_chunks = f->type == FRAME_DATA || f->type == FRAME_LOG;

	if (crc32c(0, payload, f->head_size) != f->head_crc)
		return lp_err_set(err, -EBADMSG, "a frame has a wrong checksum");
	if (f->type <= FRAME_INDEX && f->type != FRAME_DATA && f->head_size != f->payload_size)
		return lp_err_set(err, -EBADMSG, "a frame has bytes without a checksum");
	if (has_chunks && !chunks_sound(f, payload))
		return lp_err_set(err, -EBADMSG, "a %s frame has a wrong checksum",
			f->type == FRAME_DATA ? "data" : "log");
	return 0;
}

uint32_t frame_sum(uint32_t sum, const struct frame *f)
{
	uint8_t header[FRAME_HEADER_SIZE];

	format_put_frame(header, f);
	return crc32c(sum, header, sizeof(header));
}

int frame_read(int fd, const struct frame *f, uint8_t **ret_payload, struct lp_err *err)
{
	_cleanup_free_ uint8_t *payload = malloc((size_t)f->payload_size + 1);
	int r;

	if (!payload)
		return lp_err_sys(err, -ENOMEM, "cannot read a frame");
	r = frame_read_into(fd, f, payload, err);
	if (r == 0)
		*ret_payload = TAKE_PTR(payload);
	return r;
}

int frame_payload_read(void *payload, uint64_t offset, void *buf, size_t size)
{
	const struct frame_payload *p = payload;
	uint64_t begin = p->frame->offset + FRAME_HEADER_SIZE;
	ssize_t n = file_pread_full(p->fd, buf, size, (off_t)(begin + offset));

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EIO;
}

/* The frame at `offset`, if it has an intact header and ends within the file. */
static int frame_at(int fd, uint64_t offset, uint64_t size, struct frame *ret)
{
	uint8_t buf[FRAME_HEADER_SIZE];
	ssize_t n = file_pread_full(fd, buf, sizeof(buf), (off_t)offset);
	struct frame f;

	if (n < 0)
		return (int)n;
	if (n < FRAME_HEADER_SIZE || !format_get_frame(buf, &f))
		return 0;
	f.offset = offset;
	if (frame_end(&f) > size)
		return 0;
	*ret = f;
	return 1;
}

int frame_seek(int fd, uint64_t offset, uint64_t size, uint64_t *ret)
{
	uint8_t piece[WALK_PIECE];

	while (offset < size) {
		ssize_t n = file_pread_full(fd, piece, sizeof(piece), (off_t)offset);
		struct frame f;

		if (n < 0)
			return (int)n;
		if (n < 4)
			break;
		for (ssize_t i = 0; i + 4 <= n; i++) {
			if (!format_is_frame_magic(piece + i))
				continue;
			*ret = offset + (uint64_t)i;
			if (frame_at(fd, *ret, size, &f) > 0)
				return 0;
		}
		offset += (uint64_t)n - 3; /* a magic may be split between two pieces */
	}
	*ret = size;
	return 0;
}

static bool tail_is_zero(int fd, uint64_t from, uint64_t size)
{
	uint8_t piece[4096];

	while (from < size) {
		ssize_t n = file_pread_full(fd, piece, sizeof(piece), (off_t)from);

		if (n <= 0)
			return false;
		for (ssize_t i = 0; i < n; i++) {
			if (piece[i])
				return false;
		}
		from += (uint64_t)n;
	}
	return true;
}

/* A walk ended before the end of the file: was the writer killed, or is it damage? A killed writer
 * leaves the beginning of a frame, or (after power loss) zeroes. */
static bool tail_unfinished(int fd, uint64_t from, uint64_t size)
{
	uint8_t header[FRAME_HEADER_SIZE];
	struct frame f;

	if (size - from < FRAME_HEADER_SIZE)
		return true;
	if (file_pread_full(fd, header, sizeof(header), (off_t)from) != FRAME_HEADER_SIZE)
		return false;
	/* The header is intact, so only the end of the frame is missing. */
	return format_get_frame(header, &f) || tail_is_zero(fd, from, size);
}

/* Record the bytes between the last intact frame and the next one (or the end). */
static int walk_gap(struct frame_list *l, int fd, uint64_t from, uint64_t to)
{
	if (to == l->size && tail_unfinished(fd, from, to)) {
		l->unfinished = to - from;
		return 0;
	}
	return gap_add(l, from, to);
}

/* After an index frame comes the trailer of a closed file, a part of it if the writer was killed at
 * that point, or a damaged one. The index itself is no longer needed: it is not in the list, and
 * the next frame may replace it. */
static int walk_trailer(struct frame_list *l, int fd)
{
	const struct frame *index = &l->items[l->n - 1];
	_cleanup_free_ uint8_t *payload = NULL;
	uint64_t offset = frame_end(index), index_offset;
	uint8_t buf[TRAILER_SIZE];
	struct lp_err err = {0};
	ssize_t n = file_pread_full(fd, buf, sizeof(buf), (off_t)offset);
	int r;

	if (n < 0)
		return (int)n;
	l->end = index->offset;
	l->n--;
	if (n < TRAILER_SIZE) {
		l->unfinished = l->size - index->offset;
		return 0;
	}
	l->sealed = true;
	if (!format_get_trailer(buf, &index_offset) || index_offset != index->offset)
		return gap_add(l, offset, l->size);
	r = frame_read(fd, index, &payload, &err);
	if (r != -EBADMSG)
		return r;
	return gap_add(l, index->offset, offset);
}

/* Is the last frame that was found the index at the end of the file? */
static bool walk_at_index(const struct frame_list *l)
{
	return l->n && l->items[l->n - 1].type == FRAME_INDEX &&
		l->size - frame_end(&l->items[l->n - 1]) <= TRAILER_SIZE;
}

/* If power failed while the last frame was written, it may have its full length but not its
 * contents. */
static int walk_check_last(struct frame_list *l, int fd)
{
	_cleanup_free_ uint8_t *payload = NULL;
	struct lp_err err = {0};
	int r;

	if (!l->n || l->unfinished || frame_end(&l->items[l->n - 1]) != l->size)
		return 0;
	r = frame_read(fd, &l->items[l->n - 1], &payload, &err);
	if (r != -EBADMSG)
		return r;
	l->n--;
	l->end = l->items[l->n].offset;
	l->unfinished = l->size - l->end;
	return 0;
}

/* Find the frames one after the other, and the gaps between them. */
static int frames_walk(int fd, struct frame_list *l)
{
	uint64_t offset = FILE_HEADER_SIZE;
	struct frame f;
	int r;

	l->end = offset;
	while (offset < l->size) {
		r = frame_at(fd, offset, l->size, &f);
		if (r > 0) {
			r = frame_list_add(l, &f);
			offset = l->end = frame_end(&f);
		} else if (r == 0) {
			uint64_t next = l->size;

			r = frame_seek(fd, offset + 1, l->size, &next);
			if (r == 0)
				r = walk_gap(l, fd, offset, next);
			offset = next;
		}
		if (r < 0)
			return r;
		if (walk_at_index(l))
			return walk_trailer(l, fd);
	}
	return walk_check_last(l, fd);
}

int frame_list_encode(const struct frame_list *l, uint8_t **ret_bytes, size_t *ret_size)
{
	size_t payload_size = l->n * INDEX_ENTRY_SIZE;
	size_t size = FRAME_HEADER_SIZE + payload_size + TRAILER_SIZE;
	uint8_t *bytes = calloc(1, size), *p;
	struct frame index = {.type = FRAME_INDEX, .offset = l->end};

	if (!bytes)
		return -ENOMEM;
	p = bytes + FRAME_HEADER_SIZE;
	if (payload_size > PAYLOAD_MAX) {
		free(bytes);
		return -EFBIG;
	}
	for (size_t i = 0; i < l->n; i++, p += INDEX_ENTRY_SIZE)
		format_put_entry(p, &l->items[i]);
	index.payload_size = index.head_size = (uint32_t)payload_size;
	index.head_crc = crc32c(0, bytes + FRAME_HEADER_SIZE, payload_size);
	format_put_frame(bytes, &index);
	format_put_trailer(p, l->end);
	*ret_bytes = bytes;
	*ret_size = size;
	return 0;
}

/* Read the list from the payload of an index frame. False: it is invalid, walk instead. Bytes
 * between its frames were damaged when the index was written. */
static bool index_take(struct frame_list *l, const struct frame *index, const uint8_t *payload)
{
	uint64_t expected = FILE_HEADER_SIZE;

	if (index->payload_size % INDEX_ENTRY_SIZE)
		return false;
	for (const uint8_t *p = payload; p < payload + index->payload_size; p += INDEX_ENTRY_SIZE) {
		struct frame f;

		if (!format_get_entry(p, &f))
			return false;
		if (f.offset < expected || f.offset > index->offset ||
			frame_end(&f) > index->offset || frame_list_add(l, &f) < 0)
			return false;
		if (f.offset > expected && gap_add(l, expected, f.offset) < 0)
			return false;
		expected = frame_end(&f);
	}
	if (expected < index->offset && gap_add(l, expected, index->offset) < 0)
		return false;
	l->end = index->offset;
	l->sealed = true;
	return true;
}

/* Read the index to which the trailer points, if both are intact. */
static bool index_load(int fd, struct frame_list *l)
{
	_cleanup_free_ uint8_t *payload = NULL;
	uint8_t trailer[TRAILER_SIZE];
	struct lp_err err = {0};
	struct frame index;
	uint64_t offset;

	if (l->size < FILE_HEADER_SIZE + FRAME_HEADER_SIZE + TRAILER_SIZE ||
		file_pread_full(fd, trailer, TRAILER_SIZE, (off_t)(l->size - TRAILER_SIZE)) !=
			TRAILER_SIZE ||
		!format_get_trailer(trailer, &offset) ||
		frame_at(fd, offset, l->size - TRAILER_SIZE, &index) <= 0 ||
		index.type != FRAME_INDEX || frame_end(&index) != l->size - TRAILER_SIZE)
		return false;
	if (frame_read(fd, &index, &payload, &err) == 0 && index_take(l, &index, payload))
		return true;
	l->n = l->n_gaps = 0;
	return false;
}

/* Begin a list: the size of the file and the result of checking its header. */
static int list_begin(int fd, struct frame_list *l, struct lp_err *err)
{
	uint8_t header[FILE_HEADER_SIZE];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return lp_err_sys(err, -errno, "cannot stat");
	l->size = (uint64_t)st.st_size;
	n = file_pread_full(fd, header, sizeof(header), 0);
	if (n < 0)
		return lp_err_sys(err, (int)n, "cannot read");
	return format_check_file_header(header, (size_t)n, err);
}

int frame_list_load(int fd, struct frame_list *ret, struct lp_err *err)
{
	struct frame_list l = {0};
	int r = list_begin(fd, &l, err);

	if (r < 0)
		return r;
	if (!index_load(fd, &l)) {
		r = frames_walk(fd, &l);
		if (r < 0) {
			frame_list_release(&l);
			return lp_err_sys(err, r, "cannot read");
		}
	}
	*ret = l;
	return 0;
}

/* With an intact index, only the headers in the file must be verified. A frame with a damaged
 * header stays in the list, because the index has a copy. */
static int headers_verify(int fd, struct frame_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct frame *f = &l->items[i];
		uint8_t buf[FRAME_HEADER_SIZE], expected[FRAME_HEADER_SIZE];
		ssize_t n = file_pread_full(fd, buf, sizeof(buf), (off_t)f->offset);
		int r = 0;

		if (n < 0)
			return (int)n;
		format_put_frame(expected, f);
		if (n != FRAME_HEADER_SIZE || memcmp(buf, expected, sizeof(buf)))
			r = gap_add(l, f->offset, f->offset + FRAME_HEADER_SIZE);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Gaps found so far (the file header) stay. */
static int walk_or_verify(int fd, struct frame_list *l)
{
	struct frame_list indexed = {.size = l->size};
	int r = 0;

	if (!index_load(fd, &indexed)) {
		frame_list_release(&indexed);
		return frames_walk(fd, l);
	}
	for (size_t i = 0; i < l->n_gaps && r == 0; i++)
		r = gap_add(&indexed, l->gaps[i].from, l->gaps[i].to);
	frame_list_release(l);
	*l = indexed;
	return r < 0 ? r : headers_verify(fd, l);
}

int frame_list_walk(int fd, struct frame_list *ret, struct lp_err *err)
{
	struct frame_list l = {0};
	struct lp_err header_err = {0};
	int header = list_begin(fd, &l, &header_err), r = 0;

	if (header < 0 && header != -EBADMSG) {
		*err = header_err;
		return header;
	}
	if (header < 0)
		r = gap_add(&l, 0, l.size < FILE_HEADER_SIZE ? l.size : FILE_HEADER_SIZE);
	if (r == 0)
		r = walk_or_verify(fd, &l);
	if (r == 0 && header < 0 && !l.n) {
		*err = header_err; /* this is not a damaged archive, but no archive at all */
		r = header;
	} else if (r < 0) {
		lp_err_sys(err, r, "cannot read");
	}
	if (r < 0) {
		frame_list_release(&l);
		return r;
	}
	*ret = l;
	return 0;
}
