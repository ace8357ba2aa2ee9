#include "base/slices.h"

#include "base/thread.h"
#include "base/time.h"
#include <stdlib.h>

struct slices {
	void (*work)(void *arg);
	void *arg;
	int64_t budget_us; /* of the current slice */
	int64_t until_us;  /* when the slice ends, in CPU time of the thread; used by the thread
			    * only
			    */
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock; /* protects the following */
	pthread_cond_t changed;
	enum { SLICES_IDLE, SLICES_WORKING, SLICES_RESTING, SLICES_END } state;
};

/* The work of this thread. */
static _Thread_local struct slices *own;

struct slices *slices_new(void (*work)(void *arg), void *arg)
{
	struct slices *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->work = work;
	s->arg = arg;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	return s;
}

/* A slice begins in the thread. */
static void slice_begin(struct slices *s)
{
	int64_t now_us = clock_us(CLOCK_THREAD_CPUTIME_ID);

	s->until_us = s->budget_us < INT64_MAX - now_us ? now_us + s->budget_us : INT64_MAX;
}

/* Change the state, and wait for the turn of the other side to end. Call it with the lock held. */
static void turn(struct slices *s, unsigned state, unsigned wait_while)
{
	s->state = state;
	pthread_cond_broadcast(&s->changed);
	while (s->state == wait_while)
		pthread_cond_wait(&s->changed, &s->lock);
}

static void *thread_work(void *arg)
{
	struct slices *s = arg;

	own = s;
	pthread_mutex_lock(&s->lock);
	while (s->state == SLICES_IDLE)
		pthread_cond_wait(&s->changed, &s->lock);
	while (s->state != SLICES_END) {
		pthread_mutex_unlock(&s->lock);
		slice_begin(s);
		s->work(s->arg);
		pthread_mutex_lock(&s->lock);
		turn(s, SLICES_IDLE, SLICES_IDLE);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

void slices_free(struct slices *s)
{
	if (!s)
		return;
	if (slices_rests(s))
		slices_run(s, SLICES_WHOLE);
	if (s->has_thread) {
		pthread_mutex_lock(&s->lock);
		turn(s, SLICES_END, SLICES_IDLE);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
	}
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

bool slices_run(struct slices *s, int64_t budget_us)
{
	bool ended;

	if (!s->has_thread && thread_start(&s->thread, thread_work, s) < 0) {
		s->work(s->arg);
		return true;
	}
	s->has_thread = true;
	pthread_mutex_lock(&s->lock);
	s->budget_us = budget_us;
	turn(s, SLICES_WORKING, SLICES_WORKING);
	ended = s->state == SLICES_IDLE;
	pthread_mutex_unlock(&s->lock);
	return ended;
}

bool slices_rests(const struct slices *s)
{
	return s->state == SLICES_RESTING;
}

void slices_rest(void)
{
	if (!own || own->until_us == INT64_MAX || clock_us(CLOCK_THREAD_CPUTIME_ID) < own->until_us)
		return;
	pthread_mutex_lock(&own->lock);
	turn(own, SLICES_RESTING, SLICES_RESTING);
	pthread_mutex_unlock(&own->lock);
	slice_begin(own);
}
