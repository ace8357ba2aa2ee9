#include "collect/recorder.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "collect/keep.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A clock that moved by more than this (or half an interval) against the steady one was set. */
#define STEP_MIN_US (US_PER_SEC / 2)
/* Steps from here on are told at once, not only noted in the archive. */
#define STEP_TELL_US (60 * US_PER_SEC)
/* A clock set back by less than this does not begin a file for the old day again. */
#define BACK_SAME_FILE_US (3600 * US_PER_SEC)
/* A collector that worked for so many samples has its next failure told again. */
#define GOOD_AGAIN 600
/* Samples in a batch: there are SPOOL_DEPTH + 2 of them in memory. */
#define BATCH_MAX 600

/* A collector at work. */
struct instrument {
	const struct collector *collector;
	void *state;
	unsigned hush; /* samples until its next failure is told: this one was */
};

struct recorder {
	const struct recorder_config *config;
	struct ticker *ticker;
	struct spool *spool;
	struct instrument instruments[RECORDER_COLLECTORS_MAX];
	unsigned n_instruments;
	struct collect_sink sink;
	int64_t first_mono, last_wall, last_mono;
	int64_t day_start; /* of the file at hand */
	struct recorder_stats stats;
	bool primed;
};

static void recorder_release(struct recorder *r)
{
	for (unsigned i = 0; i < r->n_instruments; i++)
		r->instruments[i].collector->close(r->instruments[i].state);
	spool_close(r->spool, NULL);
	lp_catalogue_free(r->sink.catalogue);
}

/* Open every collector that this system can run; say which it cannot. */
static int instruments_open(struct recorder *r, struct lp_err *err)
{
	const struct recorder_config *c = r->config;

	for (unsigned i = 0; i < RECORDER_COLLECTORS_MAX && c->collectors[i]; i++) {
		struct instrument *in = &r->instruments[r->n_instruments];
		struct lp_err here = {0};
		int got = c->collectors[i]->open(&c->collect, &in->state, &here);

		if (got == -ENOENT || got == -EOPNOTSUPP) {
			lp_warn_raise(c->warn, "without %s: %s", c->collectors[i]->name, here.text);
			continue;
		}
		if (got < 0) {
			*err = here;
			return lp_err_prefix(err, "%s", c->collectors[i]->name);
		}
		in->collector = c->collectors[i];
		r->n_instruments++;
	}
	if (!r->n_instruments)
		return lp_err_set(err, -ENOENT, "there is nothing to record here");
	return 0;
}

/* The next instant that is a whole number of intervals since 1970: the same on all servers. */
static int64_t next_instant(const struct recorder *r, int64_t wall_us)
{
	int64_t interval = r->config->interval_us;

	return (floor_div(wall_us, interval) + 1) * interval;
}

/* Did somebody set the clock between the last sample and this one? */
static void note_clock_step(struct recorder *r, int64_t wall_us, int64_t mono_us)
{
	int64_t step = (wall_us - r->last_wall) - (mono_us - r->last_mono);
	int64_t limit =
		r->config->interval_us / 2 > STEP_MIN_US ? r->config->interval_us / 2 : STEP_MIN_US;
	char text[160], from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];

	if (!r->stats.samples || (step < limit && step > -limit))
		return;
	snprintf(text, sizeof(text), "kind=clock-step step_us=%" PRId64, step);
	spool_event(r->spool, wall_us, text);
	if (step >= STEP_TELL_US || step <= -STEP_TELL_US)
		lp_warn_raise(r->config->warn,
			"the clock leapt by %+.1f s, from %s to %s; samples are kept under the new "
			"time",
			(double)step / 1e6, time_format(r->last_wall, from),
			time_format(wall_us, to));
}

/* Count instants that passed without a sample. */
static void note_late(struct recorder *r, int64_t mono_us)
{
	int64_t interval = r->config->interval_us;
	int64_t missed = (mono_us - r->last_mono + interval / 2) / interval - 1;

	if (r->stats.samples && missed > 0)
		r->stats.late += (uint64_t)missed;
}

static void instruments_sample(struct recorder *r)
{
	for (unsigned i = 0; i < r->n_instruments; i++) {
		struct instrument *in = &r->instruments[i];
		struct lp_err err = {0};
		int got = in->collector->sample(in->state, &r->sink, &err);

		if (got < 0 && !in->hush)
			lp_warn_raise(r->config->warn, "%s: %s (told once)", in->collector->name,
				err.text);
		if (got < 0)
			in->hush = GOOD_AGAIN;
		else if (in->hush)
			in->hush--;
	}
}

static bool batch_full(const struct lp_batch *b)
{
	return b->n_samples == b->cap_samples;
}

static int submit(struct recorder *r, bool new_file)
{
	return spool_submit(r->spool, r->sink.catalogue, r->sink.n_added, new_file);
}

/* A new day has a new file; so has an old one that a clock set far back returns to. */
static int begin_day(struct recorder *r, int64_t wall_us)
{
	if (r->stats.samples && wall_us < r->day_start + US_PER_DAY &&
		wall_us >= r->day_start - BACK_SAME_FILE_US)
		return 0;
	r->day_start = keep_day_start(wall_us);
	return r->stats.samples ? submit(r, true) : 0;
}

/* Take one sample, and hand the batch over when it is full or a new day begins. */
static int take_sample(struct recorder *r, struct lp_err *err)
{
	int64_t wall_us, mono_us;
	int got;

	r->ticker->now(r->ticker, &wall_us, &mono_us);
	got = begin_day(r, wall_us);
	note_clock_step(r, wall_us, mono_us);
	note_late(r, mono_us);
	r->sink.batch = spool_batch(r->spool);
	if (got == 0)
		got = lp_batch_add_sample(r->sink.batch, wall_us, mono_us);
	if (got < 0)
		return lp_err_sys(err, got, "cannot take a sample");
	instruments_sample(r);
	if (!r->stats.samples++)
		r->first_mono = mono_us;
	r->last_wall = wall_us;
	r->last_mono = mono_us;
	if (!r->primed)
		got = spool_prime(r->spool);
	r->primed = true;
	if (got == 0 && batch_full(r->sink.batch))
		got = submit(r, false);
	return got < 0 ? lp_err_sys(err, got, "cannot keep samples") : 0;
}

/* Is the recording as long as was asked for? */
static bool duration_over(const struct recorder *r)
{
	return r->config->duration_us && r->stats.samples &&
		r->last_mono - r->first_mono >= r->config->duration_us - r->config->interval_us / 2;
}

static int recorder_loop(struct recorder *r, struct lp_err *err)
{
	int64_t wall_us, mono_us;
	int event, got;

	while (!duration_over(r)) {

		r->ticker->now(r->ticker, &wall_us, &mono_us);
		event = r->ticker->wait(r->ticker, next_instant(r, wall_us), err);
		if (event < 0)
			return event;
		if (event == TICKER_STOP)
			break;
		if (event == TICKER_AGAIN)
			continue;
		got = take_sample(r, err);
		if (got < 0)
			return got;
	}
	got = submit(r, false);
	return got < 0 ? lp_err_sys(err, got, "cannot keep samples") : 0;
}

/* How many samples may wait in memory until they are written. */
static uint32_t samples_per_flush(const struct recorder_config *c)
{
	int64_t n = c->flush_us / c->interval_us;

	return n < 1 ? 1 : n > BATCH_MAX ? BATCH_MAX : (uint32_t)n;
}

int recorder_run(const struct recorder_config *config, struct ticker *ticker,
	struct recorder_stats *ret_stats, struct lp_err *err)
{
	_cleanup_(recorder_release) struct recorder r = {.config = config, .ticker = ticker};
	struct spool_config spool = config->spool;
	int got;

	r.sink.catalogue = lp_catalogue_new();
	r.sink.warn = config->warn;
	if (!r.sink.catalogue)
		return lp_err_sys(err, -ENOMEM, "cannot begin to record");
	got = instruments_open(&r, err);
	if (got < 0)
		return got;
	spool.interval_us = config->interval_us;
	spool.batch_samples = samples_per_flush(config);
	spool.observer = config->collect.observer;
	spool.patient = ticker->patient;
	spool.warn = config->warn;
	got = spool_open(&spool, &r.spool, err);
	if (got < 0)
		return got;
	got = recorder_loop(&r, err);
	r.stats.components = r.sink.catalogue->n_components;
	spool_close(TAKE_PTR(r.spool), &r.stats.spool);
	if (got < 0)
		return got;
	*ret_stats = r.stats;
	return 0;
}
