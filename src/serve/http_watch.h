/* The list of connections, and a thread that ends those that take too long: libmicrohttpd itself
 * only ends a connection on which nothing at all happens, so that a client that sends a byte from
 * time to time could keep it forever.
 */
#ifndef SERVE_HTTP_WATCH_H
#define SERVE_HTTP_WATCH_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>

struct http_hub;

/* A connection. Members that are not under the list's mutex belong to the thread that serves it. */
struct http_conn {
	struct http_conn *next, *previous;
	int fd;
	int64_t since_us;   /* connected, or done with its last request */
	int64_t request_us; /* when its request began, 0: none is under way */
	bool known;	    /* it is identified */
	bool streams;	    /* a stream may last */
	bool cut;
	bool certificate_seen; /* `certificate` has been looked for */
	char *certificate;     /* the name in its client certificate, or NULL */
};

struct http_watch;

/* Start the thread. `connections_max` defines when there is pressure. */
int http_watch_new(unsigned connections_max, struct http_watch **ret, struct lp_err *err);

/* Stop the thread; connections have to be gone. Accepts NULL. */
void http_watch_free(struct http_watch *w);

/* Send keep-alive comments to a hub's clients. -ENOSPC: there are too many hubs. */
int http_watch_hub(struct http_watch *w, struct http_hub *hub);

struct http_conn *http_watch_add(struct http_watch *w, int fd); /* NULL: out of memory */
void http_watch_remove(struct http_watch *w, struct http_conn *c);

/* A request begins, its sender is identified, it is answered by a stream, it ends. */
void http_watch_begin(struct http_watch *w, struct http_conn *c);
void http_watch_known(struct http_watch *w, struct http_conn *c);
void http_watch_stream(struct http_watch *w, struct http_conn *c);
void http_watch_end(struct http_watch *w, struct http_conn *c);

/* The number of connections, and of those that were ended so far. */
void http_watch_count(struct http_watch *w, unsigned *ret_now, uint64_t *ret_cut);

/* End the streams of all hubs. */
void http_watch_close_hubs(struct http_watch *w);

#endif
