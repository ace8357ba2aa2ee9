#include "collect/loop.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "collect/census.h"
#include "collect/keep.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

/* If the wall clock moved by more than this (or half an interval) relative to the steady clock, it
 * was set. */
#define STEP_MIN_US (US_PER_SEC / 2)
/* Larger steps are reported immediately; smaller ones are only noted in the archive. */
#define STEP_REPORT_US (60 * US_PER_SEC)
/* A clock set back by less than this does not begin a file for the old day again. */
#define BACK_SAME_FILE_US (3600 * US_PER_SEC)
/* Samples per batch; there are SPOOL_DEPTH + 2 batches in memory. */
#define BATCH_MAX 600
/* Rows of components that are gone, per batch. */
#define BATCH_SPARE_ROWS 1024
/* An instrument is served at least this often, even if its descriptor is not readable. */
#define SERVE_MS 50
/* An instrument that waits by itself, and is the only one, is interrupted less often. */
#define SERVE_ALONE_MS 500

/* An active instrument. */
struct part {
	const struct instrument *instrument;
	void *state;
	int fd;	    /* descriptor to wait for, or -1 */
	bool ended; /* there is nothing left to serve */
};

struct loop {
	const struct loop_config *config;
	struct ticker *ticker;
	struct spool *spool;
	struct part parts[LOOP_INSTRUMENTS_MAX];
	unsigned n_parts;
	bool at_ends; /* an instrument is sampled there */
	struct collect_sink sink;
	struct census census;
	int64_t begin_mono, first_mono, last_wall, last_mono;
	int64_t day_start; /* of the current file */
	struct loop_stats stats;
	bool primed;
};

static void parts_close(struct loop *l)
{
	while (l->n_parts) {
		struct part *p = &l->parts[--l->n_parts];

		p->instrument->close(p->state);
	}
}

static void loop_release(struct loop *l)
{
	parts_close(l);
	spool_close(l->spool, NULL);
	lp_catalogue_free(l->sink.catalogue);
	census_release(&l->census);
}

static int parts_open(struct loop *l, struct lp_err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < LOOP_INSTRUMENTS_MAX; i++) {
		const struct loop_instrument *in = &l->config->instruments[i];
		struct part *p = &l->parts[l->n_parts];

		if (!in->instrument)
			break;
		*p = (struct part){.instrument = in->instrument, .fd = -1};
		r = in->instrument->open(in->config, &p->state, err);
		if (r == 0)
			l->n_parts++;
		l->at_ends |= in->instrument->at_ends;
	}
	return r;
}

static int parts_begin(struct loop *l, struct lp_err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < l->n_parts; i++) {
		struct part *p = &l->parts[i];

		if (p->instrument->begin)
			r = p->instrument->begin(p->state, &l->sink, err);
		if (r == 0 && p->instrument->descriptor)
			p->fd = p->instrument->descriptor(p->state);
	}
	return r;
}

static bool is_served(const struct part *p)
{
	return p->instrument->serve && !p->ended;
}

/* Have all instruments ended? Those that are only sampled never end. */
static bool parts_ended(const struct loop *l)
{
	for (unsigned i = 0; i < l->n_parts; i++) {
		if (!l->parts[i].ended)
			return false;
	}
	return true;
}

static int part_serve(struct part *p, int timeout_ms, struct lp_err *err)
{
	int r = p->instrument->serve(p->state, timeout_ms, err);

	p->ended = r == 1;
	return r < 0 && r != -EINTR ? r : 0;
}

/* Serve all instruments but `except`, without waiting. */
static int parts_serve(struct loop *l, const struct part *except, struct lp_err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < l->n_parts; i++) {
		if (is_served(&l->parts[i]) && &l->parts[i] != except)
			r = part_serve(&l->parts[i], 0, err);
	}
	return r;
}

static int parts_sample(struct loop *l, const struct instant *at, struct lp_err *err)
{
	bool again = false;

	for (unsigned i = 0; i < l->n_parts; i++) {
		const struct part *p = &l->parts[i];
		int r = p->instrument->sample(p->state, at, &l->sink, err);

		if (r < 0)
			return r;
		again |= r == 1;
	}
	return again;
}

/* The next multiple of the interval since 1970: the same on all servers. */
static int64_t next_instant(const struct loop *l)
{
	int64_t wall_us, mono_us, interval = l->config->interval_us;

	l->ticker->now(l->ticker, &wall_us, &mono_us);
	return (floor_div(wall_us, interval) + 1) * interval;
}

/* Was the clock set between the last sample and this one? */
static void note_clock_step(struct loop *l, const struct instant *at)
{
	int64_t step = (at->wall_us - l->last_wall) - (at->mono_us - l->last_mono);
	int64_t limit =
		l->config->interval_us / 2 > STEP_MIN_US ? l->config->interval_us / 2 : STEP_MIN_US;
	char text[160], from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];

	if (!l->stats.samples || (step < limit && step > -limit))
		return;
	snprintf(text, sizeof(text), "kind=clock-step step_us=%" PRId64, step);
	spool_event(l->spool, at->wall_us, text);
	if (step >= STEP_REPORT_US || step <= -STEP_REPORT_US)
		lp_warn_raise(l->config->warn,
			"the clock leapt by %+.1f s, from %s to %s; samples are kept under the new "
			"time",
			(double)step / 1e6, time_format(l->last_wall, from),
			time_format(at->wall_us, to));
}

/* Count instants that passed without a sample. */
static void note_late(struct loop *l, const struct instant *at)
{
	int64_t interval = l->config->interval_us;
	int64_t missed = (at->mono_us - l->last_mono + interval / 2) / interval - 1;

	if (l->stats.samples && missed > 0)
		l->stats.late += (uint64_t)missed;
}

static bool batch_full(const struct lp_batch *b)
{
	return b->n_samples == b->cap_samples;
}

/* Do most of the batch's rows belong to components that are gone? Each of them takes memory in all
 * samples of this batch, but only present components are carried to the next one. */
static bool batch_crowded(const struct lp_batch *b)
{
	uint32_t rows = 0, present = 0;

	for (uint32_t i = 0; i < b->n_kinds; i++)
		rows += b->kinds[i].n_components;
	if (rows <= BATCH_SPARE_ROWS)
		return false;
	for (uint32_t i = 0; i < b->n_kinds; i++) {
		const struct lp_batch_kind *k = &b->kinds[i];

		for (uint32_t row = 0; row < k->n_components; row++)
			present += k->state[(size_t)row * b->cap_samples + b->n_samples - 1] &
				LP_PRESENT;
	}
	return rows > 2 * present + BATCH_SPARE_ROWS;
}

/* Submit the batch. The next one has only the components of the last sample, so the others may
 * retire. */
static int submit(struct loop *l, bool new_file)
{
	int r;

	census_note(&l->census, spool_batch(l->spool));
	r = spool_submit(l->spool, new_file);
	if (r == 0)
		census_retire(&l->census, l->sink.catalogue, spool_journal(l->spool));
	return r;
}

/* Begin a new file for a new day, and also for an old day if the clock was set far back. */
static int begin_day(struct loop *l, int64_t wall_us)
{
	if (l->stats.samples && wall_us < l->day_start + US_PER_DAY &&
		wall_us >= l->day_start - BACK_SAME_FILE_US)
		return 0;
	l->day_start = keep_day_start(wall_us);
	return l->stats.samples ? submit(l, true) : 0;
}

/* Add a sample to the batch, which the instruments fill. */
static int begin_sample(struct loop *l, const struct instant *at, struct lp_err *err)
{
	int r = begin_day(l, at->wall_us);

	note_clock_step(l, at);
	note_late(l, at);
	l->sink.batch = spool_batch(l->spool);
	if (r == 0)
		r = lp_batch_add_sample(l->sink.batch, at->wall_us, at->mono_us);
	return r < 0 ? lp_err_sys(err, r, "cannot take a sample") : 0;
}

/* Take one sample, and submit the batch when it is full or a new day begins. 1: an instrument has
 * more data than fits into it. */
static int take_sample(struct loop *l, bool last, struct lp_err *err)
{
	struct instant at = {.last = last};
	int r, again;

	l->ticker->now(l->ticker, &at.wall_us, &at.mono_us);
	r = begin_sample(l, &at, err);
	again = r == 0 ? parts_sample(l, &at, err) : r;
	if (again < 0)
		return again;
	if (!l->stats.samples++)
		l->first_mono = at.mono_us;
	l->last_wall = at.wall_us;
	l->last_mono = at.mono_us;
	if (!l->primed)
		r = spool_prime(l->spool);
	l->primed = true;
	if (r == 0 && (batch_full(l->sink.batch) || batch_crowded(l->sink.batch)))
		r = submit(l, false);
	return r < 0 ? lp_err_sys(err, r, "cannot keep samples") : again;
}

/* The rest of the duration. If samples are taken at instants only, the last instant counts, not the
 * time: the next half interval has no instant. */
static int64_t time_left(const struct loop *l)
{
	int64_t wall_us, mono_us, duration_us = l->config->duration_us;

	if (!l->at_ends)
		return l->stats.samples
			? l->first_mono + duration_us - l->config->interval_us / 2 - l->last_mono
			: duration_us;
	l->ticker->now(l->ticker, &wall_us, &mono_us);
	return l->begin_mono + duration_us - mono_us;
}

static bool is_over(const struct loop *l)
{
	return parts_ended(l) || (l->config->duration_us && time_left(l) <= 0);
}

/* The end of the wait: the next instant, or the end of the recording if that is earlier. */
static int64_t wait_until(const struct loop *l, int64_t next_us)
{
	int64_t wall_us, mono_us, end_us;

	if (!l->at_ends || !l->config->duration_us)
		return next_us;
	l->ticker->now(l->ticker, &wall_us, &mono_us);
	end_us = wall_us + time_left(l);
	return end_us < next_us ? end_us : next_us;
}

/* Milliseconds until a time, rounded up, at most `max`. */
static int wait_ms(const struct loop *l, int64_t until_us, int max)
{
	int64_t wall_us, mono_us, left_us;

	l->ticker->now(l->ticker, &wall_us, &mono_us);
	left_us = until_us - wall_us;
	if (left_us <= 0)
		return 0;
	return left_us / 1000 >= max ? max : (int)(left_us / 1000) + 1;
}

/* The instrument that waits by itself because it has no descriptor; NULL: none. */
static struct part *find_waiter(struct loop *l, bool *ret_alone)
{
	struct part *waiter = NULL;

	*ret_alone = true;
	for (unsigned i = 0; i < l->n_parts; i++) {
		struct part *p = &l->parts[i];

		if (!is_served(p))
			continue;
		if (p->fd < 0 && !waiter)
			waiter = p;
		else
			*ret_alone = false;
	}
	return waiter;
}

/* Wait for the ticker and all descriptors. */
static int poll_all(const struct loop *l, int timeout_ms, bool *ret_due, struct lp_err *err)
{
	struct pollfd fds[LOOP_INSTRUMENTS_MAX + 1] = {{.fd = l->ticker->fd, .events = POLLIN}};
	nfds_t n = 1;

	for (unsigned i = 0; i < l->n_parts; i++) {
		if (is_served(&l->parts[i]) && l->parts[i].fd >= 0)
			fds[n++] = (struct pollfd){.fd = l->parts[i].fd, .events = POLLIN};
	}
	if (poll(fds, n, timeout_ms) < 0 && errno != EINTR)
		return lp_err_sys(err, -errno, "cannot wait");
	*ret_due = fds[0].revents;
	return 0;
}

/* Serve until the ticker has an event. */
static int serve_until(struct loop *l, int64_t until_us, struct lp_err *err)
{
	bool due = false, alone;
	int r = l->ticker->arm(l->ticker, until_us, err);

	while (r == 0 && !due && !parts_ended(l)) {
		struct part *waiter = find_waiter(l, &alone);

		if (waiter)
			r = part_serve(waiter,
				wait_ms(l, until_us, alone ? SERVE_ALONE_MS : SERVE_MS), err);
		if (r == 0)
			r = poll_all(l, waiter ? 0 : SERVE_MS, &due, err);
		if (r == 0)
			r = parts_serve(l, waiter, err);
	}
	return r;
}

/* Wait until a time. Returns an enum ticker_event. */
static int loop_wait(struct loop *l, int64_t until_us, struct lp_err *err)
{
	bool served = false;
	int r = 0;

	for (unsigned i = 0; i < l->n_parts; i++)
		served |= is_served(&l->parts[i]);
	if (served && l->ticker->fd >= 0)
		r = serve_until(l, until_us, err);
	else if (served) /* its time stands still during a wait */
		r = parts_serve(l, NULL, err);
	if (r < 0)
		return r;
	return parts_ended(l) ? TICKER_STOP : l->ticker->wait(l->ticker, until_us, err);
}

/* Sample at every instant until the end of the recording. */
static int sample_all(struct loop *l, struct lp_err *err)
{
	int64_t next_us = next_instant(l);
	int r = l->at_ends ? take_sample(l, false, err) : 0;

	while (r >= 0 && !is_over(l)) {
		int64_t until_us = wait_until(l, next_us);
		int event = loop_wait(l, until_us, err);

		if (event < 0 || event == TICKER_STOP)
			return event < 0 ? event : 0;
		if (event == TICKER_DUE && until_us == next_us)
			r = take_sample(l, false, err);
		next_us = next_instant(l);
	}
	return r < 0 ? r : 0;
}

/* Take the last sample. */
static int sample_end(struct loop *l, struct lp_err *err)
{
	int r = parts_serve(l, NULL, err);

	if (r == 0 && l->at_ends)
		r = take_sample(l, true, err);
	return r == 1 ? take_sample(l, true, err) : r;
}

/* Submit the remaining data. */
static int submit_rest(struct loop *l, struct lp_err *err)
{
	int64_t wall_us, mono_us;
	int r = submit(l, false);

	l->ticker->now(l->ticker, &wall_us, &mono_us);
	if (r == 0)
		r = spool_submit_log(l->spool, wall_us);
	return r < 0 ? lp_err_sys(err, r, "cannot keep the last samples") : 0;
}

static int loop_drive(struct loop *l, struct lp_err *err)
{
	struct lp_err rest = {0};
	int64_t wall_us;
	int r, submitted;

	l->ticker->now(l->ticker, &wall_us, &l->begin_mono);
	r = sample_all(l, err);
	if (r == 0)
		r = sample_end(l, err);
	parts_close(l);
	submitted = submit_rest(l, &rest);
	if (r >= 0 && submitted < 0) {
		*err = rest;
		return submitted;
	}
	return r < 0 ? r : 0;
}

/* The number of samples that may stay in memory before they are written. */
static uint32_t samples_per_flush(const struct loop_config *c)
{
	int64_t n = c->flush_us / c->interval_us;

	return n < 1 ? 1 : n > BATCH_MAX ? BATCH_MAX : (uint32_t)n;
}

static int spool_begin(struct loop *l, struct lp_err *err)
{
	struct spool_config spool = l->config->spool;

	spool.interval_us = l->config->interval_us;
	spool.batch_samples = samples_per_flush(l->config);
	spool.patient = l->ticker->patient;
	spool.warn = l->config->warn;
	return spool_open(&spool, &l->spool, err);
}

int loop_run(const struct loop_config *config, struct ticker *ticker, struct loop_stats *ret_stats,
	struct lp_err *err)
{
	_cleanup_(loop_release) struct loop l = {.config = config, .ticker = ticker};
	int r;

	l.sink.catalogue = lp_catalogue_new();
	l.sink.census = &l.census;
	l.sink.warn = config->warn;
	if (!l.sink.catalogue)
		return lp_err_sys(err, -ENOMEM, "cannot begin to record");
	r = parts_open(&l, err);
	if (r == 0)
		r = spool_begin(&l, err);
	if (r < 0)
		return r;
	l.sink.spool = l.spool;
	r = parts_begin(&l, err);
	if (r == 0)
		r = loop_drive(&l, err);
	l.stats.components = l.sink.n_added;
	parts_close(&l);
	spool_close(TAKE_PTR(l.spool), &l.stats.spool);
	*ret_stats = l.stats;
	return r;
}
