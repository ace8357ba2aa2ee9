#include "collect/sealer.h"

#include "base/thread.h"
#include <errno.h>
#include <limpet/archive.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct task {
	struct task *next;
	char *path;
};

struct sealer {
	struct lp_warn *warn;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	struct task *first, *last;
	bool closing;
};

static void task_free(struct task *t)
{
	free(t->path);
	free(t);
}

/* The next task; NULL if there are none left and none will come. */
static struct task *task_wait(struct sealer *s)
{
	struct task *t;

	pthread_mutex_lock(&s->mutex);
	while (!s->first && !s->closing)
		pthread_cond_wait(&s->wake, &s->mutex);
	t = s->first;
	if (t)
		s->first = t->next;
	if (!s->first)
		s->last = NULL;
	pthread_mutex_unlock(&s->mutex);
	return t;
}

/* An unsealed file can be read as well, it is only larger. So a failure is just a warning.
 */
static void *sealer_thread(void *arg)
{
	struct sealer *s = arg;
	struct sched_param idle = {0};
	struct task *t;

	/* Best effort: a sandbox may forbid it. */
	pthread_setschedparam(pthread_self(), SCHED_IDLE, &idle);
	while ((t = task_wait(s))) {
		struct lp_err err = {0};

		if (lp_archive_seal(t->path, s->warn, &err) < 0)
			lp_warn_raise(s->warn, "%s", err.text);
		task_free(t);
	}
	return NULL;
}

int sealer_open(struct lp_warn *warn, struct sealer **ret, struct lp_err *err)
{
	struct sealer *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot begin to record");
	s->warn = warn;
	pthread_mutex_init(&s->mutex, NULL);
	pthread_cond_init(&s->wake, NULL);
	r = thread_start(&s->thread, sealer_thread, s);
	if (r < 0) {
		free(s);
		return lp_err_sys(err, r, "cannot start the sealing thread");
	}
	*ret = s;
	return 0;
}

void sealer_add(struct sealer *s, const char *path)
{
	struct task *t = calloc(1, sizeof(*t));

	if (t)
		t->path = strdup(path);
	if (!t || !t->path) {
		free(t);
		lp_warn_raise(s->warn, "%s stays unsealed: no memory", path);
		return;
	}
	pthread_mutex_lock(&s->mutex);
	if (s->last)
		s->last->next = t;
	else
		s->first = t;
	s->last = t;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->mutex);
}

void sealer_close(struct sealer *s)
{
	struct sched_param normal = {0};

	if (!s)
		return;
	/* A caller is waiting: on a busy machine an idle thread would never finish. */
	pthread_setschedparam(s->thread, SCHED_OTHER, &normal);
	pthread_mutex_lock(&s->mutex);
	s->closing = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->mutex);
	pthread_join(s->thread, NULL);
	pthread_mutex_destroy(&s->mutex);
	pthread_cond_destroy(&s->wake);
	free(s);
}
