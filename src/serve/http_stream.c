#include "serve/http_stream.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct client {
	struct http_hub *hub;
	struct client *next, *previous;
	struct MHD_Connection *connection;
	struct strbuf queue; /* unsent data begins at `sent` */
	size_t sent;
	bool suspended, ended;
};

struct http_hub {
	pthread_mutex_t mutex;
	struct client *first;
	unsigned n;
	bool closed;
};

struct http_hub *http_hub_new(void)
{
	struct http_hub *h = calloc(1, sizeof(*h));

	if (h)
		pthread_mutex_init(&h->mutex, NULL);
	return h;
}

void http_hub_free(struct http_hub *h)
{
	if (!h)
		return;
	pthread_mutex_destroy(&h->mutex);
	free(h);
}

/* Call it with the mutex held. */
static void client_wake(struct client *c)
{
	if (!c->suspended)
		return;
	c->suspended = false;
	MHD_resume_connection(c->connection);
}

/* Call it with the mutex held. */
static void client_put(struct client *c, const char *text, size_t len)
{
	if (c->ended)
		return;
	if (c->queue.len - c->sent + len > HUB_QUEUE_MAX) {
		c->ended = true;
	} else {
		if (c->sent == c->queue.len) {
			strbuf_reset(&c->queue);
			c->sent = 0;
		}
		strbuf_add(&c->queue, text, len);
		c->ended = c->queue.failed;
	}
	client_wake(c);
}

/* Called by the server's thread when there is room. */
static ssize_t client_read(void *ctx, uint64_t position, char *buf, size_t max)
{
	struct client *c = ctx;
	ssize_t n = 0;

	(void)position;
	pthread_mutex_lock(&c->hub->mutex);
	if (c->ended || c->hub->closed) {
		n = MHD_CONTENT_READER_END_OF_STREAM;
	} else if (c->sent < c->queue.len) {
		n = (ssize_t)(c->queue.len - c->sent < max ? c->queue.len - c->sent : max);
		memcpy(buf, c->queue.text + c->sent, (size_t)n);
		c->sent += (size_t)n;
	} else {
		c->suspended = true;
		MHD_suspend_connection(c->connection);
	}
	pthread_mutex_unlock(&c->hub->mutex);
	return n;
}

static void client_free(void *ctx)
{
	struct client *c = ctx;
	struct http_hub *h = c->hub;

	pthread_mutex_lock(&h->mutex);
	if (c->previous)
		c->previous->next = c->next;
	else
		h->first = c->next;
	if (c->next)
		c->next->previous = c->previous;
	h->n--;
	pthread_mutex_unlock(&h->mutex);
	strbuf_release(&c->queue);
	free(c);
}

/* Add a client; false: there is no room. */
static bool hub_add(struct http_hub *h, struct client *c)
{
	bool room;

	pthread_mutex_lock(&h->mutex);
	room = !h->closed && h->n < HUB_CLIENTS_MAX;
	if (room) {
		c->next = h->first;
		if (h->first)
			h->first->previous = c;
		h->first = c;
		h->n++;
	}
	pthread_mutex_unlock(&h->mutex);
	return room;
}

struct MHD_Response *http_hub_response(
	struct http_hub *h, struct MHD_Connection *connection, const struct strbuf *first)
{
	struct client *c = calloc(1, sizeof(*c));
	struct MHD_Response *response;

	if (!c)
		return NULL;
	c->hub = h;
	c->connection = connection;
	strbuf_add(&c->queue, first->text, first->len);
	if (c->queue.failed || !hub_add(h, c)) {
		strbuf_release(&c->queue);
		free(c);
		return NULL;
	}
	response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, 2048, client_read, c, client_free);
	if (!response)
		client_free(c);
	return response;
}

void http_hub_send(struct http_hub *h, const char *text, size_t len)
{
	pthread_mutex_lock(&h->mutex);
	for (struct client *c = h->first; c; c = c->next)
		client_put(c, text, len);
	pthread_mutex_unlock(&h->mutex);
}

void http_hub_event(struct http_hub *h, const char *name, const char *json)
{
	struct strbuf text = {0};

	strbuf_printf(&text, "event: %s\ndata: %s\n\n", name, json);
	if (!text.failed)
		http_hub_send(h, text.text, text.len);
	strbuf_release(&text);
}

unsigned http_hub_clients(struct http_hub *h)
{
	unsigned n;

	pthread_mutex_lock(&h->mutex);
	n = h->n;
	pthread_mutex_unlock(&h->mutex);
	return n;
}

void http_hub_close(struct http_hub *h)
{
	pthread_mutex_lock(&h->mutex);
	h->closed = true;
	for (struct client *c = h->first; c; c = c->next)
		client_wake(c);
	pthread_mutex_unlock(&h->mutex);
}

void http_hub_keep_alive(struct http_hub *h)
{
	static const char comment[] = ": alive\n\n";

	http_hub_send(h, comment, sizeof(comment) - 1);
}
