/* Receives data by remote write 1.0 (from Prometheus, vmagent and others): samples of exporters,
 * which are stored in an archive like those of servers.
 *
 * Senders split a scrape over several requests, in any order. So the samples of each target are
 * held for some seconds before they are written.
 */
#ifndef SERVE_REMOTE_WRITE_H
#define SERVE_REMOTE_WRITE_H

#include <limpet/err.h>
#include <stddef.h>
#include <stdint.h>

/* The name of senders, and of the archives. */
#define REMOTE_WRITE_NAME "remote-write"

/* Limits of the size of a request, compressed and uncompressed. */
#define REMOTE_WRITE_PACKED_MAX ((size_t)8 << 20)
#define REMOTE_WRITE_BYTES_MAX ((size_t)64 << 20)

struct remote_write;

/* `dir` and `warn` must outlive it. It writes no file before the first samples arrive. */
int remote_write_open(
	const char *dir, struct lp_warn *warn, struct remote_write **ret, struct lp_err *err);

/* Handle the body of a request, which is compressed with snappy. Several threads may call it.
 * -EBADMSG: it is invalid, -E2BIG: too large; the sender must not send it again. Other errors may
 * be temporary. */
int remote_write_take(struct remote_write *w, const void *body, size_t size, struct lp_err *err);

struct remote_write_stats {
	uint64_t requests, samples, refused;
};

struct remote_write_stats remote_write_stats(struct remote_write *w);

/* Write held samples, and close the archive. Accepts NULL. */
void remote_write_close(struct remote_write *w);

#endif
