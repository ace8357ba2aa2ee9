/* What is pushed to the collector by remote write (Prometheus, vmagent, and whatever speaks version
 * 1.0 of it): samples of exporters, which become an archive like those that servers send.
 *
 * Senders split a scrape over several requests, in no order. So the samples of each target are held
 * for some seconds before they are written.
 */
#ifndef SERVE_REMOTE_WRITE_H
#define SERVE_REMOTE_WRITE_H

#include <limpet/err.h>
#include <stddef.h>
#include <stdint.h>

/* Who may push, and what archives are called. */
#define REMOTE_WRITE_NAME "remote-write"

/* Limits of a request, compressed and not. */
#define REMOTE_WRITE_PACKED_MAX ((size_t)8 << 20)
#define REMOTE_WRITE_BYTES_MAX ((size_t)64 << 20)

struct remote_write;

/* `dir` and `warn` outlive it. Nothing is written before the first samples come. */
int remote_write_open(
	const char *dir, struct lp_warn *warn, struct remote_write **ret, struct lp_err *err);

/* Take the body of a request, compressed as senders compress it (snappy). May be called from
 * several threads. -EBADMSG: it is none, -E2BIG: too large; the sender must not send it again.
 * Others: it may be better later. */
int remote_write_take(struct remote_write *w, const void *body, size_t size, struct lp_err *err);

struct remote_write_stats {
	uint64_t requests, samples, refused;
};

struct remote_write_stats remote_write_stats(struct remote_write *w);

/* Write what is held, and close the archive. Accepts NULL. */
void remote_write_close(struct remote_write *w);

#endif
