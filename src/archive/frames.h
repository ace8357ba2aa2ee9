/* The frames of an archive: their bytes, as docs/archive-format.md specifies them, and the list of
 * a file's frames, from its index, or by walking the file if there is none.
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
#define FRAME_KEY 1u	/* counters begin with their own base, not with the frame before */
#define FRAME_PACKED 2u /* all columns in one chunk (loose) */
#define FRAME_CARRY 4u	/* it continues the sample before its first */
#define FRAME_FLAGS_KNOWN 7u

/* Bounds that keep a hostile file from taking all memory. Writers split batches to stay below. */
#define FRAME_CELLS_MAX (UINT64_C(1) << 24) /* values in one data frame, all columns */
#define FRAME_SAMPLES_MAX 65536u
#define CHUNK_RAW_MAX (UINT64_C(1) << 28)
#define PAYLOAD_MAX (UINT32_C(1) << 30)
#define EVENT_MAX (UINT32_C(1) << 16)

/* A frame as its header describes it. */
struct frame {
	uint64_t offset; /* of its header in the file */
	uint8_t type;
	uint8_t flags;
	uint32_t payload_size; /* bytes after the header */
	uint32_t head_size;    /* how many of them head_crc covers; chunks have their own */
	uint32_t head_crc;
	uint32_t n_samples;
	int64_t first_us, last_us; /* smallest and largest wall-clock time inside */
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

/* Is this a sound frame header? (`offset` is not set.) */
bool format_get_frame(const uint8_t buf[FRAME_HEADER_SIZE], struct frame *ret);

/* Does a frame header begin here, going by its first four bytes? */
bool format_is_frame_magic(const uint8_t *p);

/* A frame in the index: where it is, and the fields of its header. */
void format_put_entry(uint8_t buf[INDEX_ENTRY_SIZE], const struct frame *f);
bool format_get_entry(const uint8_t buf[INDEX_ENTRY_SIZE], struct frame *ret);

/* The last bytes of a file that was closed properly: the place of its index frame. */
void format_put_trailer(uint8_t buf[TRAILER_SIZE], uint64_t index_offset);
bool format_get_trailer(const uint8_t buf[TRAILER_SIZE], uint64_t *ret_index_offset);

/* Bytes that belong to no sound frame. */
struct frame_gap {
	uint64_t from, to;
};

struct frame_list {
	struct frame *items;
	size_t n, cap;
	struct frame_gap *gaps; /* damaged stretches between frames */
	size_t n_gaps, cap_gaps;
	uint64_t end;	     /* where the next frame goes: after the last one, before the index */
	uint64_t unfinished; /* bytes at the end that a killed writer left */
	uint64_t size;	     /* of the file */
	bool sealed;	     /* there is an index, and it is the last thing in the file */
};

void frame_list_release(struct frame_list *l);
int frame_list_add(struct frame_list *l, const struct frame *f);

/* Room for `more` frames, so that as many frame_list_add() allocate nothing. */
int frame_list_reserve(struct frame_list *l, size_t more);

/* Read the file header and the list, from the index if there is a sound one.
 * -EBADMSG, -EPROTONOSUPPORT: not a file of ours. */
int frame_list_load(int fd, struct frame_list *ret, struct lp_err *err);

/* Find every frame regardless of the file header, and verify the index or do without it, to check
 * or rescue a file. A damaged file header, index, trailer, and (if an index makes up for them)
 * frame headers are gaps, not in order. Fails only if the file cannot be read or has no frame at
 * all. */
int frame_list_walk(int fd, struct frame_list *ret, struct lp_err *err);

/* Read a frame's whole payload and verify its checksums. `*ret` belongs to the caller. */
int frame_read(int fd, const struct frame *f, uint8_t **ret_payload, struct lp_err *err);

/* The same into memory of the caller, of at least payload_size bytes. */
int frame_read_into(int fd, const struct frame *f, uint8_t *payload, struct lp_err *err);

/* Look for the next sound frame from `offset` on: its offset, or `size` if there is none. 0 or a
 * negative errno. */
int frame_seek(int fd, uint64_t offset, uint64_t size, uint64_t *ret);

/* Verify the checksums of a frame whose whole payload is in memory. -EBADMSG: `err` says what is
 * wrong. */
int frame_check(const struct frame *f, const uint8_t *payload, struct lp_err *err);

/* A checksum over the headers of consecutive frames; `sum` is that of the frames before (0: none).
 * Two files with the same number of frames and the same sum have the same content. */
uint32_t frame_sum(uint32_t sum, const struct frame *f);

/* The payload of a frame in a file, in the form that decoders need (payload_read_fn). */
struct frame_payload {
	int fd;
	const struct frame *frame;
};
int frame_payload_read(void *payload, uint64_t offset, void *buf, size_t size);

/* Encode an index frame over the list (header and payload) and the trailer after it. */
int frame_list_encode(const struct frame_list *l, uint8_t **ret_bytes, size_t *ret_size);

#endif
