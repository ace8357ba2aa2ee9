#include "serve/backtest.h"

#include "base/cleanup.h"
#include "base/time.h"
#include <errno.h>
#include <limpet/verdict.h>

DEFINE_CLEANUP(struct feed *, feed_free);

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

/* One that is being played. */
struct play {
	struct feed *feed;
	const struct backtest_options *opt;
	struct incidents *store;
	int64_t at_us, first_us, end_us;
	int64_t asked_us;
};

/* The end of the data that was read. */
static int64_t data_end(struct feed *f)
{
	const struct observers *o = feed_observers(f);
	int64_t end = INT64_MIN;

	for (size_t i = 0; i < o->n; i++)
		end = o->items[i].last_us > end ? o->items[i].last_us : end;
	return end;
}

static int play_judge(struct play *p, struct lp_err *err)
{
	struct lp_verdict *v = NULL;
	int r = backtest_judge(p->feed, p->store, p->opt->lateness_us, p->at_us, &v, err);

	lp_verdict_free(v);
	p->asked_us = p->at_us;
	return r;
}

int backtest_step(struct feed *f, int64_t at_us, struct lp_err *err)
{
	int r = feed_read(f, at_us, at_us, err);
	int64_t end_us = feed_end_us(f);

	return r < 0 ? r : feed_advance_to(f, at_us < end_us ? at_us : end_us, err);
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

/* Times beyond this (33,000 years) mean nothing: such samples are not played. */
#define PLAY_MAX_US (INT64_C(1) << 60)

static int64_t sensible(int64_t us)
{
	return us > PLAY_MAX_US ? PLAY_MAX_US : us < -PLAY_MAX_US ? -PLAY_MAX_US : us;
}

/* Times that people read are whole seconds. */
static int64_t whole_second(int64_t us)
{
	return -floor_div(-sensible(us), US_PER_SEC) * US_PER_SEC;
}

/* The next time to look at: a window later, or where data continues. */
static void play_next(struct play *p)
{
	int64_t held = feed_held_us(p->feed), step = sensible(feed_window_us(p->feed));
	int64_t end = data_end(p->feed);

	p->at_us += step;
	if (held < INT64_MAX && held > p->at_us && end < p->at_us - step)
		p->at_us = whole_second(held);
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
		play_next(p);
		play_tell(p);
	}
	if (r == 0)
		r = feed_finish(p->feed, err);
	end_us = data_end(p->feed);
	p->at_us = whole_second(end_us > p->first_us ? end_us : p->first_us);
	return r == 0 ? play_judge(p, err) : r;
}

int backtest_run(struct lp_dataset *ds, const struct backtest_options *options,
	struct incidents *store, int64_t *ret_first_us, int64_t *ret_last_us, struct lp_err *err)
{
	const struct feed_options how = {.replay = ds,
		.diagnose = options->diagnose,
		.lateness_us = options->lateness_us,
		.warn = options->warn};
	_cleanup_(feed_freep) struct feed *f = NULL;
	struct play p = {.opt = options, .store = store, .asked_us = -INT64_MAX / 2};
	int64_t known_first = 0;
	int r = lp_dataset_span(ds, &known_first, &p.end_us, err);

	if (r == 0)
		r = feed_new(&how, &f, err);
	if (r == 0)
		r = feed_read(f, INT64_MIN, INT64_MIN, err);
	if (r < 0)
		return r;
	p.feed = f;
	p.first_us = feed_held_us(f);
	*ret_first_us = *ret_last_us = 0;
	if (p.first_us == INT64_MAX)
		return 0;
	p.at_us = whole_second(p.first_us);
	r = play_all(&p, err);
	*ret_first_us = floor_div(sensible(p.first_us), US_PER_SEC) * US_PER_SEC;
	*ret_last_us = p.at_us;
	return r;
}
