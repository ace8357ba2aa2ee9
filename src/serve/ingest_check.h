/* Data from a server is checked before a byte of it reaches an archive. It must consist of complete
 * and intact frames of the types that servers write, they must belong to the server, and their
 * unpacked size must be plausible.
 */
#ifndef SERVE_INGEST_CHECK_H
#define SERVE_INGEST_CHECK_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reasons to refuse data. */
enum ingest_refusal {
	INGEST_FINE,
	INGEST_BAD_REQUEST, /* invalid names or numbers */
	INGEST_WRONG_NAME,  /* a server uses the name of another one */
	INGEST_REPLAY,	    /* frames that the file already has */
	INGEST_GAP,	    /* earlier frames are missing */
	INGEST_OTHER_FILE,  /* another file with this name exists */
	INGEST_BAD_FRAME,   /* a checksum or a field is wrong */
	INGEST_TRUNCATED,   /* it ends within a frame */
	INGEST_TOO_LARGE,
	INGEST_BOMB, /* it is small, but unpacks to too much */
	INGEST_BUSY, /* too many requests at once */
	INGEST_DISK, /* it cannot be written */
	INGEST_KINDS,
};

/* "bad-frame", for counters. */
const char *ingest_refusal_name(enum ingest_refusal kind);

/* The maximum size of a request, of an unpacked loose frame, and of an unpacked dense frame. */
#define INGEST_BODY_MAX (UINT32_C(32) << 20)
#define INGEST_LOOSE_MAX (UINT32_C(16) << 20)
#define INGEST_DENSE_MAX (UINT32_C(160) << 20)

/* A summary of a valid body. */
struct ingest_summary {
	uint64_t n_frames, n_samples;
	uint32_t sum;	 /* frame_sum() of the frames, continuing the given one */
	int64_t last_us; /* the last time in the frames; INT64_MIN: none */
	int64_t first_us;
};

/* Check a body of frames of `observer`, which follow frames with the given sum. `err` has the
 * reason for a refusal. */
enum ingest_refusal ingest_check(const uint8_t *body, size_t size, const char *observer,
	uint32_t sum, struct ingest_summary *ret, struct lp_err *err);

/* Is this the name of an archive that `observer` may write: OBSERVER-TIME.lpa, or with the kind of
 * trace before the time, OBSERVER-syscalls-TIME.lpa? `*ret_series` is the length of the part before
 * "-TIME". */
bool ingest_file_name(const char *file, const char *observer, size_t *ret_series);

/* Can an observer have this name? It must not end like the name of a trace. */
bool ingest_observer_name(const char *name);

#endif
