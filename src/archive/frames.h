/* The list of a file's frames: from its index, or by walking the file where there is none.
 *
 * Walking finds the frames behind a damaged stretch again by their magic and checksum.
 */
#ifndef ARCHIVE_FRAMES_H
#define ARCHIVE_FRAMES_H

#include "archive/format.h"

/* Bytes that belong to no sound frame. */
struct frame_gap {
	uint64_t from, to;
};

struct frame_list {
	struct frame *items;
	size_t n, cap;
	struct frame_gap *gaps; /* damaged stretches between frames */
	size_t n_gaps, cap_gaps;
	uint64_t end;	     /* where the next frame goes: behind the last one, before the index */
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

/* Find every frame whatever the file header says, and verify the index or do without it, to check
 * or rescue a file. A damaged file header, index, trailer, and (where an index makes up for them)
 * frame headers are gaps, not in order. Fails only if the file cannot be read or has no frame at
 * all. */
int frame_list_walk(int fd, struct frame_list *ret, struct lp_err *err);

/* Read a frame's whole payload and verify its checksums. `*ret` belongs to the caller. */
int frame_read(int fd, const struct frame *f, uint8_t **ret_payload, struct lp_err *err);

/* The payload of a frame in a file, as decoders want it (payload_read_fn). */
struct frame_payload {
	int fd;
	const struct frame *frame;
};
int frame_payload_read(void *payload, uint64_t offset, void *buf, size_t size);

/* Encode an index frame over the list (header and payload) and the trailer behind it. */
int frame_list_encode(const struct frame_list *l, uint8_t **ret_bytes, size_t *ret_size);

#endif
