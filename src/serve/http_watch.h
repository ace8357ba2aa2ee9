/* The list of connections, and a thread that ends those that take too long. libmicrohttpd itself
 * only ends connections without any activity, so a client that sends a byte from time to time could
 * keep a connection forever.
 */
#ifndef SERVE_HTTP_WATCH_H
#define SERVE_HTTP_WATCH_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>

struct http_hub;

/* A connection. Members that the mutex of the list does not protect belong to the thread that
 * serves the connection. */
struct http_conn {
	struct http_conn *next, *previous;
	int fd;
	int64_t since_us;   /* connected, or done with its last request */
	int64_t request_us; /* when its request began; 0: no request in progress */
	bool known;	    /* it is identified */
	bool streams;	    /* it is a stream, which may last */
	bool cut;
	bool certificate_seen; /* `certificate` was already looked up */
	char *certificate;     /* the name in its client certificate, or NULL */
};

struct http_watch;

/* Start the thread. `connections_max` defines when there is pressure. */
int http_watch_new(unsigned connections_max, struct http_watch **ret, struct lp_err *err);

/* Stop the thread; all connections must be closed. Accepts NULL. */
void http_watch_free(struct http_watch *w);

/* Send keep-alive comments to a hub's clients. -ENOSPC: there are too many hubs. */
int http_watch_hub(struct http_watch *w, struct http_hub *hub);

struct http_conn *http_watch_add(struct http_watch *w, int fd); /* NULL: out of memory */
void http_watch_remove(struct http_watch *w, struct http_conn *c);

/* Note that a request begins, that its sender is identified, that the answer is a stream, that it
 * ends. */
void http_watch_begin(struct http_watch *w, struct http_conn *c);
void http_watch_known(struct http_watch *w, struct http_conn *c);
void http_watch_stream(struct http_watch *w, struct http_conn *c);
void http_watch_end(struct http_watch *w, struct http_conn *c);

/* The number of current connections, and of those that were ended so far. */
void http_watch_count(struct http_watch *w, unsigned *ret_now, uint64_t *ret_cut);

/* End the streams of all hubs. */
void http_watch_close_hubs(struct http_watch *w);

#endif
