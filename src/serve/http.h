/* The HTTP server of the collector: libmicrohttpd with epoll and two threads, a table of routes,
 * and limits on all memory that a client can use.
 *
 * A handler runs in one of the two threads, which all clients share, so it must not wait. If its
 * route is marked as slow, it runs in a thread for slow work. It fills in a struct http_answer,
 * which may be a stream (serve/http_stream.h).
 */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "base/strbuf.h"
#include <limpet/err.h>
#include <stdint.h>

struct MHD_Connection;
struct http_server;
struct http_hub;

#define HTTP_NAME_MAX 256  /* of the client */
#define HTTP_ERROR_MAX 504 /* as long as that of a struct lp_err */

/* The clients that a route accepts. */
enum http_needs {
	HTTP_OPEN,     /* any client */
	HTTP_SERVER,   /* a server that may write; http_request.who has its name */
	HTTP_OPERATOR, /* an operator; http_request.who has the name */
};

struct http_request {
	const char *method; /* "GET"; HEAD is handled as GET */
	const char *path;   /* "/api/v1/incidents/7", percent-decoded, without the query */
	const char *rest;   /* the part after the path of the route, "7" */
	const char *who;    /* the name of the server or operator; "" on open routes */
	const char *body;   /* NUL-terminated after its size; "" if there is no body */
	size_t body_size;
	struct MHD_Connection *connection;
};

/* The value of ?key=value, percent-decoded; NULL if there is none. */
const char *http_query(const struct http_request *rq, const char *key);

/* The value of a header; NULL if there is none. */
const char *http_header(const struct http_request *rq, const char *name);

/* The answer of a handler. Initially its status is 200, with an empty JSON body. */
struct http_answer {
	unsigned status;
	const char *type;   /* content type, a constant */
	struct strbuf body; /* append to it; the code that calls the handler releases it */
	/* Instead of `body`: constant bytes that are part of the program; they are not copied. */
	const void *fixed;
	size_t fixed_size;
	/* Instead of both: an event stream of this hub, which begins with `body`. */
	struct http_hub *stream;
	/* Further headers; constants, or NULL. */
	const char *encoding; /* Content-Encoding */
	const char *cache;    /* Cache-Control [no-store] */
	char etag[48];	      /* ETag, with its quotes */
	char cookie[512];     /* Set-Cookie */
	char location[256];   /* Location */
	unsigned retry_after; /* seconds, 0: none */
	/* Others: name and value, both constants. */
	struct http_extra {
		const char *name, *value;
	} extra[4];
};

/* Turn the answer into an error: a status and {"error": "sentence"}. */
void http_fail(struct http_answer *a, unsigned status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

typedef void (*http_handler)(void *ctx, const struct http_request *rq, struct http_answer *a);

/* One row of a table of routes; a row without a method ends it. */
struct http_route {
	const char *method; /* "GET" */
	const char *path;   /* exactly this path; if it ends in "/", all paths that begin with it */
	enum http_needs needs;
	bool slow;	 /* the handler may take long */
	size_t body_max; /* 0: a body is refused */
	http_handler handle;
	/* Called when the headers have arrived, before the body is read; may be NULL. If it sets a
	 * status other than 0, the answer is final and the body is not read. */
	http_handler before_body;
};

/* The other side of a connection, for authorization. */
struct http_peer {
	bool loopback;		      /* it is on this machine */
	const char *token;	      /* "Authorization: Bearer TOKEN" or the cookie; NULL: none */
	const char *certificate_name; /* name in a verified client certificate; NULL: none */
};

/* Limits and identity. `authorize` identifies the peer. It returns 0 and a name, or a negative
 * errno and the reason: -EACCES (401, not identified) or -EPERM (403, not allowed). Several threads
 * call it. */
struct http_config {
	const char *listen;	   /* "ADDRESS:PORT", "[::1]:0"; port 0: any free port */
	const char *tls_cert_file; /* PEM; NULL: plain HTTP */
	const char *tls_key_file;
	const char *tls_client_ca_file; /* the CA of client certificates; NULL: none are
					 * requested */
	unsigned connections_max;	/* 0: HTTP_CONNECTIONS_MAX */
	uint64_t bodies_max; /* total size of bodies that are being received; 0: HTTP_BODIES_MAX */
	int (*authorize)(void *ctx, enum http_needs needs, const struct http_peer *peer,
		char who[HTTP_NAME_MAX], struct lp_err *err);
	void *authorize_ctx;
	struct lp_warn *warn;
};

#define HTTP_CONNECTIONS_MAX 16384
#define HTTP_BODIES_MAX (UINT64_C(256) << 20)
/* The server disconnects a client that has not received a successful answer within HTTP_FIRST_SEC
 * after it connected, or that takes longer than HTTP_REQUEST_SEC to send a request. The first limit
 * is shorter under pressure. */
#define HTTP_FIRST_SEC 10
#define HTTP_FIRST_PRESSED_SEC 2
#define HTTP_REQUEST_SEC 60
/* A known client may be idle for this long. */
#define HTTP_IDLE_SEC 150

/* Refused requests by kind, and current activity. */
struct http_stats {
	uint64_t requests, refused_token, refused_forbidden, refused_too_large, refused_busy,
		refused_not_found, cut_slow, aborted;
	unsigned connections;
	uint64_t body_bytes; /* size of bodies that are being received */
};

/* Prepare a server. It listens, but does not answer before http_start(). */
int http_open(const struct http_config *config, struct http_server **ret, struct lp_err *err);

/* Add a table of routes (which must outlive the server), before http_start(). Its handlers get
 * `ctx`. */
int http_add_routes(struct http_server *s, const struct http_route *routes, void *ctx);

/* Make the server send keep-alive comments to the clients of a hub, and end their streams when it
 * is closed. Call it before http_start(). */
int http_add_hub(struct http_server *s, struct http_hub *hub);

int http_start(struct http_server *s, struct lp_err *err);

/* "https://127.0.0.1:9700", with the actual port. */
const char *http_url(const struct http_server *s);

void http_get_stats(struct http_server *s, struct http_stats *ret);

/* End all connections and free the server. Accepts NULL. Hubs must outlive it. */
void http_close(struct http_server *s);

#endif
