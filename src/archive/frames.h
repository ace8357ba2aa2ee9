/* The frames of an archive: their bytes, as docs/archive-format.md specifies them, and the list of
 * the frames of a file. The list comes from the index or, if there is none, from a walk through the
 * file.
 *
 * After a damaged stretch, walking finds the next frame by its magic and checksum.
 */
#ifndef ARCHIVE_FRAMES_H
#define ARCHIVE_FRAMES_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORMAT_MAJOR 1
#define FORMAT_MINOR 1 /* 1.1 added logs */

#define FILE_HEADER_SIZE 16
#define FRAME_HEADER_SIZE 44
#define FRAME_FIELDS_SIZE 36 /* of a header, without magic and checksum */
#define INDEX_ENTRY_SIZE (8 + FRAME_FIELDS_SIZE)
#define TRAILER_SIZE 16

enum frame_type {
	FRAME_CATALOGUE = 1,
	FRAME_DATA = 2,
	FRAME_EVENT = 3,
	FRAME_INDEX = 4,
	FRAME_LOG = 5,
};

/* Flags of a data frame; log frames have only FRAME_PACKED. */
#define FRAME_KEY 1u	/* counters begin with their own base, without the previous frame */
#define FRAME_PACKED 2u /* all columns in one chunk (loose) */
#define FRAME_CARRY 4u	/* it continues the sample before its first one */
#define FRAME_FLAGS_KNOWN 7u

/* Limits that prevent a hostile file from using all memory. Writers split batches to stay below
 * them. */
#define FRAME_CELLS_MAX (UINT64_C(1) << 24) /* values in one data frame, all columns */
#define FRAME_SAMPLES_MAX 65536u
#define CHUNK_RAW_MAX (UINT64_C(1) << 28)
#define PAYLOAD_MAX (UINT32_C(1) << 30)
#define EVENT_MAX (UINT32_C(1) << 16)

/* A frame, as described by its header. */
struct frame {
	uint64_t offset; /* of its header in the file */
	uint8_t type;
	uint8_t flags;
	uint32_t payload_size; /* bytes after the header */
	uint32_t head_size;    /* bytes that head_crc covers; chunks have their own checksums */
	uint32_t head_crc;
	uint32_t n_samples;
	int64_t first_us, last_us; /* smallest and largest wall-clock time in the frame */
};

static inline uint64_t frame_end(const struct frame *f)
{
	return f->offset + FRAME_HEADER_SIZE + f->payload_size;
}

void format_put_file_header(uint8_t buf[FILE_HEADER_SIZE]);

/* -EBADMSG: not an archive; -EPROTONOSUPPORT: a future version. `size` is the number of bytes that
 * could be read. */
int format_check_file_header(const uint8_t *buf, size_t size, struct lp_err *err);

void format_put_frame(uint8_t buf[FRAME_HEADER_SIZE], const struct frame *f);

/* Is this an intact frame header? Does not set `offset`. */
bool format_get_frame(const uint8_t buf[FRAME_HEADER_SIZE], struct frame *ret);

/* Do these four bytes begin a frame header? */
bool format_is_frame_magic(const uint8_t *p);

/* A frame in the index: its offset and the fields of its header. */
void format_put_entry(uint8_t buf[INDEX_ENTRY_SIZE], const struct frame *f);
bool format_get_entry(const uint8_t buf[INDEX_ENTRY_SIZE], struct frame *ret);

/* The last bytes of a closed file: the offset of its index frame. */
void format_put_trailer(uint8_t buf[TRAILER_SIZE], uint64_t index_offset);
bool format_get_trailer(const uint8_t buf[TRAILER_SIZE], uint64_t *ret_index_offset);

/* Does a file end with an index, as one that was closed or sealed? */
bool frames_are_closed(int fd);

/* Bytes that belong to no intact frame. */
struct frame_gap {
	uint64_t from, to;
};

struct frame_list {
	struct frame *items;
	size_t n, cap;
	struct frame_gap *gaps; /* damaged stretches between frames */
	size_t n_gaps, cap_gaps;
	uint64_t end;	     /* offset of the next frame: after the last one, before the index */
	uint64_t unfinished; /* bytes at the end that a killed writer left */
	uint64_t size;	     /* of the file */
	bool sealed;	     /* the file ends with an index */
};

void frame_list_release(struct frame_list *l);
int frame_list_add(struct frame_list *l, const struct frame *f);

/* Make room for `more` frames, so that adding them allocates nothing. */
int frame_list_reserve(struct frame_list *l, size_t more);

/* Read the file header and the list, from the index if that is intact. -EBADMSG, -EPROTONOSUPPORT:
 * not an archive of limpet. */
int frame_list_load(int fd, struct frame_list *ret, struct lp_err *err);

/* Find all frames regardless of the file header, and verify the index or ignore it, to check or
 * repair a file. A damaged file header, index or trailer is a gap, and so is a damaged frame header
 * of which the index has a copy; these gaps are not in order. Fails only if the file cannot be read
 * or has no frame. */
int frame_list_walk(int fd, struct frame_list *ret, struct lp_err *err);

/* Read the whole payload of a frame and verify its checksums. The caller frees `*ret`. */
int frame_read(int fd, const struct frame *f, uint8_t **ret_payload, struct lp_err *err);

/* The same into memory of the caller, at least payload_size bytes. */
int frame_read_into(int fd, const struct frame *f, uint8_t *payload, struct lp_err *err);

/* Find the next intact frame from `offset` on: returns its offset in `*ret`, or `size` if there is
 * none. 0 or a negative errno. */
int frame_seek(int fd, uint64_t offset, uint64_t size, uint64_t *ret);

/* Verify the checksums of a frame with its whole payload in memory. -EBADMSG: `err` says which one
 * is wrong. */
int frame_check(const struct frame *f, const uint8_t *payload, struct lp_err *err);

/* A checksum over the headers of consecutive frames; `sum` is that of the previous frames (0:
 * none). Two files with the same number of frames and the same sum have the same contents. */
uint32_t frame_sum(uint32_t sum, const struct frame *f);

/* The payload of a frame in a file, in the form that decoders need (payload_read_fn). */
struct frame_payload {
	int fd;
	const struct frame *frame;
};
int frame_payload_read(void *payload, uint64_t offset, void *buf, size_t size);

/* Encode an index frame for the list (header and payload), and the trailer. */
int frame_list_encode(const struct frame_list *l, uint8_t **ret_bytes, size_t *ret_size);

#endif
