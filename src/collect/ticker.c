#include "collect/ticker.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>

void ticker_free(struct ticker *t)
{
	if (t)
		t->free(t);
}

struct ticker_sys {
	struct ticker ticker; /* must be first */
	int timer, signals;
};

static int64_t clock_us(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * US_PER_SEC + ts.tv_nsec / 1000;
}

static void sys_now(struct ticker *t, int64_t *ret_wall_us, int64_t *ret_mono_us)
{
	(void)t;
	*ret_wall_us = clock_us(CLOCK_REALTIME);
	*ret_mono_us = clock_us(CLOCK_BOOTTIME);
}

static int sys_wait(struct ticker *t, int64_t until_wall_us, struct lp_err *err)
{
	struct ticker_sys *s = (struct ticker_sys *)t;
	struct itimerspec when = {.it_value = {.tv_sec = until_wall_us / US_PER_SEC,
					  .tv_nsec = until_wall_us % US_PER_SEC * 1000}};
	struct pollfd fds[2] = {
		{.fd = s->timer, .events = POLLIN}, {.fd = s->signals, .events = POLLIN}};
	uint64_t expirations;

	/* ECANCELED: the clock was set since the caller read it; `until_wall_us` may be far off. */
	if (timerfd_settime(s->timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL) < 0)
		return errno == ECANCELED ? TICKER_AGAIN
					  : lp_err_sys(err, -errno, "cannot set the timer");
	if (poll(fds, 2, -1) < 0)
		return errno == EINTR ? TICKER_AGAIN : lp_err_sys(err, -errno, "cannot wait");
	if (fds[1].revents)
		return TICKER_STOP;
	if (read(s->timer, &expirations, sizeof(expirations)) < 0)
		return TICKER_AGAIN; /* ECANCELED: the clock was set */
	return TICKER_DUE;
}

static void sys_free(struct ticker *t)
{
	struct ticker_sys *s = (struct ticker_sys *)t;

	if (s->timer >= 0)
		close(s->timer);
	if (s->signals >= 0)
		close(s->signals);
	free(s);
}

/* What ends a recording: whatever is not ignored of the usual ones. */
static void stop_signals(sigset_t *ret)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
	struct sigaction now;

	sigemptyset(ret);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(ret, signals[i]);
	}
}

int ticker_system(struct ticker **ret, struct lp_err *err)
{
	struct ticker_sys *s = calloc(1, sizeof(*s));
	sigset_t mask;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot set up the clock");
	s->ticker = (struct ticker){.now = sys_now, .wait = sys_wait, .free = sys_free};
	stop_signals(&mask);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	s->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	s->timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->signals < 0 || s->timer < 0) {
		int r = lp_err_sys(err, -errno, "cannot set up the clock");

		sys_free(&s->ticker);
		return r;
	}
	*ret = &s->ticker;
	return 0;
}

struct moment {
	char *dir;
	int64_t wall_us;
};

struct ticker_tree {
	struct ticker ticker; /* must be first */
	struct proc_root *root;
	struct moment *moments;
	size_t n, cap, next;
};

static void tree_now(struct ticker *t, int64_t *ret_wall_us, int64_t *ret_mono_us)
{
	const struct ticker_tree *tree = (const struct ticker_tree *)t;

	*ret_wall_us = tree->moments[tree->next ? tree->next - 1 : 0].wall_us;
	*ret_mono_us = *ret_wall_us;
}

static int tree_wait(struct ticker *t, int64_t until_wall_us, struct lp_err *err)
{
	struct ticker_tree *tree = (struct ticker_tree *)t;

	(void)until_wall_us;
	(void)err;
	if (tree->next == tree->n)
		return TICKER_STOP;
	tree->root->dir = tree->moments[tree->next++].dir;
	tree->root->generation++;
	return TICKER_DUE;
}

static void tree_free(struct ticker *t)
{
	struct ticker_tree *tree = (struct ticker_tree *)t;

	for (size_t i = 0; i < tree->n; i++)
		free(tree->moments[i].dir);
	free(tree->moments);
	free(tree);
}

static int tree_add(struct ticker_tree *tree, const char *dir, const char *name)
{
	struct moment m = {0};
	struct lp_err ignored;

	if (time_parse(name, &m.wall_us, &ignored) < 0)
		return 0;
	if (asprintf(&m.dir, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	if (array_reserve(&tree->moments, &tree->cap, tree->n + 1, sizeof(m)) < 0) {
		free(m.dir);
		return -ENOMEM;
	}
	tree->moments[tree->n++] = m;
	return 0;
}

/* The least time between moments. */
static int64_t tree_interval(const struct ticker_tree *tree)
{
	int64_t least = 0;

	for (size_t i = 1; i < tree->n; i++) {
		int64_t us = tree->moments[i].wall_us - tree->moments[i - 1].wall_us;

		if (us > 0 && (!least || us < least))
			least = us;
	}
	return least;
}

int ticker_replay(const char *dir, struct proc_root *root, struct ticker **ret, struct lp_err *err)
{
	struct ticker_tree *tree = calloc(1, sizeof(*tree));
	struct dirent **entries = NULL;
	int n, r = 0;

	if (!tree)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", dir);
	tree->ticker = (struct ticker){
		.patient = true, .now = tree_now, .wait = tree_wait, .free = tree_free};
	tree->root = root;
	n = scandir(dir, &entries, NULL, alphasort);
	if (n < 0)
		r = lp_err_sys(err, -errno, "cannot read %s", dir);
	for (int i = 0; i < n; i++) {
		if (r == 0)
			r = tree_add(tree, dir, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (r == 0 && !tree->n)
		r = lp_err_set(err, -ENOENT,
			"%s has neither a proc directory nor directories named by time "
			"(20240301T120000Z)",
			dir);
	if (r < 0) {
		tree_free(&tree->ticker);
		return r;
	}
	root->dir = tree->moments[0].dir;
	tree->ticker.interval_us = tree_interval(tree);
	*ret = &tree->ticker;
	return 0;
}
