/* What a server sends is checked before a byte of it reaches an archive: that it consists of whole,
 * sound frames of the types that servers write, that they are the server's own, and that they
 * unfold to no more than an honest one does.
 */
#ifndef SERVE_INGEST_CHECK_H
#define SERVE_INGEST_CHECK_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why something is refused. */
enum ingest_refusal {
	INGEST_FINE,
	INGEST_BAD_REQUEST, /* it makes no sense: names, numbers */
	INGEST_WRONG_NAME,  /* a server writes under another's name */
	INGEST_REPLAY,	    /* frames that are there already */
	INGEST_GAP,	    /* frames before them are missing */
	INGEST_OTHER_FILE,  /* another file of that name is there */
	INGEST_BAD_FRAME,   /* a checksum or a field is wrong */
	INGEST_TRUNCATED,   /* it ends within a frame */
	INGEST_TOO_LARGE,
	INGEST_BOMB, /* it is small, and unfolds to too much */
	INGEST_BUSY, /* too much at once */
	INGEST_DISK, /* it cannot be written */
	INGEST_KINDS,
};

/* "bad-frame": for counters. */
const char *ingest_refusal_name(enum ingest_refusal kind);

/* Bytes of one request; of what a loose frame, and a dense one, unfolds to. */
#define INGEST_BODY_MAX (UINT32_C(32) << 20)
#define INGEST_LOOSE_MAX (UINT32_C(16) << 20)
#define INGEST_DENSE_MAX (UINT32_C(160) << 20)

/* What was found in a body that is fine. */
struct ingest_summary {
	uint64_t n_frames, n_samples;
	uint32_t sum;	 /* frame_sum() over them, from the one that was given on */
	int64_t last_us; /* the last time in them, INT64_MIN: none */
	int64_t first_us;
};

/* Check a body of frames of `observer`, which follow frames with the given sum. The reason of a
 * refusal is in `err`. */
enum ingest_refusal ingest_check(const uint8_t *body, size_t size, const char *observer,
	uint32_t sum, struct ingest_summary *ret, struct lp_err *err);

/* Is this the name of an archive that `observer` may write: OBSERVER-TIME.lpa, or with what was
 * traced before the time, OBSERVER-syscalls-TIME.lpa? `*ret_series` is the length of what precedes
 * the time's dash. */
bool ingest_file_name(const char *file, const char *observer, size_t *ret_series);

/* Can an observer have this name? One that ends like another's traces cannot. */
bool ingest_observer_name(const char *name);

#endif
