#include "archive/format.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include <errno.h>

/* Like PNG's: a byte with the high bit set, then line ends that a text-mode copy would change. */
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

/* The fields between a header's magic and checksum; an index has them without those two, so that
 * nobody who looks for frames takes an entry of it for one. */
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
