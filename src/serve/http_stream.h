/* Server-sent events: a hub has any number of clients, and events go to all of them.
 *
 * A client that does not keep up is disconnected when HUB_QUEUE_MAX bytes wait for it; its browser
 * connects again by itself.
 */
#ifndef SERVE_HTTP_STREAM_H
#define SERVE_HTTP_STREAM_H

#include "base/strbuf.h"
#include <stdint.h>

struct MHD_Connection;
struct MHD_Response;
struct http_hub;

#define HUB_QUEUE_MAX (UINT32_C(1) << 20)
#define HUB_CLIENTS_MAX 256
#define HUB_ALIVE_SEC 15 /* a comment is sent this often */

struct http_hub *http_hub_new(void); /* NULL: out of memory */

/* Free it, after the HTTP server has been closed. Accepts NULL. */
void http_hub_free(struct http_hub *h);

/* Send text as it is ("event: NAME\ndata: JSON\n\n") to all clients. May be called from any thread;
 * never waits for a client. */
void http_hub_send(struct http_hub *h, const char *text, size_t len);

/* Send an event, its data on one line. */
void http_hub_event(struct http_hub *h, const char *name, const char *json);

/* How many listen. */
unsigned http_hub_clients(struct http_hub *h);

/* For the HTTP server: a response that continues until the hub is closed or the client leaves, and
 * begins with `first`. NULL: there are too many, or no memory. */
struct MHD_Response *http_hub_response(
	struct http_hub *h, struct MHD_Connection *connection, const struct strbuf *first);

/* For the HTTP server: no more clients, all streams end; and a keep-alive comment. */
void http_hub_close(struct http_hub *h);
void http_hub_keep_alive(struct http_hub *h);

#endif
