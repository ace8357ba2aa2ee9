#include "serve/live.h"

#include "base/cleanup.h"
#include "base/thread.h"
#include "base/time.h"
#include "serve/backtest.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_US (US_PER_SEC / 4)
#define CATCH_UP_STEP_US (60 * US_PER_SEC)
/* Verdicts on large fleets take seconds, so they get at most a fifth of the time. */
#define VERDICT_SHARE 4
#define SLICE_US (50000)
/* Listeners hear that nothing has changed at this interval. */
#define TELL_US (15 * US_PER_SEC)
/* Data is read again because of wrong clocks at most at this interval. */
#define AGAIN_US (300 * US_PER_SEC)

struct live {
	struct live_options opt;
	struct lp_diagnose_options diagnose;
	struct feed_options how;
	struct incidents *store;
	pthread_t thread;
	bool started;

	/* Protected by the mutex. */
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	bool stop, poked, ready;
	struct snapshot *snapshot;
	int64_t ahead_us;
	char trouble[504];

	/* For a replay: when it began, by the collector's steady clock and by the clock of the
	 * data. */
	int64_t began_us, data_us, end_us;

	/* The thread's own. */
	struct clocks clocks;
	struct feed *feed;
	int64_t again_us; /* when data was last read again because of clocks, by CLOCK_MONOTONIC */
	int64_t at_us;	  /* existing data was read up to this time */
	int64_t asked_us; /* when the last verdict was ready, by CLOCK_MONOTONIC */
	int64_t took_us;  /* CPU time of this thread for it; waiting for others is no reason to
			   * judge less often */
	uint64_t states;  /* hash of the states of all observers at the last verdict */
	int64_t told_us;  /* when listeners heard of the state, by CLOCK_MONOTONIC */
};

DEFINE_CLEANUP(struct live *, live_stop);

static bool stopping(struct live *l)
{
	bool stop;

	pthread_mutex_lock(&l->mutex);
	stop = l->stop;
	pthread_mutex_unlock(&l->mutex);
	return stop;
}

int64_t live_now_us(struct live *l)
{
	int64_t now = 0;

	if (!l->opt.replay)
		return clock_us(CLOCK_REALTIME);
	pthread_mutex_lock(&l->mutex);
	if (l->data_us)
		now = l->data_us +
			(int64_t)((double)(clock_us(CLOCK_MONOTONIC) - l->began_us) * l->opt.speed);
	if (l->end_us && now > l->end_us)
		now = l->end_us;
	pthread_mutex_unlock(&l->mutex);
	return now;
}

static void trouble_set(struct live *l, const char *text)
{
	bool news;

	pthread_mutex_lock(&l->mutex);
	news = strcmp(l->trouble, text) != 0;
	snprintf(l->trouble, sizeof(l->trouble), "%s", text);
	pthread_mutex_unlock(&l->mutex);
	if (news && *text)
		lp_warn_raise(l->opt.warn, "%s", text);
}

const char *live_trouble(struct live *l, char *buf, size_t size)
{
	pthread_mutex_lock(&l->mutex);
	snprintf(buf, size, "%s", l->trouble);
	pthread_mutex_unlock(&l->mutex);
	return buf;
}

int64_t live_ahead_us(struct live *l)
{
	int64_t ahead;

	pthread_mutex_lock(&l->mutex);
	ahead = l->ahead_us;
	pthread_mutex_unlock(&l->mutex);
	return ahead;
}

static void ready_set(struct live *l)
{
	pthread_mutex_lock(&l->mutex);
	l->ready = true;
	pthread_mutex_unlock(&l->mutex);
}

bool live_is_ready(struct live *l)
{
	bool ready;

	pthread_mutex_lock(&l->mutex);
	ready = l->ready;
	pthread_mutex_unlock(&l->mutex);
	return ready;
}

struct snapshot *live_snapshot(struct live *l)
{
	struct snapshot *s;

	pthread_mutex_lock(&l->mutex);
	s = snapshot_ref(l->snapshot);
	pthread_mutex_unlock(&l->mutex);
	return s;
}

struct incidents *live_incidents(struct live *l)
{
	return l->store;
}

/* A number that changes when the state of any observer changes. */
static uint64_t states_of(const struct observers *o)
{
	uint64_t sum = o->n;

	for (size_t i = 0; i < o->n; i++)
		sum = sum * 31 + (uint64_t)o->items[i].state;
	return sum;
}

static void publish(struct live *l, struct snapshot *s)
{
	struct snapshot *before;

	pthread_mutex_lock(&l->mutex);
	before = l->snapshot;
	l->snapshot = s;
	snapshot_ref(s);
	pthread_mutex_unlock(&l->mutex);
	if (l->opt.judged)
		l->opt.judged(l->opt.ctx, s, before);
	l->told_us = clock_us(CLOCK_MONOTONIC);
	snapshot_unref(before);
	snapshot_unref(s);
}

/* Without verdicts, data gets older. */
static void tell_if_due(struct live *l)
{
	int64_t now_us = clock_us(CLOCK_MONOTONIC);
	struct snapshot *s;

	if (l->opt.replay || now_us - l->told_us < TELL_US)
		return;
	l->told_us = now_us;
	s = live_snapshot(l);
	if (l->opt.judged)
		l->opt.judged(l->opt.ctx, s, s);
	snapshot_unref(s);
}

/* Make a verdict and update the incidents. If clocks turn out to be wrong, a replay is read again
 * at once; live, it returns -EAGAIN, and the caller has to begin again. */
static int verdict_get(struct live *l, int64_t now_us, struct lp_verdict **ret, struct lp_err *err)
{
	int r;

	while ((r = backtest_judge(l->feed, l->store, 0, now_us, ret, err)) == -EAGAIN &&
		l->opt.replay && !stopping(l)) {
		r = backtest_again(&l->feed, &l->how, l->at_us, err);
		if (r < 0)
			return r;
	}
	return r;
}

/* If the store fails (a full disk), the verdict is published anyway. */
static int judge(struct live *l, int64_t now_us, struct lp_err *err)
{
	int64_t began = clock_us(CLOCK_THREAD_CPUTIME_ID);
	struct lp_verdict *v = NULL;
	struct snapshot *s;
	int r = verdict_get(l, now_us, &v, err);

	if (r == -EAGAIN || !l->feed)
		return r;
	s = snapshot_new(v, feed_watermark_us(l->feed), feed_observers(l->feed),
		feed_topology(l->feed), now_us);
	if (!s && r == 0)
		r = lp_err_sys(err, -ENOMEM, "cannot keep a verdict");
	lp_verdict_free(v);
	l->asked_us = clock_us(CLOCK_MONOTONIC);
	l->took_us = clock_us(CLOCK_THREAD_CPUTIME_ID) - began;
	l->states = states_of(feed_observers(l->feed));
	if (!s)
		return r;
	s->n_late = feed_n_late(l->feed);
	s->verdict_s = (double)l->took_us / 1e6;
	publish(l, s);
	return r;
}

/* If no more data arrives, use the same verdict once more, so that new incidents can open. */
static bool look_again(struct live *l)
{
	return clock_us(CLOCK_MONOTONIC) - l->asked_us > feed_window_us(l->feed) &&
		incidents_pending(l->store);
}

/* Make a verdict if there is anything new, and if it does not take too much of the time. */
static int judge_if_due(struct live *l, int64_t now_us, struct lp_err *err)
{
	struct observers *o = feed_observers(l->feed);

	if (l->opt.is_blind && l->opt.is_blind(l->opt.ctx))
		observers_go_live(o, now_us);
	if (clock_us(CLOCK_MONOTONIC) - l->asked_us < VERDICT_SHARE * l->took_us)
		return 0;
	observers_rate(o, FEED_LATENESS_US, now_us);
	if (!l->opt.replay && clock_us(CLOCK_MONOTONIC) - l->again_us > AGAIN_US &&
		feed_check_arrival(l->feed, err) < 0)
		return -EAGAIN;
	if (!feed_due(l->feed) && states_of(o) == l->states && !look_again(l))
		return 0;
	return judge(l, now_us / US_PER_SEC * US_PER_SEC, err);
}

/* Where to begin: existing data is read again, as far back as configured. */
static int64_t begin_us(struct live *l)
{
	int64_t back = l->opt.look_back_us ? l->opt.look_back_us : FEED_LOOK_BACK_US;
	int64_t newest = follow_data_newest_us(l->opt.dir), now = clock_us(CLOCK_REALTIME);

	return (newest > now - back ? now : newest) - back;
}

static int feed_begin(struct live *l, struct lp_err *err)
{
	if (!l->opt.replay) {
		l->how.from_us = begin_us(l);
		l->at_us = l->how.from_us;
	}
	feed_free(l->feed);
	l->feed = NULL;
	return feed_new(&l->how, &l->feed, err);
}

/* Read existing data a minute at a time, so that all observers advance together: up to its end, and
 * no further, because what the servers recorded since will arrive. */
static int catch_up(struct live *l, int64_t now_us, struct lp_err *err)
{
	int r = 0;

	feed_observers(l->feed)->live = false;

	while (r >= 0 && l->at_us < now_us && !stopping(l)) {
		int64_t held;

		r = feed_read(l->feed, l->at_us, l->at_us, err);
		if (r >= 0)
			r = feed_advance(l->feed, l->at_us, err);
		held = feed_held_us(l->feed);
		if (held == INT64_MAX)
			break;
		l->at_us += CATCH_UP_STEP_US;
		if (held > l->at_us)
			l->at_us = held;
	}
	observers_go_live(feed_observers(l->feed), clock_us(CLOCK_REALTIME));
	if (r >= 0)
		ready_set(l);
	return r < 0 ? r : 0;
}

/* If the clocks of most servers are ahead of the collector's clock, that one is wrong. */
static void clocks_compare(struct live *l, int64_t now_us)
{
	int64_t held = feed_held_us(l->feed);
	size_t n_held = feed_n_held(l->feed), n = 0;
	const struct observers *o = feed_observers(l->feed);

	for (size_t i = 0; i < o->n; i++)
		n += o->items[i].state == OBSERVER_OK && o->items[i].last_us > INT64_MIN;
	pthread_mutex_lock(&l->mutex);
	if (n_held > n && held < INT64_MAX)
		l->ahead_us = held - now_us;
	pthread_mutex_unlock(&l->mutex);
}

static int step_live(struct live *l, struct lp_err *err)
{
	int64_t now_us = clock_us(CLOCK_REALTIME);
	int r = live_is_ready(l) ? 0 : catch_up(l, now_us, err);

	if (r < 0)
		return r;
	now_us += live_ahead_us(l);
	r = feed_read(l->feed, now_us + FEED_LATENESS_US, now_us, err);
	if (r >= 0)
		r = feed_advance(l->feed, now_us, err);
	if (r < 0)
		return r;
	clocks_compare(l, now_us);
	return judge_if_due(l, now_us, err);
}

/* The replay begins with the data. */
static int replay_begin(struct live *l, struct lp_err *err)
{
	int r = feed_read(l->feed, INT64_MIN, INT64_MIN, err);

	if (r < 0)
		return r;
	if (feed_held_us(l->feed) == INT64_MAX)
		return lp_err_set(err, -ENOENT, "there is nothing to replay");
	pthread_mutex_lock(&l->mutex);
	l->began_us = clock_us(CLOCK_MONOTONIC);
	l->data_us = feed_held_us(l->feed) / US_PER_SEC * US_PER_SEC;
	pthread_mutex_unlock(&l->mutex);
	l->at_us = l->data_us;
	return 0;
}

static int64_t data_end(const struct observers *o)
{
	int64_t last = INT64_MIN;

	for (size_t i = 0; i < o->n; i++)
		last = o->items[i].last_us > last ? o->items[i].last_us : last;
	return last;
}

/* The first whole second after the last sample that was read. */
static int64_t replay_end_us(struct live *l)
{
	return data_end(feed_observers(l->feed)) / US_PER_SEC * US_PER_SEC + US_PER_SEC;
}

/* At the end of a replay the verdict is that of `limpet diagnose` on all of the data. */
static int replay_end(struct live *l, struct lp_err *err)
{
	int64_t end_us = replay_end_us(l);
	int r = feed_finish(l->feed, err);

	pthread_mutex_lock(&l->mutex);
	l->end_us = end_us;
	pthread_mutex_unlock(&l->mutex);
	if (r == 0)
		r = judge(l, end_us, err);
	ready_set(l);
	return r;
}

static int step_replay(struct live *l, struct lp_err *err)
{
	int64_t now_us = live_now_us(l) / US_PER_SEC * US_PER_SEC, step = feed_window_us(l->feed);
	bool over = false;
	int r = 0;

	if (live_is_ready(l))
		return 0;
	while (r >= 0 && l->at_us < now_us && !over && !stopping(l)) {
		l->at_us = l->at_us + step < now_us ? l->at_us + step : now_us;
		r = backtest_step(l->feed, l->at_us, err);
		over = feed_held_us(l->feed) == INT64_MAX && l->at_us >= replay_end_us(l);
		if (r >= 0 && !over)
			r = judge_if_due(l, l->at_us, err);
	}
	return r < 0 ? r : over ? replay_end(l, err) : 0;
}

static void live_wait(struct live *l)
{
	struct timespec until = clock_after(CLOCK_MONOTONIC, WAIT_US);

	pthread_mutex_lock(&l->mutex);
	while (!l->stop && !l->poked &&
		pthread_cond_timedwait(&l->wake, &l->mutex, &until) != ETIMEDOUT)
		continue;
	l->poked = false;
	pthread_mutex_unlock(&l->mutex);
}

static int live_step(struct live *l, struct lp_err *err)
{
	int r = 0;

	if (!l->feed) {
		r = feed_begin(l, err);
		if (r == 0 && l->opt.replay)
			r = replay_begin(l, err);
	}
	if (r == 0)
		r = l->opt.replay ? step_replay(l, err) : step_live(l, err);
	if (r == -ESTALE || r == -EAGAIN) { /* begin again with what is known now */
		if (r == -EAGAIN)
			l->again_us = clock_us(CLOCK_MONOTONIC);
		feed_free(l->feed);
		l->feed = NULL;
		pthread_mutex_lock(&l->mutex);
		l->ready = false;
		pthread_mutex_unlock(&l->mutex);
		r = 0;
	}
	return r;
}

/* Failures are reported and tried again: a full disk may have room later. An engine that failed
 * must begin again. */
static void *live_run(void *arg)
{
	struct live *l = arg;

	while (!stopping(l)) {
		struct lp_err err = {0};
		int r = live_step(l, &err);

		trouble_set(l, r < 0 ? err.text : "");
		if (r == -ENOMEM && l->feed && !l->opt.replay) {
			feed_free(l->feed);
			l->feed = NULL;
		}
		tell_if_due(l);
		live_wait(l);
	}
	return NULL;
}

void live_poke(struct live *l)
{
	pthread_mutex_lock(&l->mutex);
	l->poked = true;
	pthread_cond_signal(&l->wake);
	pthread_mutex_unlock(&l->mutex);
}

void live_stop(struct live *l)
{
	if (!l)
		return;
	if (l->started) {
		pthread_mutex_lock(&l->mutex);
		l->stop = true;
		pthread_cond_signal(&l->wake);
		pthread_mutex_unlock(&l->mutex);
		pthread_join(l->thread, NULL);
	}
	feed_free(l->feed);
	clocks_release(&l->clocks);
	snapshot_unref(l->snapshot);
	pthread_cond_destroy(&l->wake);
	pthread_mutex_destroy(&l->mutex);
	free(l);
}

static struct live *live_new(const struct live_options *options)
{
	struct live *l = calloc(1, sizeof(*l));
	const struct observers none = {0};
	pthread_condattr_t attr;

	if (!l)
		return NULL;
	l->opt = *options;
	l->store = options->store;
	l->diagnose = (struct lp_diagnose_options){.topology = options->topology,
		.expect = options->expect,
		.bounded = true,
		.slice_us = SLICE_US,
		.warn = options->warn};
	l->how = (struct feed_options){.dir = options->dir,
		.replay = options->replay,
		.diagnose = &l->diagnose,
		.peek = options->peek,
		.peek_ctx = options->peek_ctx,
		.clocks = &l->clocks,
		.warn = options->warn};
	l->again_us = -AGAIN_US;
	pthread_mutex_init(&l->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&l->wake, &attr);
	pthread_condattr_destroy(&attr);
	l->snapshot = snapshot_new(NULL, INT64_MIN, &none, NULL, 0);
	if (!l->snapshot) {
		live_stop(l);
		return NULL;
	}
	return l;
}

/* Report mistakes in files that the user named immediately, not from the thread. */
static int options_check(struct live *l, struct lp_err *err)
{
	return feed_begin(l, err);
}

int live_start(const struct live_options *options, struct live **ret, struct lp_err *err)
{
	_cleanup_(live_stopp) struct live *l = live_new(options);
	int r = l ? 0 : lp_err_sys(err, -ENOMEM, "cannot start the engine");

	if (r == 0)
		r = options_check(l, err);
	if (r == 0 && options->replay)
		r = replay_begin(l, err);
	if (r < 0)
		return r;
	r = thread_start(&l->thread, live_run, l);
	if (r < 0)
		return lp_err_sys(err, r, "cannot start the engine");
	l->started = true;
	*ret = TAKE_PTR(l);
	return 0;
}
