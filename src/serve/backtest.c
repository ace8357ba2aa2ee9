#include "serve/backtest.h"

#include "base/cleanup.h"
#include "base/time.h"
#include <errno.h>
#include <limpet/verdict.h>

int backtest_judge(struct feed *f, struct incidents *store, int64_t lateness_us, int64_t now_us,
	struct lp_verdict **ret, struct lp_err *err)
{
	_cleanup_(sightings_release) struct sightings seen = {0};
	struct observers *o = feed_observers(f);
	struct lp_verdict *v = NULL;
	int64_t watermark_us = feed_watermark_us(f);
	int r = watermark_us > INT64_MIN ? feed_verdict(f, &v, err) : 0;

	if (r < 0)
		return r;
	observers_rate(o, lateness_us ? lateness_us : FEED_LATENESS_US, now_us);
	if ((v && sightings_add_verdict(&seen, v, o) < 0) ||
		sightings_add_observers(&seen, o, feed_topology(f), now_us) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot keep incidents");
	if (r == 0)
		r = incidents_update(store, &seen, v ? watermark_us : now_us, now_us, err);
	*ret = v;
	return r;
}

/* Files are read more than once: what is wrong with them is said once. */
struct once {
	struct lp_warn *to;
	struct strmap said;
};

#define SAID_MAX 1000

static void once_warn(void *ctx, const char *text)
{
	struct once *o = ctx;
	uint32_t ignored;

	if (strmap_get(&o->said, text, &ignored))
		return;
	if (o->said.n < SAID_MAX && strmap_put(&o->said, text, 0) < 0)
		return;
	lp_warn_raise(o->to, "%s", text);
}

static void once_release(struct once *o)
{
	strmap_release(&o->said);
}

/* One that is being played. */
struct play {
	struct feed *feed;
	struct feed_options how; /* of the feed */
	const struct backtest_options *opt;
	struct incidents *store;
	int64_t at_us, first_us, end_us;
	int64_t asked_us;
};

static void play_release(struct play *p)
{
	feed_free(p->feed);
}

/* The end of the data that was read. */
static int64_t data_end(struct feed *f)
{
	const struct observers *o = feed_observers(f);
	int64_t end = INT64_MIN;

	for (size_t i = 0; i < o->n; i++)
		end = o->items[i].last_us > end ? o->items[i].last_us : end;
	return end;
}

int backtest_step(struct feed *f, int64_t at_us, struct lp_err *err)
{
	int r = feed_read(f, at_us, at_us, err);
	int64_t end_us = feed_end_us(f);

	return r < 0 ? r : feed_advance_to(f, at_us < end_us ? at_us : end_us, err);
}

/* Times beyond this (33,000 years) mean nothing: such samples are not played. */
#define PLAY_MAX_US (INT64_C(1) << 60)

static int64_t sensible(int64_t us)
{
	return us > PLAY_MAX_US ? PLAY_MAX_US : us < -PLAY_MAX_US ? -PLAY_MAX_US : us;
}

/* Times for people are in whole seconds. */
static int64_t whole_second(int64_t us)
{
	return -floor_div(-sensible(us), US_PER_SEC) * US_PER_SEC;
}

/* The next time to look at: a window later, or where data continues. */
static int64_t next_us(struct feed *f, int64_t at_us)
{
	int64_t held = feed_held_us(f), step = sensible(feed_window_us(f));

	if (held < INT64_MAX && held > at_us + step && data_end(f) < at_us)
		return whole_second(held);
	return at_us + step;
}

/* Play a new feed up to a time, without verdicts. */
static int play_silently(struct feed *f, int64_t until_us, struct lp_err *err)
{
	int r = feed_read(f, INT64_MIN, INT64_MIN, err);
	int64_t at_us = feed_held_us(f);

	if (at_us == INT64_MAX)
		return r < 0 ? r : 0;
	for (at_us = whole_second(at_us); r >= 0 && at_us < until_us; at_us = next_us(f, at_us))
		r = backtest_step(f, at_us, err);
	if (r >= 0)
		r = backtest_step(f, until_us, err);
	if (r >= 0 && feed_held_us(f) == INT64_MAX && data_end(f) <= until_us)
		r = feed_finish(f, err);
	return r < 0 ? r : 0;
}

int backtest_again(struct feed **f, struct feed_options *how, int64_t at_us, struct lp_err *err)
{
	int64_t from_us = sensible(feed_watermark_us(*f)) - FEED_LOOK_BACK_US;
	int r;

	*err = (struct lp_err){0};
	feed_free(*f);
	*f = NULL;
	if (from_us > how->from_us && from_us > 0)
		how->from_us = from_us;
	r = feed_new(how, f, err);
	return r < 0 ? r : play_silently(*f, at_us, err);
}

static int play_judge(struct play *p, struct lp_err *err)
{
	struct lp_verdict *v = NULL;
	int r;

	while ((r = backtest_judge(p->feed, p->store, p->opt->lateness_us, p->at_us, &v, err)) ==
		-EAGAIN) {
		r = backtest_again(&p->feed, &p->how, p->at_us, err);
		if (r < 0)
			return r;
	}
	lp_verdict_free(v);
	p->asked_us = p->at_us;
	return r;
}

static int play_step(struct play *p, struct lp_err *err)
{
	int r = backtest_step(p->feed, p->at_us, err);

	if (r < 0)
		return r;
	if (feed_due(p->feed) && p->at_us - p->asked_us >= p->opt->every_us)
		r = play_judge(p, err);
	return r < 0 ? r : 0;
}

static void play_tell(const struct play *p)
{
	if (p->opt->progress && p->end_us > p->first_us)
		p->opt->progress(p->opt->progress_ctx, "playing",
			(double)(p->at_us - p->first_us) / (double)(p->end_us - p->first_us));
}

static int play_all(struct play *p, struct lp_err *err)
{
	int64_t end_us;
	int r = 0;

	while (r == 0 && p->at_us < PLAY_MAX_US &&
		(feed_held_us(p->feed) < INT64_MAX || p->at_us <= data_end(p->feed))) {
		r = play_step(p, err);
		p->at_us = next_us(p->feed, p->at_us);
		play_tell(p);
	}
	if (r == 0)
		r = feed_finish(p->feed, err);
	if (r < 0)
		return r;
	end_us = data_end(p->feed);
	p->at_us = whole_second(end_us > p->first_us ? end_us : p->first_us);
	return play_judge(p, err);
}

int backtest_run(struct lp_dataset *ds, const struct backtest_options *options,
	struct incidents *store, int64_t *ret_first_us, int64_t *ret_last_us, struct lp_err *err)
{
	_cleanup_(clocks_release) struct clocks clocks = {0};
	_cleanup_(once_release) struct once once = {.to = options->warn};
	struct lp_warn warn = {.warn = once_warn, .ctx = &once};
	_cleanup_(play_release) struct play p = {.opt = options,
		.store = store,
		.asked_us = -INT64_MAX / 2,
		.how = {.replay = ds,
			.diagnose = options->diagnose,
			.lateness_us = options->lateness_us,
			.clocks = &clocks,
			.warn = &warn}};
	int64_t known_first = 0;
	int r = lp_dataset_span(ds, &known_first, &p.end_us, err);

	if (r == 0)
		r = feed_new(&p.how, &p.feed, err);
	if (r == 0)
		r = feed_read(p.feed, INT64_MIN, INT64_MIN, err);
	if (r < 0)
		return r;
	p.first_us = feed_held_us(p.feed);
	*ret_first_us = *ret_last_us = 0;
	if (p.first_us == INT64_MAX)
		return 0;
	p.at_us = whole_second(p.first_us);
	r = play_all(&p, err);
	*ret_first_us = floor_div(sensible(p.first_us), US_PER_SEC) * US_PER_SEC;
	*ret_last_us = p.at_us;
	return r;
}
