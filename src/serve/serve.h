/* The collector: one program that receives what the servers of a fleet record, keeps it, judges it
 * as it comes, and answers operators.
 *
 * It owns its parts: the HTTP server (serve/http.h), the tokens (serve/tokens.h), what is received
 * (serve/ingest.h).
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "serve/http.h"
#include "serve/tokens.h"

#define SERVE_LISTEN "127.0.0.1:9700"

struct serve_config {
	const char *data; /* the directory of archives */
	const char *listen;
	const char *tls_cert_file, *tls_key_file, *tls_client_ca_file;
	const char *topology, *expect; /* files, or NULL */
	uint64_t connections_max;      /* 0: the default */
	int64_t keep_age_us;	       /* of each server's archives, 0: for ever */
	uint64_t keep_bytes;	       /* likewise, 0: any number */
	struct lp_warn *warn;	       /* called from several threads */
};

struct serve {
	struct serve_config config;
	struct http_server *http;
	struct tokens *tokens;
	struct ingest *ingest;
};

/* Start all of it; it serves until it is closed. */
int serve_open(const struct serve_config *config, struct serve **ret, struct lp_err *err);

/* Finish what is under way, and free. Accepts NULL. */
void serve_close(struct serve *s);

/* Tables of routes: one file route_NAME.c each. Their `ctx` is the struct serve. */
extern const struct http_route routes_ingest[];	 /* route_ingest.c: what servers send */
extern const struct http_route routes_session[]; /* route_session.c: log in and out, /healthz */
extern const struct http_route routes_page[];	 /* route_page.c: the page */

#endif
