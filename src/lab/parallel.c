#include "lab/parallel.h"

#include "base/thread.h"
#include <errno.h>
#include <pthread.h>

#define THREADS 6 /* each mostly waits for a program or a disk */

struct parallel {
	struct lab *lab;
	enum lab_role role;
	parallel_fn *fn;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	unsigned next;	 /* index of the next node */
	unsigned done;	 /* the number of them */
	unsigned active; /* threads */
	struct lab_node *last;
	int r;
	struct lp_err err;
};

/* The next node, or NULL. Call it with the mutex held. */
static struct lab_node *next_node(struct parallel *p)
{
	while (p->r == 0 && p->next < p->lab->n_nodes) {
		struct lab_node *n = &p->lab->nodes[p->next++];

		if (n->role == p->role)
			return n;
	}
	return NULL;
}

static void *work(void *arg)
{
	struct parallel *p = arg;

	pthread_mutex_lock(&p->mutex);
	for (struct lab_node *n = next_node(p); n; n = next_node(p)) {
		struct lp_err err = {0};
		int r;

		pthread_mutex_unlock(&p->mutex);
		r = p->fn(p->lab, n, &err);
		pthread_mutex_lock(&p->mutex);
		if (r < 0 && p->r == 0) {
			p->r = r;
			p->err = err;
		}
		p->done++;
		p->last = n;
		pthread_cond_signal(&p->changed);
	}
	p->active--;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->mutex);
	return NULL;
}

static unsigned count(const struct lab *lab, enum lab_role role)
{
	unsigned n = 0;

	for (unsigned i = 0; i < lab->n_nodes; i++)
		n += lab->nodes[i].role == role;
	return n;
}

/* Report progress until all threads have ended. */
static void watch_over(struct parallel *p, parallel_done *done, void *ctx)
{
	unsigned n = count(p->lab, p->role), told = 0;

	pthread_mutex_lock(&p->mutex);
	while (p->active || told < p->done) {
		unsigned now = p->done;
		const struct lab_node *last = p->last;
		bool go_on;

		if (now == told) {
			pthread_cond_wait(&p->changed, &p->mutex);
			continue;
		}
		pthread_mutex_unlock(&p->mutex);
		go_on = done(ctx, last, now, n);
		pthread_mutex_lock(&p->mutex);
		told = now;
		if (!go_on && p->r == 0)
			p->r = lp_err_set(&p->err, -EINTR, "interrupted");
	}
	pthread_mutex_unlock(&p->mutex);
}

int parallel_nodes(struct lab *lab, enum lab_role role, parallel_fn *fn, parallel_done *done,
	void *ctx, struct lp_err *err)
{
	struct parallel p = {.lab = lab, .role = role, .fn = fn};
	pthread_t threads[THREADS];
	unsigned n_threads = 0;

	pthread_mutex_init(&p.mutex, NULL);
	pthread_cond_init(&p.changed, NULL);
	pthread_mutex_lock(&p.mutex);
	while (n_threads < THREADS && n_threads < count(lab, role) &&
		thread_start(&threads[n_threads], work, &p) == 0)
		n_threads++;
	p.active = n_threads;
	pthread_mutex_unlock(&p.mutex);
	if (n_threads)
		watch_over(&p, done, ctx);
	else if (count(lab, role))
		p.r = lp_err_set(&p.err, -EAGAIN, "cannot start a thread");
	for (unsigned i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	pthread_cond_destroy(&p.changed);
	pthread_mutex_destroy(&p.mutex);
	if (p.r < 0 && err)
		*err = p.err;
	return p.r;
}
