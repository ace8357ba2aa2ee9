#include "serve/push.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/thread.h"
#include "base/time.h"
#include "import/follow_data.h"
#include "serve/push_places.h"
#include "serve/push_post.h"
#include "serve/push_series.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_SAMPLES 10000	       /* plus at most the samples of one component in a batch */
#define LOOK_EVERY_US US_PER_SEC       /* how often to look for new data */
#define SAVE_EVERY_US US_PER_SEC       /* how often to save the progress */
#define PAUSE_MIN_US (US_PER_SEC / 4)  /* first wait before a message is sent again; it doubles */
#define PAUSE_MAX_US (30 * US_PER_SEC) /* each time, up to this */
#define SPLITS_MAX 10		       /* how often a refused message is divided into halves */
#define TELL_EVERY_US (60 * US_PER_SEC)

struct push {
	struct push_config config;
	struct push_post *post;
	struct push_names names;
	struct push_series series; /* to be sent next */
	struct push_places places;
	struct strbuf message;
	struct follow_options follow;
	struct follow_data *data;
	int64_t saved_us; /* when the progress was saved */
	int64_t down_us;  /* since when the receiver accepts nothing; 0: it does */
	int64_t told_us;  /* when refused samples were last reported */
	uint64_t untold;  /* refused samples since then */
	bool all_refused; /* the whole last message was refused, so sending its parts is useless */
	bool running;
	pthread_t thread;
	pthread_mutex_t mutex; /* protects the following */
	pthread_cond_t wake;
	bool stop;
	struct push_stats stats;
};

/* Wait for a time; true if it is time to stop. */
static bool push_wait(struct push *p, int64_t span_us)
{
	int64_t until_us = clock_us(CLOCK_MONOTONIC) + span_us;
	struct timespec until = {until_us / US_PER_SEC, until_us % US_PER_SEC * 1000};
	bool stop;

	pthread_mutex_lock(&p->mutex);
	while (!p->stop && span_us && pthread_cond_timedwait(&p->wake, &p->mutex, &until) == 0)
		continue;
	stop = p->stop;
	pthread_mutex_unlock(&p->mutex);
	return stop;
}

static void stats_add(struct push *p, size_t sent, size_t refused, int64_t newest_us)
{
	pthread_mutex_lock(&p->mutex);
	p->stats.sent += sent;
	p->stats.refused += refused;
	if (sent && newest_us > p->stats.newest_us)
		p->stats.newest_us = newest_us;
	p->stats.expired += p->series.n_expired;
	pthread_mutex_unlock(&p->mutex);
	p->series.n_expired = 0;
}

/* Report once that the receiver accepts nothing, and once that it does again. */
static void receiver_is_down(struct push *p, bool down, const struct lp_err *why)
{
	int64_t now_us = clock_us(CLOCK_MONOTONIC);

	if (down && !p->down_us)
		lp_warn_raise(
			p->config.warn, "remote write: %s; trying again until it works", why->text);
	if (!down && p->down_us)
		lp_warn_raise(p->config.warn, "remote write: %s works again, after %lld s",
			push_post_shown(p->post), (long long)((now_us - p->down_us) / US_PER_SEC));
	if (!down || !p->down_us)
		p->down_us = down ? now_us : 0;
	pthread_mutex_lock(&p->mutex);
	p->stats.waiting = down;
	p->stats.retries += down;
	pthread_mutex_unlock(&p->mutex);
}

/* Send a part until it is accepted or refused. False: it is time to stop. */
static bool part_send(struct push *p, const struct push_part *part, size_t *ret_n,
	enum push_result *ret, struct lp_err *err)
{
	int64_t pause_us = PAUSE_MIN_US;

	*ret_n = push_series_message(&p->series, part, &p->message);
	*ret = PUSH_SENT;
	while (*ret_n) {
		*ret = push_post(p->post, &p->message, &p->stop, err);
		if (*ret != PUSH_LATER)
			break;
		if (push_wait(p, 0))
			return false;
		receiver_is_down(p, true, err);
		if (push_wait(p, pause_us))
			return false;
		pause_us = pause_us * 2 < PAUSE_MAX_US ? pause_us * 2 : PAUSE_MAX_US;
	}
	receiver_is_down(p, false, NULL);
	return true;
}

/* Report refused samples, but not for every message. */
static void refusal_tell(struct push *p, size_t n, const struct lp_err *why)
{
	int64_t now_us = clock_us(CLOCK_MONOTONIC);

	p->untold += n;
	if (p->told_us && now_us - p->told_us < TELL_EVERY_US)
		return;
	lp_warn_raise(p->config.warn,
		"remote write: %llu samples were refused and are not sent: %s",
		(unsigned long long)p->untold, why->text);
	p->untold = 0;
	p->told_us = now_us;
}

/* Cut a part in two: by series, and every other time by time. False: it is one sample. */
static bool part_halve(const struct push_part *part, int depth, struct push_part halves[2])
{
	int64_t span_ms = part->to_ms - part->from_ms;
	size_t runs = part->end_run - part->first_run;

	halves[0] = halves[1] = *part;
	if (span_ms > 1 && (depth % 2 == 0 || runs < 2))
		halves[0].to_ms = halves[1].from_ms = part->from_ms + span_ms / 2;
	else if (runs > 1)
		halves[0].end_run = halves[1].first_run = part->first_run + runs / 2;
	else
		return false;
	return true;
}

/* The result of a message. */
struct outcome {
	size_t sent, refused;
	struct lp_err why;
};

/* Send a part. If it is refused as a whole, send it in halves: a receiver that already has one of
 * the samples refuses all others in the same request. False: it is time to stop. */
static bool part_deliver(struct push *p, const struct push_part *part, int depth, struct outcome *o)
{
	struct push_part halves[2];
	struct lp_err err = {0};
	enum push_result result;
	size_t n;

	if (!part_send(p, part, &n, &result, &err))
		return false;
	if (result == PUSH_SENT) {
		o->sent += n;
		return true;
	}
	o->why = err;
	if (result == PUSH_TOO_MUCH && depth < SPLITS_MAX && !p->all_refused &&
		part_halve(part, depth, halves))
		return part_deliver(p, &halves[0], depth + 1, o) &&
			part_deliver(p, &halves[1], depth + 1, o);
	o->refused += n;
	return true;
}

/* Samples up to this time are too old to send. */
static int64_t oldest(const struct push *p)
{
	int64_t backlog_us = p->config.backlog_us ? p->config.backlog_us : PUSH_BACKLOG_US;

	return clock_us(CLOCK_REALTIME) - backlog_us;
}

static void places_save(struct push *p)
{
	struct lp_err err = {0};

	p->saved_us = clock_us(CLOCK_MONOTONIC);
	if (push_places_save(&p->places, p->config.dir, oldest(p), &err) < 0)
		lp_warn_raise(p->config.warn, "remote write: %s", err.text);
}

/* Send the collected samples. False: it is time to stop. */
static bool series_send(struct push *p)
{
	struct push_part all = {.end_run = p->series.n_runs};
	struct outcome o = {0};

	if (push_series_span(&p->series, &all.from_ms, &all.to_ms)) {
		int64_t newest_us = all.to_ms++ * 1000;

		if (!part_deliver(p, &all, 0, &o))
			return false;
		p->all_refused = !o.sent;
		stats_add(p, o.sent, o.refused, newest_us);
		if (o.refused)
			refusal_tell(p, o.refused, &o.why);
	}
	push_series_reset(&p->series);
	push_places_arrived(&p->places);
	if (clock_us(CLOCK_MONOTONIC) - p->saved_us >= SAVE_EVERY_US)
		places_save(p);
	return true;
}

/* Add a kind of a batch, and send whenever there is enough. -ECANCELED: it is time to stop. */
static int kind_take(
	struct push *p, const struct follow_item *item, uint32_t kind, int64_t after_us)
{
	const struct mapping_column *names[LP_COLUMNS_MAX];
	const struct lp_catalogue *catalogue = item->source->catalogue;
	const struct lp_batch_kind *k = &item->batch->kinds[kind];
	int64_t oldest_us = oldest(p);
	int r = push_names_find(&p->names, &catalogue->schemas[k->schema], names);

	for (uint32_t i = 0; r == 0 && i < k->n_components; i++) {
		r = push_series_add(
			&p->series, names, catalogue, item->batch, kind, i, after_us, oldest_us);
		if (r == 0 && p->series.n >= MESSAGE_SAMPLES && !series_send(p))
			r = -ECANCELED;
	}
	return r;
}

static int batch_take(struct push *p, const struct follow_item *item)
{
	const struct lp_batch *b = item->batch;
	const char *file = path_basename(item->source->path);
	int64_t after_us = push_places_begin(&p->places, file);
	uint32_t first = b->carry ? 1 : 0;
	int r = 0;

	after_us = after_us > p->places.begun_us ? after_us : p->places.begun_us;
	if (b->n_samples <= first || b->wall_us[b->n_samples - 1] <= after_us)
		return 0;
	for (uint32_t k = 0; r == 0 && k < b->n_kinds; k++)
		r = kind_take(p, item, k, after_us);
	return r < 0 ? r : push_places_take(&p->places, file, b->wall_us[b->n_samples - 1]);
}

/* Send all that has arrived. */
static int round_send(struct push *p, struct lp_err *err)
{
	struct follow_item item;
	int r;

	while ((r = follow_data_next(p->data, INT64_MAX, &item, err)) > 0) {
		/* Archives without an observer came by remote write. */
		if (item.what == FOLLOW_BATCH && *item.observer)
			r = batch_take(p, &item);
		if (r < 0)
			return r == -ENOMEM ? lp_err_sys(err, r, "cannot send samples") : r;
	}
	if (r == 0 && !series_send(p))
		r = -ECANCELED;
	return r;
}

static void *push_run(void *ctx)
{
	struct push *p = ctx;
	struct lp_err err = {0};
	int r = 0;

	while (!push_wait(p, r < 0 ? PAUSE_MAX_US : LOOK_EVERY_US)) {
		err = (struct lp_err){0};
		r = round_send(p, &err);
		if (r < 0 && r != -ECANCELED)
			lp_warn_raise(p->config.warn, "remote write: %s", err.text);
	}
	places_save(p);
	return NULL;
}

/* Begin with data that is not too old, and skip the part that was sent. */
static int places_begin(struct push *p, struct lp_err *err)
{
	int r = push_places_load(&p->places, p->config.dir, err);

	if (r < 0)
		return r;
	if (r == 0) {
		p->places.begun_us = p->config.backlog_us ? 0 : clock_us(CLOCK_REALTIME);
		p->places.changed = true;
	}
	p->follow.from_us = oldest(p);
	if (p->places.begun_us > p->follow.from_us)
		p->follow.from_us = p->places.begun_us;
	if (p->follow.from_us < 1)
		p->follow.from_us = 0;
	return push_places_save(&p->places, p->config.dir, oldest(p), err);
}

static int push_open(struct push *p, struct lp_err *err)
{
	int r = push_post_open(p->config.url, p->config.http_config, &p->post, err);

	if (r == 0)
		r = push_names_load(&p->names, err);
	if (r == 0)
		r = places_begin(p, err);
	/* The engine, which reads the same files, reports damage. */
	if (r == 0)
		r = follow_data_open(p->config.dir, &p->follow, &p->data, err);
	if (r < 0)
		return r;
	r = thread_start(&p->thread, push_run, p);
	p->running = r == 0;
	return r < 0 ? lp_err_sys(err, r, "cannot start a thread") : 0;
}

int push_start(const struct push_config *config, struct push **ret, struct lp_err *err)
{
	struct push *p = calloc(1, sizeof(*p));
	pthread_condattr_t attr;
	int r;

	if (!p)
		return lp_err_sys(err, -ENOMEM, "cannot send samples");
	p->config = *config;
	pthread_mutex_init(&p->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attr);
	pthread_condattr_destroy(&attr);
	r = push_open(p, err);
	if (r < 0) {
		push_stop(p);
		return r;
	}
	*ret = p;
	return 0;
}

struct push_stats push_stats(struct push *p)
{
	struct push_stats stats;

	pthread_mutex_lock(&p->mutex);
	stats = p->stats;
	pthread_mutex_unlock(&p->mutex);
	return stats;
}

void push_stop(struct push *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->mutex);
	__atomic_store_n(&p->stop, true, __ATOMIC_RELAXED); /* requests check it, too */
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->mutex);
	if (p->running)
		pthread_join(p->thread, NULL);
	follow_data_close(p->data);
	push_post_close(p->post);
	push_names_release(&p->names);
	push_series_release(&p->series);
	push_places_release(&p->places);
	strbuf_release(&p->message);
	pthread_mutex_destroy(&p->mutex);
	pthread_cond_destroy(&p->wake);
	free(p);
}
