/* The sender's side of the connection: HTTPS with libcurl, one connection that is kept open. */
#ifndef SERVE_SEND_HTTP_H
#define SERVE_SEND_HTTP_H

#include "base/strbuf.h"
#include <limpet/err.h>
#include <stdint.h>

/* The collector, and our credentials. */
struct send_target {
	const char *url;	/* "https://collector:9700"; http:// only to this machine */
	const char *token_file; /* NULL: SEND_TOKEN_FILE if that exists */
	const char *ca_file;	/* NULL: the system's authorities */
	const char *cert_file, *key_file; /* of a client certificate, NULL: none */
};

#define SEND_TOKEN_FILE "/etc/limpet/token"
#define SEND_TOKEN_CREDENTIAL "limpet.token" /* in $CREDENTIALS_DIRECTORY, by systemd */

struct send_http;

/* Check the URL and the files. -EINVAL: `err` says what is wrong. */
int send_http_open(const struct send_target *target, struct send_http **ret, struct lp_warn *warn,
	struct lp_err *err);
void send_http_close(struct send_http *h); /* accepts NULL */

/* The result of a request. */
enum send_result {
	SEND_OK,
	SEND_UNREACHABLE, /* no answer, or one that requests a pause: try again later */
	SEND_FORBIDDEN,	  /* our credentials are not known there */
	SEND_CONFLICT,	  /* the collector has more or less than expected */
	SEND_REFUSED,	  /* it refuses this */
};

/* Requests for "URL/api/v1/ingest/PATH". The answer, at most 16 MiB, replaces the content of
 * `answer`; if it is not SEND_OK, `err` has the reason, in the collector's own words if it gave
 * some. A token is read from its file again each time that one was refused. */
enum send_result send_http_get(
	struct send_http *h, const char *path, struct strbuf *answer, struct lp_err *err);
enum send_result send_http_put(struct send_http *h, const char *path, const void *body, size_t size,
	struct strbuf *answer, struct lp_err *err);

/* "a b" -> "a%20b". NULL: out of memory; the caller frees it. */
char *send_http_escape(const char *text);

#endif
