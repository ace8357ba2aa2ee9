/* What the collector receives: frames of servers' archives, appended to archives of the same names
 * in its own directory.
 *
 * A server says which file it sends, from which frame on, and what the sum over the frames before
 * is (archive/frames.h); only what goes on exactly where the file ends is taken. So everything
 * arrives once and in order, however often either side is killed.
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
	/* Called after something was appended, by the thread that did; may be NULL. */
	void (*arrived)(void *ctx, const char *observer);
	void *arrived_ctx;
	struct lp_warn *warn; /* called from several threads */
};

struct ingest;

/* Look at what is in the directory, and start the thread that seals and removes. */
int ingest_open(const struct ingest_config *config, struct ingest **ret, struct lp_err *err);

/* Accepts NULL. Files that wait to be sealed are so the next time. */
void ingest_close(struct ingest *in);

/* Frames that a server sends. */
struct ingest_put {
	const char *observer, *file;
	uint64_t from; /* the number of frames before these */
	uint32_t sum;  /* over those */
	bool last;     /* the file will not grow any more */
	const void *body;
	size_t size;
};

/* Where a file goes on. */
struct ingest_place {
	uint64_t n_frames, bytes;
	uint32_t sum;
	bool complete;
};

/* Take frames. After a refusal `*ret` says where the file goes on (of INGEST_REPLAY, INGEST_GAP and
 * INGEST_OTHER_FILE), and `err` why it was refused. */
enum ingest_refusal ingest_put(struct ingest *in, const struct ingest_put *put,
	struct ingest_place *ret, struct lp_err *err);

/* Count a refusal that was found elsewhere; `observer` may be NULL. */
void ingest_count(struct ingest *in, const char *observer, enum ingest_refusal kind);

/* What there is of a server, as JSON: {"observer", "files": [{"file", "complete", "frames", "sum",
 * "bytes"}], "expired": TIME}. Files that began before `expired` are not wanted. */
int ingest_list(struct ingest *in, const char *observer, struct strbuf *out, struct lp_err *err);

/* What has come from a server since the collector was started. */
struct ingest_host {
	char name[INGEST_NAME_MAX];
	uint64_t frames, samples, bytes, refused;
	int64_t last_us;    /* of the newest sample, by the server's clock; INT64_MIN: none */
	int64_t arrived_us; /* when that came, by the collector's; INT64_MIN: nothing has */
};

/* All servers that sent something, or of which there are archives, by name. The caller frees
 * `*ret`. */
int ingest_hosts(struct ingest *in, struct ingest_host **ret, size_t *ret_n);

struct ingest_stats {
	uint64_t frames, samples, bytes;
	uint64_t refused[INGEST_KINDS];
	bool disk_failing; /* nothing can be written now */
	size_t observers;
	size_t chores; /* files that wait to be sealed */
};
void ingest_get_stats(struct ingest *in, struct ingest_stats *ret);

#endif
