/* The sender's side of the connection: HTTPS with libcurl, one connection that is kept open. */
#ifndef SERVE_SEND_HTTP_H
#define SERVE_SEND_HTTP_H

#include "base/strbuf.h"
#include <limpet/err.h>
#include <stdint.h>

/* The collector and the credentials of this server. */
struct send_target {
	const char *url;	/* "https://collector:9700"; http:// only to this machine */
	const char *token_file; /* NULL: SEND_TOKEN_FILE if that exists */
	const char *ca_file;	/* NULL: the certificate authorities of the system */
	const char *cert_file, *key_file; /* of a client certificate, NULL: none */
};

#define SEND_TOKEN_FILE "/etc/limpet/token"
#define SEND_TOKEN_CREDENTIAL "limpet.token" /* in $CREDENTIALS_DIRECTORY, by systemd */

struct send_http;

/* Check the URL and the files. -EINVAL: `err` says why. */
int send_http_open(const struct send_target *target, struct send_http **ret, struct lp_warn *warn,
	struct lp_err *err);
void send_http_close(struct send_http *h); /* accepts NULL */

/* The result of a request. */
enum send_result {
	SEND_OK,
	SEND_UNREACHABLE, /* no answer, or a request to wait: try again later */
	SEND_FORBIDDEN,	  /* the collector does not know the credentials */
	SEND_CONFLICT,	  /* the collector has more or less than expected */
	SEND_REFUSED,	  /* the collector refuses this request */
};

/* Requests for "URL/api/v1/ingest/PATH". The answer, at most 16 MiB, replaces the contents of
 * `answer`. If the result is not SEND_OK, `err` has the reason, from the collector if it gave one.
 * The token is read from its file again each time it is refused. */
enum send_result send_http_get(
	struct send_http *h, const char *path, struct strbuf *answer, struct lp_err *err);
enum send_result send_http_put(struct send_http *h, const char *path, const void *body, size_t size,
	struct strbuf *answer, struct lp_err *err);

/* "a b" -> "a%20b". NULL: out of memory; the caller frees the result. */
char *send_http_escape(const char *text);

#endif
