/* Receives data: frames from archives of servers are appended to archives with the same names in
 * the collector's directory.
 *
 * A server states the file, the number of the first frame, and the checksum of the frames before it
 * (archive/frames.h). The collector accepts only data that continues exactly where the file ends.
 * So everything arrives once and in order, even if either side is killed.
 */
#ifndef SERVE_INGEST_H
#define SERVE_INGEST_H

#include "base/strbuf.h"
#include "serve/ingest_check.h"

#define INGEST_NAME_MAX 256

struct ingest_config {
	const char *dir;
	int64_t keep_age_us; /* 0: for ever */
	uint64_t keep_bytes; /* of a server's archives, 0: any number */
	/* Called after data was appended, by the thread that did it; may be NULL. */
	void (*arrived)(void *ctx, const char *observer);
	void *arrived_ctx;
	struct lp_warn *warn; /* called from several threads */
};

struct ingest;

/* Scan the directory, and start the thread that seals and removes files. */
int ingest_open(const struct ingest_config *config, struct ingest **ret, struct lp_err *err);

/* Accepts NULL. Files that wait to be sealed are sealed after the next start. */
void ingest_close(struct ingest *in);

/* Frames that a server sends. */
struct ingest_put {
	const char *observer, *file;
	uint64_t from; /* the number of frames before these */
	uint32_t sum;  /* over those */
	bool last;     /* the file will not grow further */
	const void *body;
	size_t size;
};

/* Where a file ends. */
struct ingest_place {
	uint64_t n_frames, bytes;
	uint32_t sum;
	bool complete;
};

/* The bytes of a file that could not be written, for a reader of it (struct follow_options):
 * `ingest` is a struct ingest. */
size_t ingest_peek(void *ingest, const char *path, uint64_t offset, void *buf, size_t size);

/* Append frames. After a refusal, `*ret` is the end of the file (for INGEST_REPLAY, INGEST_GAP and
 * INGEST_OTHER_FILE), and `err` the reason. */
enum ingest_refusal ingest_put(struct ingest *in, const struct ingest_put *put,
	struct ingest_place *ret, struct lp_err *err);

/* Count a refusal by other code; `observer` may be NULL. */
void ingest_count(struct ingest *in, const char *observer, enum ingest_refusal kind);

/* The files of a server, as JSON: {"observer", "files": [{"file", "complete", "frames", "sum",
 * "bytes"}], "expired": TIME}. The server need not send files that began before `expired`. */
int ingest_list(struct ingest *in, const char *observer, struct strbuf *out, struct lp_err *err);

/* The data from a server since the collector was started. */
struct ingest_host {
	char name[INGEST_NAME_MAX];
	uint64_t frames, samples, bytes, refused;
	int64_t last_us;    /* time of the newest sample, by the server's clock; INT64_MIN: none */
	int64_t arrived_us; /* when it arrived, by the collector's clock; INT64_MIN: never */
};

/* All servers that sent data or have archives, sorted by name. The caller frees `*ret`. */
int ingest_hosts(struct ingest *in, struct ingest_host **ret, size_t *ret_n);

struct ingest_stats {
	uint64_t frames, samples, bytes;
	uint64_t refused[INGEST_KINDS];
	bool disk_failing; /* writing fails at the moment */
	size_t observers;
	size_t chores; /* files that wait to be sealed */
};
void ingest_get_stats(struct ingest *in, struct ingest_stats *ret);

#endif
