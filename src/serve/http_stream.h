/* Server-sent events: a hub sends events to any number of clients.
 *
 * A client that does not keep up is disconnected when HUB_QUEUE_MAX bytes wait for it; its browser
 * then connects again.
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

/* Send text ("event: NAME\ndata: JSON\n\n") unchanged to all clients. Any thread may call it; it
 * never waits for a client. */
void http_hub_send(struct http_hub *h, const char *text, size_t len);

/* Send an event, its data on one line. */
void http_hub_event(struct http_hub *h, const char *name, const char *json);

/* The number of clients. */
unsigned http_hub_clients(struct http_hub *h);

/* For the HTTP server: a response that continues until the hub is closed or the client leaves, and
 * begins with `first`. NULL: too many clients, or out of memory. */
struct MHD_Response *http_hub_response(
	struct http_hub *h, struct MHD_Connection *connection, const struct strbuf *first);

/* For the HTTP server: end all streams and refuse new clients; and send a keep-alive comment. */
void http_hub_close(struct http_hub *h);
void http_hub_keep_alive(struct http_hub *h);

#endif
