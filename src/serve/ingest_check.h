/* Data from a server is checked before a byte of it reaches an archive: it must consist of
 * complete, sound frames of the types that servers write, they must belong to the server, and they
 * must not unpack to more than honest ones do.
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
	INGEST_WRONG_NAME,  /* a server uses another's name */
	INGEST_REPLAY,	    /* frames that are already there */
	INGEST_GAP,	    /* frames before them are missing */
	INGEST_OTHER_FILE,  /* another file of that name exists */
	INGEST_BAD_FRAME,   /* a checksum or a field is wrong */
	INGEST_TRUNCATED,   /* it ends within a frame */
	INGEST_TOO_LARGE,
	INGEST_BOMB, /* it is small, and unpacks to too much */
	INGEST_BUSY, /* too much at once */
	INGEST_DISK, /* it cannot be written */
	INGEST_KINDS,
};

/* "bad-frame": for counters. */
const char *ingest_refusal_name(enum ingest_refusal kind);

/* The largest size of a request; and of an unpacked loose frame, and a dense one. */
#define INGEST_BODY_MAX (UINT32_C(32) << 20)
#define INGEST_LOOSE_MAX (UINT32_C(16) << 20)
#define INGEST_DENSE_MAX (UINT32_C(160) << 20)

/* A summary of a valid body. */
struct ingest_summary {
	uint64_t n_frames, n_samples;
	uint32_t sum;	 /* frame_sum() over them, continuing the given one */
	int64_t last_us; /* the last time in them, INT64_MIN: none */
	int64_t first_us;
};

/* Check a body of frames of `observer`, which follow frames with the given sum. The reason of a
 * refusal is in `err`. */
enum ingest_refusal ingest_check(const uint8_t *body, size_t size, const char *observer,
	uint32_t sum, struct ingest_summary *ret, struct lp_err *err);

/* Is this the name of an archive that `observer` may write: OBSERVER-TIME.lpa, or with the kind of
 * trace before the time, OBSERVER-syscalls-TIME.lpa? `*ret_series` is the length of the part before
 * the time's dash. */
bool ingest_file_name(const char *file, const char *observer, size_t *ret_series);

/* Can an observer have this name? It must not end like the name of a trace. */
bool ingest_observer_name(const char *name);

#endif
