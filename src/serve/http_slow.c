#include "serve/http_slow.h"

#include "base/cleanup.h"
#include "base/thread.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct job {
	void (*fn)(void *arg);
	void *arg;
};

struct http_slow {
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	struct job jobs[HTTP_SLOW_QUEUE_MAX];
	unsigned first, n;
	bool stop;
	pthread_t *threads;
	unsigned n_threads;
};

static bool job_take(struct http_slow *s, struct job *ret)
{
	bool any;

	pthread_mutex_lock(&s->mutex);
	while (!s->n && !s->stop)
		pthread_cond_wait(&s->wake, &s->mutex);
	any = s->n > 0;
	if (any) {
		*ret = s->jobs[s->first];
		s->first = (s->first + 1) % HTTP_SLOW_QUEUE_MAX;
		s->n--;
	}
	pthread_mutex_unlock(&s->mutex);
	return any;
}

static void *work(void *arg)
{
	struct http_slow *s = arg;
	struct job job;

	while (job_take(s, &job))
		job.fn(job.arg);
	return NULL;
}

DEFINE_CLEANUP(struct http_slow *, http_slow_free);

void http_slow_stop(struct http_slow *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->mutex);
	s->stop = true;
	pthread_cond_broadcast(&s->wake);
	pthread_mutex_unlock(&s->mutex);
	for (unsigned i = 0; i < s->n_threads; i++)
		pthread_join(s->threads[i], NULL);
	s->n_threads = 0;
}

void http_slow_free(struct http_slow *s)
{
	if (!s)
		return;
	http_slow_stop(s);
	free(s->threads);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

int http_slow_new(unsigned n_threads, struct http_slow **ret, struct lp_err *err)
{
	_cleanup_(http_slow_freep) struct http_slow *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot serve");
	pthread_mutex_init(&s->mutex, NULL);
	pthread_cond_init(&s->wake, NULL);
	s->threads = calloc(n_threads, sizeof(*s->threads));
	if (!s->threads)
		return lp_err_sys(err, -ENOMEM, "cannot serve");
	while (r == 0 && s->n_threads < n_threads) {
		r = thread_start(&s->threads[s->n_threads], work, s);
		s->n_threads += r == 0;
	}
	if (r < 0)
		return lp_err_sys(err, r, "cannot serve");
	*ret = TAKE_PTR(s);
	return 0;
}

int http_slow_push(struct http_slow *s, void (*fn)(void *arg), void *arg)
{
	bool room;

	pthread_mutex_lock(&s->mutex);
	room = s->n < HTTP_SLOW_QUEUE_MAX && !s->stop;
	if (room)
		s->jobs[(s->first + s->n++) % HTTP_SLOW_QUEUE_MAX] = (struct job){fn, arg};
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->mutex);
	return room ? 0 : -EAGAIN;
}
