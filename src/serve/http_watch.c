#include "serve/http_watch.h"

#include "base/thread.h"
#include "base/time.h"
#include "serve/http.h"
#include "serve/http_stream.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#define HUBS_MAX 8

struct http_watch {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	bool stopping;
	struct http_conn *first;
	unsigned n, max;
	uint64_t n_cut;
	struct http_hub *hubs[HUBS_MAX];
	unsigned n_hubs;
};

/* The time at which a connection is ended. */
static int64_t deadline(const struct http_conn *c, bool pressed)
{
	if (c->streams)
		return INT64_MAX;
	if (c->known && c->request_us)
		return c->request_us + HTTP_REQUEST_SEC * US_PER_SEC;
	if (c->known)
		return c->since_us + HTTP_IDLE_SEC * US_PER_SEC;
	return c->since_us + (pressed ? HTTP_FIRST_PRESSED_SEC : HTTP_FIRST_SEC) * US_PER_SEC;
}

/* End late connections; libmicrohttpd notices and closes them. Call it with the mutex held. */
static void cut_late(struct http_watch *w, int64_t now_us)
{
	bool pressed = w->n > w->max / 4 * 3;

	for (struct http_conn *c = w->first; c; c = c->next) {
		if (c->cut || now_us < deadline(c, pressed))
			continue;
		c->cut = true;
		/* A known client that was only idle is not counted. */
		w->n_cut += !c->known || c->request_us;
		shutdown(c->fd, SHUT_RDWR);
	}
}

static void *watch_thread(void *arg)
{
	struct http_watch *w = arg;

	pthread_mutex_lock(&w->mutex);
	for (unsigned tick = 1; !w->stopping; tick++) {
		struct timespec until = clock_after(CLOCK_MONOTONIC, US_PER_SEC);
		unsigned n_hubs = tick % HUB_ALIVE_SEC ? 0 : w->n_hubs;

		cut_late(w, clock_us(CLOCK_MONOTONIC));
		pthread_mutex_unlock(&w->mutex);
		for (unsigned i = 0; i < n_hubs; i++)
			http_hub_keep_alive(w->hubs[i]);
		pthread_mutex_lock(&w->mutex);
		if (!w->stopping)
			pthread_cond_timedwait(&w->wake, &w->mutex, &until);
	}
	pthread_mutex_unlock(&w->mutex);
	return NULL;
}

int http_watch_new(unsigned connections_max, struct http_watch **ret, struct lp_err *err)
{
	struct http_watch *w = calloc(1, sizeof(*w));
	pthread_condattr_t attr;
	int r;

	if (!w)
		return lp_err_sys(err, -ENOMEM, "cannot serve");
	w->max = connections_max;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &attr);
	pthread_condattr_destroy(&attr);
	r = thread_start(&w->thread, watch_thread, w);
	if (r < 0) {
		free(w);
		return lp_err_sys(err, r, "cannot start a thread");
	}
	*ret = w;
	return 0;
}

void http_watch_free(struct http_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->mutex);
	w->stopping = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->mutex);
	pthread_join(w->thread, NULL);
	pthread_mutex_destroy(&w->mutex);
	pthread_cond_destroy(&w->wake);
	free(w);
}

int http_watch_hub(struct http_watch *w, struct http_hub *hub)
{
	int r = -ENOSPC;

	pthread_mutex_lock(&w->mutex);
	if (w->n_hubs < HUBS_MAX) {
		w->hubs[w->n_hubs++] = hub;
		r = 0;
	}
	pthread_mutex_unlock(&w->mutex);
	return r;
}

void http_watch_close_hubs(struct http_watch *w)
{
	for (unsigned i = 0; i < w->n_hubs; i++)
		http_hub_close(w->hubs[i]);
}

struct http_conn *http_watch_add(struct http_watch *w, int fd)
{
	struct http_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = fd;
	c->since_us = clock_us(CLOCK_MONOTONIC);
	pthread_mutex_lock(&w->mutex);
	c->next = w->first;
	if (w->first)
		w->first->previous = c;
	w->first = c;
	w->n++;
	pthread_mutex_unlock(&w->mutex);
	return c;
}

void http_watch_remove(struct http_watch *w, struct http_conn *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&w->mutex);
	if (c->previous)
		c->previous->next = c->next;
	else
		w->first = c->next;
	if (c->next)
		c->next->previous = c->previous;
	w->n--;
	pthread_mutex_unlock(&w->mutex);
	free(c->certificate);
	free(c);
}

void http_watch_begin(struct http_watch *w, struct http_conn *c)
{
	pthread_mutex_lock(&w->mutex);
	c->request_us = clock_us(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&w->mutex);
}

void http_watch_known(struct http_watch *w, struct http_conn *c)
{
	pthread_mutex_lock(&w->mutex);
	c->known = true;
	pthread_mutex_unlock(&w->mutex);
}

void http_watch_stream(struct http_watch *w, struct http_conn *c)
{
	pthread_mutex_lock(&w->mutex);
	c->streams = true;
	pthread_mutex_unlock(&w->mutex);
}

void http_watch_end(struct http_watch *w, struct http_conn *c)
{
	pthread_mutex_lock(&w->mutex);
	c->request_us = 0;
	c->since_us = clock_us(CLOCK_MONOTONIC);
	c->streams = false;
	pthread_mutex_unlock(&w->mutex);
}

void http_watch_count(struct http_watch *w, unsigned *ret_now, uint64_t *ret_cut)
{
	pthread_mutex_lock(&w->mutex);
	*ret_now = w->n;
	*ret_cut = w->n_cut;
	pthread_mutex_unlock(&w->mutex);
}
