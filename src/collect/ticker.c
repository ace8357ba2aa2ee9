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
#include <sys/timerfd.h>
#include <time.h>

void ticker_free(struct ticker *t)
{
	if (t)
		t->free(t);
}

/* A periodic timer: one read() per sample, and the kernel rearms it. */
struct ticker_sys {
	struct ticker ticker;	     /* must be first; its fd is the timer */
	int64_t armed_us, period_us; /* it fires at armed_us + n * period_us; period 0: only once */
	int64_t last_us;	     /* the last time for which it waited */
	bool armed;		     /* it is set for last_us and has not fired yet */
};

/* For the signal handler: it makes the timer fire immediately. That ends the wait even if the
 * signal comes between the check of `stopped` and the wait. */
static volatile sig_atomic_t stopped;
static volatile sig_atomic_t stop_timer = -1;

static void stop(int signal_number)
{
	const struct itimerspec now = {.it_value = {.tv_nsec = 1}};
	int saved = errno;

	(void)signal_number;
	stopped = 1;
	timerfd_settime(stop_timer, 0, &now, NULL);
	errno = saved;
}

static void sys_now(struct ticker *t, int64_t *ret_wall_us, int64_t *ret_mono_us)
{
	(void)t;
	*ret_wall_us = clock_us(CLOCK_REALTIME);
	*ret_mono_us = clock_us(CLOCK_BOOTTIME);
}

static struct timespec us_to_timespec(int64_t us)
{
	return (struct timespec){us / US_PER_SEC, us % US_PER_SEC * 1000};
}

/* Set the timer for a time, and periodically if the waits so far were regular. It fires early if
 * the clock is set. */
static int sys_set(struct ticker_sys *s, int64_t until_wall_us)
{
	int64_t period_us = until_wall_us - s->last_us;
	struct itimerspec when = {.it_value = us_to_timespec(until_wall_us)};

	if (!s->last_us || period_us <= 0)
		period_us = 0;
	when.it_interval = us_to_timespec(period_us);
	s->armed_us = until_wall_us;
	s->period_us = period_us;
	return timerfd_settime(
		       s->ticker.fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL) < 0
		? -errno
		: 0;
}

static bool sys_armed(const struct ticker_sys *s, int64_t until_wall_us)
{
	if (s->armed)
		return until_wall_us == s->last_us;
	return s->period_us && (until_wall_us - s->armed_us) % s->period_us == 0 &&
		until_wall_us - s->last_us == s->period_us;
}

static int sys_arm(struct ticker *t, int64_t until_wall_us, struct lp_err *err)
{
	struct ticker_sys *s = (struct ticker_sys *)t;
	int r = sys_armed(s, until_wall_us) ? 0 : sys_set(s, until_wall_us);

	if (r < 0)
		return lp_err_sys(err, r, "cannot wait");
	s->last_us = until_wall_us;
	s->armed = true;
	if (stopped) /* before the timer was set to another time */
		stop(0);
	return 0;
}

static int sys_wait(struct ticker *t, int64_t until_wall_us, struct lp_err *err)
{
	struct ticker_sys *s = (struct ticker_sys *)t;
	uint64_t expirations;
	int r = sys_arm(t, until_wall_us, err);

	if (r < 0)
		return r;
	if (!stopped && read(s->ticker.fd, &expirations, sizeof(expirations)) < 0)
		r = -errno;
	if (stopped)
		return TICKER_STOP;
	s->armed = r == -EINTR;
	if (r == -ECANCELED) { /* the clock was set: the requested time may be far away */
		s->last_us = s->period_us = 0;
		return TICKER_AGAIN;
	}
	if (r < 0 && r != -EINTR)
		return lp_err_sys(err, r, "cannot wait");
	return clock_us(CLOCK_REALTIME) < until_wall_us ? TICKER_AGAIN : TICKER_DUE;
}

static void sys_free(struct ticker *t)
{
	struct ticker_sys *s = (struct ticker_sys *)t;

	stop_timer = -1;
	if (s->ticker.fd >= 0)
		close(s->ticker.fd);
	free(s);
}

/* The signals that end a recording: the usual ones, unless they are ignored. */
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
	struct sigaction action = {.sa_handler = stop};
	sigset_t mask;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot set up the clock");
	s->ticker =
		(struct ticker){.now = sys_now, .wait = sys_wait, .arm = sys_arm, .free = sys_free};
	s->ticker.fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
	if (s->ticker.fd < 0) {
		int r = lp_err_sys(err, -errno, "cannot set up the clock");

		free(s);
		return r;
	}
	stopped = 0;
	stop_timer = s->ticker.fd;
	stop_signals(&mask);
	for (int number = 1; number < NSIG; number++) {
		if (sigismember(&mask, number) == 1)
			sigaction(number, &action, NULL);
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

/* The shortest time between moments. */
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
		.patient = true, .fd = -1, .now = tree_now, .wait = tree_wait, .free = tree_free};
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
