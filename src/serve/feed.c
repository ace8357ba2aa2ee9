#include "serve/feed.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "engine/engine.h"
#include "serve/clocks_find.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct feed {
	const struct feed_options *opt;
	struct follow_options follow;
	struct follow_clocks correction;
	struct follow_data *data;
	struct lp_engine *engine; /* NULL: there is no data yet */
	struct observers observers;
	struct setup setup; /* the files that the options name, for queries before there is data */
	int64_t interval_us;
	int64_t now_us;	     /* when data is read */
	int64_t told_window; /* the last window that a verdict was given about */
};

DEFINE_CLEANUP(struct feed *, feed_free);

void feed_free(struct feed *f)
{
	if (!f)
		return;
	follow_data_close(f->data);
	lp_engine_free(f->engine);
	observers_release(&f->observers);
	setup_release(&f->setup);
	free(f);
}

/* Add the observers of an inventory, which must deliver data. */
static int expect(struct feed *f, const struct inventory *inv)
{
	int r = 0;

	for (uint32_t i = 0; inv && r == 0 && i < inv->n; i++) {
		uint32_t at;

		r = observers_get(&f->observers, inv->observers[i], &at);
		if (r == 0)
			f->observers.items[at].expected = true;
	}
	return r;
}

static int64_t lateness(const struct feed *f)
{
	return f->opt->lateness_us ? f->opt->lateness_us : FEED_LATENESS_US;
}

/* The number of other observers whose data ends, or begins, at about that time. */
static size_t others_near(const struct feed *f, const char *observer, int64_t us)
{
	size_t n = follow_data_n_near(f->data, us, lateness(f));

	for (size_t i = 0; i < f->observers.n; i++) {
		const struct observer *x = &f->observers.items[i];
		int64_t apart;

		n += x->last_us > INT64_MIN && strcmp(x->name, observer) != 0 &&
			!__builtin_sub_overflow(x->last_us, us, &apart) && apart >= -lateness(f) &&
			apart <= lateness(f);
	}
	return n;
}

/* A clock was set. Was it right before? Then other observers have data of the time at which this
 * batch begins; otherwise they have data of the time at which it ends. */
static bool was_right(
	const struct feed *f, const char *observer, const struct lp_batch *b, const int64_t *walls)
{
	size_t near = others_near(f, observer, walls[0]);

	return near && near >= others_near(f, observer, b->wall_us[b->n_samples - 1]);
}

static int64_t batch_last(const struct lp_batch *b)
{
	int64_t last = INT64_MIN;

	for (uint32_t i = b->carry ? 1 : 0; i < b->n_samples; i++)
		last = b->wall_us[i] > last ? b->wall_us[i] : last;
	return last;
}

/* Data of an observer has arrived, up to a time by its own clock. */
static int data_arrived(void *ctx, const char *observer, int64_t newest_us)
{
	struct feed *f = ctx;
	uint32_t at;

	if (observers_get(&f->observers, observer, &at) < 0)
		return -ENOMEM;
	observers_clock(&f->observers, at, clocks_ahead_us(f->opt->clocks, observer));
	observers_arrived(&f->observers, at, newest_us, f->now_us);
	return 0;
}

/* Compute the right times of a batch of an archive that arrives. */
static int batch_correct(
	void *ctx, const char *observer, const struct lp_batch *batch, int64_t *ret_walls)
{
	struct feed *f = ctx;
	int r = clocks_track(f->opt->clocks, observer, batch, ret_walls);

	if (r > 0 && !was_right(f, observer, batch, ret_walls)) {
		clocks_trust(f->opt->clocks, observer);
		r = clocks_track(f->opt->clocks, observer, batch, ret_walls);
	}
	return r < 0 ? r : data_arrived(f, observer, batch_last(batch));
}

static int64_t files_ahead(void *ctx, const char *observer)
{
	const struct feed *f = ctx;

	return *observer ? clocks_ahead_us(f->opt->clocks, observer)
			 : clocks_most_ahead_us(f->opt->clocks);
}

static int data_open(struct feed *f, struct lp_err *err)
{
	int r = f->opt->replay ? follow_data_open_dataset(f->opt->replay, &f->follow, &f->data, err)
			       : follow_data_open(f->opt->dir, &f->follow, &f->data, err);

	if (r == 0 && f->opt->clocks)
		follow_data_correct(f->data, &f->correction);
	return r;
}

int feed_new(const struct feed_options *options, struct feed **ret, struct lp_err *err)
{
	_cleanup_(feed_freep) struct feed *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return lp_err_sys(err, -ENOMEM, "cannot follow data");
	f->opt = options;
	f->observers.live = !options->replay;
	f->told_window = INT64_MIN;
	f->correction = (struct follow_clocks){
		.correct = batch_correct, .waits = data_arrived, .ahead_us = files_ahead, .ctx = f};
	f->follow = (struct follow_options){.from_us = options->from_us,
		.warn = options->warn,
		.peek = options->peek,
		.peek_ctx = options->peek_ctx};
	r = setup_open(&f->setup, options->diagnose, err);
	if (r == 0 &&
		(expect(f, &f->setup.expected) < 0 ||
			expect(f, topology_observers(f->setup.topology)) < 0))
		r = lp_err_sys(err, -ENOMEM, "cannot follow data");
	if (r == 0)
		r = data_open(f, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(f);
	return 0;
}

/* Before anything is read: find out how often observers sample. 0: there are no files. */
static int intervals_look(struct feed *f, struct lp_err *err)
{
	struct follow_item item;
	int r = follow_data_next(f->data, INT64_MIN, &item, err);

	if (r < 0)
		return r;
	f->interval_us = follow_data_interval_us(f->data);
	return follow_data_held_us(f->data) < INT64_MAX;
}

/* Create the engine when there is data. 1: it exists; 0: not yet. */
static int engine_make(struct feed *f, struct lp_err *err)
{
	int r = f->engine ? 1 : intervals_look(f, err);

	if (r <= 0 || f->engine)
		return r;
	if (!f->interval_us)
		f->interval_us = US_PER_SEC;
	r = lp_engine_new(f->opt->diagnose, f->interval_us, &f->engine, err);
	if (r < 0)
		return r;
	f->follow.select = lp_engine_select(f->engine);
	/* Reopen the files, so that the selection applies to files that are already open. */
	follow_data_close(f->data);
	f->data = NULL;
	r = data_open(f, err);
	return r < 0 ? r : 1;
}

/* A file of an observer begins: read its addresses and the meaning of its metrics. */
static int description_take(struct feed *f, const char *observer, struct lp_err *err)
{
	const char *addresses = follow_data_meta(f->data, "addresses"), *worse;
	int r = addresses && *addresses ? lp_engine_add_host(f->engine, observer, addresses, err)
					: 0;

	worse = follow_data_meta(f->data, "worse");
	if (r == 0 && worse && meanings_read(&f->engine->setup.meanings, worse) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot follow data");
	return r;
}

/* The last sample that contains a component; INT64_MIN: none. */
static int64_t row_last(const struct lp_batch *b, const struct lp_batch_kind *k, uint32_t row)
{
	for (uint32_t i = b->n_samples; i-- > (b->carry ? 1u : 0u);) {
		if (k->state[(size_t)row * b->cap_samples + i] & LP_PRESENT)
			return b->wall_us[i];
	}
	return INT64_MIN;
}

/* What is known of an observer's clock. */
static int64_t known_ahead(const struct feed *f, const char *observer)
{
	return f->opt->clocks ? clocks_ahead_us(f->opt->clocks, observer) : 0;
}

/* A batch of a foreign file may have many observers, some of them without values. */
static int heard_each(struct feed *f, const struct lp_source *source, const struct lp_batch *b)
{
	uint32_t at = 0;

	for (uint32_t k = 0; k < b->n_kinds; k++) {
		for (uint32_t i = 0; i < b->kinds[k].n_components; i++) {
			uint32_t id = b->kinds[k].ids[i];
			const char *name = source->catalogue->components[id].observer;
			int64_t last_us = row_last(b, &b->kinds[k], i);
			struct observer *x;

			if (last_us == INT64_MIN)
				continue;
			if (observers_get(&f->observers, name, &at) < 0)
				return -ENOMEM;
			x = &f->observers.items[at];
			if (last_us <= x->last_us)
				continue;
			observers_clock(&f->observers, at, known_ahead(f, name));
			observers_arrived(&f->observers, at, last_us + x->ahead_us, f->now_us);
			observers_heard(
				&f->observers, at, last_us, b->n_samples - b->carry, f->now_us);
		}
	}
	return 0;
}

/* Samples that the watermark has passed are ignored by the engine. */
static void late_note(struct feed *f, uint32_t at, const struct lp_batch *b)
{
	int64_t watermark_us = feed_watermark_us(f), from_us = INT64_MAX, until_us = INT64_MIN;

	for (uint32_t i = b->carry ? 1 : 0; i < b->n_samples; i++) {
		if (b->wall_us[i] > watermark_us)
			continue;
		from_us = b->wall_us[i] < from_us ? b->wall_us[i] : from_us;
		until_us = b->wall_us[i] > until_us ? b->wall_us[i] : until_us;
	}
	if (until_us > INT64_MIN)
		observers_heard_late(&f->observers, at, from_us, until_us, f->now_us);
}

static int batch_heard(struct feed *f, const struct follow_item *item, struct lp_err *err)
{
	const struct lp_batch *b = item->batch;
	uint64_t serial = item->source->catalogue->serial;
	struct observer *x;
	uint32_t at;

	if (observers_get(&f->observers, item->observer, &at) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot follow data");
	x = &f->observers.items[at];
	observers_clock(&f->observers, at, known_ahead(f, item->observer));
	if (!f->opt->clocks)
		observers_arrived(&f->observers, at, batch_last(b), f->now_us);
	observers_heard(&f->observers, at, batch_last(b), b->n_samples - b->carry, f->now_us);
	late_note(f, at, b);
	if (x->serial == serial)
		return 0;
	x->serial = serial;
	return description_take(f, item->observer, err);
}

/* A batch of several observers that is being fed. */
struct taking {
	struct feed *feed;
	const struct lp_source *source;
	struct lp_err *err;
};

static int part_take(void *ctx, const struct lp_batch *part)
{
	const struct taking *t = ctx;

	if (heard_each(t->feed, t->source, part) < 0)
		return lp_err_sys(t->err, -ENOMEM, "cannot follow data");
	return lp_engine_feed(t->feed->engine, t->source, part, t->err);
}

static int batch_take(struct feed *f, const struct follow_item *item, struct lp_err *err)
{
	struct taking t = {.feed = f, .source = item->source, .err = err};
	int r;

	if (*item->observer) {
		r = batch_heard(f, item, err);
		return r < 0 ? r : lp_engine_feed(f->engine, item->source, item->batch, err);
	}
	if (!f->opt->clocks)
		return part_take(&t, item->batch);
	r = clocks_split(f->opt->clocks, item->source, item->batch, part_take, &t);
	return r == -ENOMEM ? lp_err_sys(err, -ENOMEM, "cannot follow data") : r;
}

static int item_take(struct feed *f, const struct follow_item *item, struct lp_err *err)
{
	switch (item->what) {
	case FOLLOW_BATCH:
		return batch_take(f, item, err);
	case FOLLOW_LOG:
		return lp_engine_feed_log(f->engine, item->observer, item->log, err);
	case FOLLOW_REMARK:
		return lp_engine_feed_remark(
			f->engine, item->observer, item->wall_us, item->text, err);
	default:
		return 0;
	}
}

int feed_read(struct feed *f, int64_t until_us, int64_t now_us, struct lp_err *err)
{
	struct follow_item item;
	int n = 0;
	int r = engine_make(f, err);

	if (r <= 0)
		return r;
	f->now_us = now_us;
	while ((r = follow_data_next(f->data, until_us, &item, err)) > 0) {
		r = item_take(f, &item, err);
		if (r < 0)
			return r;
		n += item.what == FOLLOW_BATCH;
	}
	if (r == 0 && follow_data_interval_us(f->data) > f->interval_us)
		return lp_err_set(err, -ESTALE, "an observer samples less often than all before");
	return r < 0 ? r : n;
}

int64_t feed_held_us(const struct feed *f)
{
	return follow_data_held_us(f->data);
}

size_t feed_n_held(const struct feed *f)
{
	return follow_data_n_held(f->data);
}

int feed_advance_to(struct feed *f, int64_t watermark_us, struct lp_err *err)
{
	return f->engine ? lp_engine_advance(f->engine, watermark_us, err) : 0;
}

int feed_advance(struct feed *f, int64_t now_us, struct lp_err *err)
{
	int64_t ready = observers_ready_us(&f->observers, lateness(f), now_us);

	return ready > INT64_MIN ? feed_advance_to(f, ready, err) : 0;
}

int64_t feed_end_us(struct feed *f)
{
	int64_t end_us = INT64_MIN;

	if (!f->engine || feed_held_us(f) < INT64_MAX || engine_end(f->engine, &end_us, NULL) < 0 ||
		end_us == INT64_MIN)
		return INT64_MAX;
	return end_us + f->interval_us;
}

int feed_finish(struct feed *f, struct lp_err *err)
{
	int64_t end_us = feed_end_us(f);

	return end_us < INT64_MAX ? feed_advance_to(f, end_us, err) : 0;
}

int64_t feed_watermark_us(const struct feed *f)
{
	return f->engine ? f->engine->watermark_us : INT64_MIN;
}

int64_t feed_window_us(const struct feed *f)
{
	const struct lane *l = f->engine && f->engine->n_lanes ? &f->engine->lanes[0] : NULL;

	int64_t us;

	if (!l)
		return 15 * US_PER_SEC;
	/* Intervals come from files and may have any value. */
	return __builtin_mul_overflow(l->params.win_shift, l->params.step_us, &us) ? INT64_MAX : us;
}

/* The last window of the finest horizon that the watermark completes. */
static int64_t window_now(const struct feed *f)
{
	const struct lane *l = f->engine && f->engine->n_lanes ? &f->engine->lanes[0] : NULL;
	int64_t watermark = feed_watermark_us(f);

	if (watermark == INT64_MIN)
		return INT64_MIN;
	if (!l)
		return floor_div(watermark, feed_window_us(f));
	return floor_div(floor_div(watermark - l->params.step_us / 2, l->params.step_us) + 1 -
			l->params.win_size,
		l->params.win_shift);
}

bool feed_due(const struct feed *f)
{
	return window_now(f) > f->told_window;
}

static bool accuses(const struct lp_verdict *v)
{
	return v->n_suspects || v->n_warnings || v->n_absent;
}

/* The result of a search for clocks that are wrong. */
static int clocks_result(int found, struct lp_err *err)
{
	if (found < 0)
		return lp_err_sys(err, found, "cannot compare clocks");
	return found ? lp_err_set(err, -EAGAIN, "clocks of servers are wrong") : 0;
}

/* Do wrong clocks explain a verdict? Note in it which clocks are known to be wrong. */
static int clocks_check(struct feed *f, struct lp_verdict *v, struct lp_err *err)
{
	int r = 0;

	if (!f->opt->clocks)
		return 0;
	if (accuses(v))
		r = clocks_result(
			clocks_find_by_load(f->opt->clocks, f->engine, &f->observers), err);
	if (r == 0 && clocks_note(f->opt->clocks, v) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot compare clocks");
	return r;
}

int feed_verdict(struct feed *f, struct lp_verdict **ret, struct lp_err *err)
{
	struct lp_verdict *v = NULL;
	struct lp_err here = {0};
	int r = f->engine ? engine_verdict_lazy(f->engine, &v, &here)
			  : lp_err_set(&here, -ENODATA, "there is no data yet");

	if (r == 0)
		r = clocks_check(f, v, &here);
	if (r < 0) {
		lp_verdict_free(v);
		*err = here;
		return r;
	}
	f->told_window = window_now(f);
	*ret = v;
	return 0;
}

int feed_check_arrival(struct feed *f, struct lp_err *err)
{
	return f->opt->clocks
		? clocks_result(clocks_find_by_arrival(f->opt->clocks, &f->observers), err)
		: 0;
}

struct observers *feed_observers(struct feed *f)
{
	return &f->observers;
}

const struct topology *feed_topology(const struct feed *f)
{
	return f->setup.topology;
}

uint64_t feed_n_late(const struct feed *f)
{
	return f->engine ? lp_engine_n_late(f->engine) : 0;
}
