#include "serve/observers.h"

#include "base/array.h"
#include "base/median.h"
#include "base/time.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_US (60 * US_PER_SEC)
/* Data of a server arrives steadily if its age does not change by more than this in a minute, and
 * if deliveries are no further apart than that. */
#define STEADY_US (3 * US_PER_SEC)
#define STEADY_GAP_US (10 * US_PER_SEC)
/* If nobody delivers for so long, nothing can arrive. */
#define INTERRUPTION_US (20 * US_PER_SEC)
/* After that, the watermark waits at most so long for observers that send what they kept. */
#define FILL_IN_US (600 * US_PER_SEC)
/* With fewer servers it is unclear whose clock is right. */
#define SERVERS_LEAST 3

void observers_release(struct observers *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->items[i].name);
	free(o->items);
	free(o->times);
	strmap_release(&o->index);
	*o = (struct observers){0};
}

int observers_get(struct observers *o, const char *name, uint32_t *ret)
{
	char *copy;

	if (strmap_get(&o->index, name, ret))
		return 0;
	copy = strdup(name);
	if (!copy || array_reserve(&o->items, &o->cap, o->n + 1, sizeof(*o->items)) < 0 ||
		array_reserve(&o->times, &o->cap_times, o->n + 1, sizeof(*o->times)) < 0 ||
		strmap_put(&o->index, name, (uint32_t)o->n) < 0) {
		free(copy);
		return -ENOMEM;
	}
	*ret = (uint32_t)o->n;
	o->items[o->n++] = (struct observer){.name = copy,
		.last_us = INT64_MIN,
		.heard_us = INT64_MIN,
		.fresh_us = {INT64_MIN, INT64_MIN},
		.skew_us = INT64_MIN,
		.late_heard_us = INT64_MIN};
	return 0;
}

void observers_clock(struct observers *o, uint32_t at, int64_t ahead_us)
{
	struct observer *x = &o->items[at];

	if (x->ahead_us == ahead_us)
		return;
	x->ahead_us = ahead_us;
	x->fresh_us[0] = x->fresh_us[1] = INT64_MIN;
}

void observers_arrived(struct observers *o, uint32_t at, int64_t last_us, int64_t now_us)
{
	struct observer *x = &o->items[at];
	int64_t minute = floor_div(now_us, MINUTE_US), fresh;

	/* The age of old recordings says nothing about clocks. */
	if (!o->live || __builtin_sub_overflow(last_us, now_us, &fresh))
		return;
	if (minute != x->minute) {
		x->fresh_us[1] = minute == x->minute + 1 ? x->fresh_us[0] : INT64_MIN;
		x->fresh_us[0] = INT64_MIN;
		x->minute = minute;
	}
	if (fresh > x->fresh_us[0])
		x->fresh_us[0] = fresh;
}

/* The last sample that counts; samples in the future do not. */
static int64_t last_of(const struct observer *x, int64_t now_us)
{
	return x->last_us > now_us ? now_us : x->last_us;
}

/* Data can arrive again. */
static void arrives_again(struct observers *o, int64_t now_us)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++) {
		if (o->items[i].last_us > INT64_MIN)
			o->times[n++] = (double)last_of(&o->items[i], now_us);
	}
	o->before_us = n ? (int64_t)median_of(o->times, n) : INT64_MIN;
	o->again_us = now_us;
}

void observers_heard(struct observers *o, uint32_t at, int64_t last_us, uint64_t n, int64_t now_us)
{
	struct observer *x = &o->items[at];

	if (o->live && o->heard_us && now_us - o->heard_us > INTERRUPTION_US)
		arrives_again(o, now_us);
	o->heard_us = now_us;
	if (last_us > x->last_us)
		x->last_us = last_us;
	/* Data that arrives together is one delivery. */
	if (x->heard_us > INT64_MIN && now_us - x->heard_us >= US_PER_SEC / 2)
		x->gap_us = now_us - x->heard_us;
	x->heard_us = now_us;
	x->n_samples += n;
}

void observers_heard_late(
	struct observers *o, uint32_t at, int64_t from_us, int64_t until_us, int64_t now_us)
{
	struct observer *x = &o->items[at];

	/* One gap is filled in at a time. */
	if (x->late_heard_us == INT64_MIN || from_us > x->late_until_us + FILL_IN_US)
		x->late_from_us = from_us;
	x->late_from_us = from_us < x->late_from_us ? from_us : x->late_from_us;
	x->late_until_us = until_us > x->late_until_us ? until_us : x->late_until_us;
	x->late_heard_us = now_us;
}

static bool delivers(
	const struct observers *o, const struct observer *x, int64_t lateness_us, int64_t now_us)
{
	int64_t heard = o->live ? x->heard_us : last_of(x, now_us);
	int64_t gap = o->live ? x->gap_us : 0; /* some are recorded only every few minutes */

	return x->last_us > INT64_MIN && now_us - heard <= lateness_us + gap;
}

/* Was it with the others before data could not arrive? Then it will come back, and sends what it
 * recorded meanwhile. */
static bool fills_in(
	const struct observers *o, const struct observer *x, int64_t lateness_us, int64_t now_us)
{
	if (!o->live || !o->again_us || o->before_us == INT64_MIN ||
		x->last_us < o->before_us - lateness_us)
		return false;
	return now_us - o->again_us <= lateness_us ||
		(now_us - x->heard_us <= STEADY_GAP_US && now_us - o->again_us <= FILL_IN_US);
}

int64_t observers_most_us(struct observers *o, int64_t lateness_us, int64_t now_us)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++) {
		if (delivers(o, &o->items[i], lateness_us, now_us))
			o->times[n++] = (double)last_of(&o->items[i], now_us);
	}
	/* If all are silent, they stopped together. */
	for (size_t i = 0; n == 0 && i < o->n; i++) {
		if (o->items[i].last_us > INT64_MIN)
			o->times[n++] = (double)last_of(&o->items[i], now_us);
	}
	return n ? (int64_t)median_of(o->times, n) : INT64_MIN;
}

int64_t observers_ready_us(struct observers *o, int64_t lateness_us, int64_t now_us)
{
	int64_t most = observers_most_us(o, lateness_us, now_us), ready = most;

	for (size_t i = 0; i < o->n; i++) {
		int64_t last = last_of(&o->items[i], now_us);

		if (last > INT64_MIN && last < ready &&
			(last >= most - lateness_us ||
				fills_in(o, &o->items[i], lateness_us, now_us)))
			ready = last;
	}
	return ready;
}

static int64_t fresh_of(const struct observer *x)
{
	return x->fresh_us[0] > x->fresh_us[1] ? x->fresh_us[0] : x->fresh_us[1];
}

/* How far the clocks of most observers are ahead of the collector's. INT64_MIN: none delivers. */
static int64_t fresh_of_most(struct observers *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++) {
		if (fresh_of(&o->items[i]) > INT64_MIN)
			o->times[n++] = (double)fresh_of(&o->items[i]);
	}
	return n ? (int64_t)median_of(o->times, n) : INT64_MIN;
}

static bool is_steady(const struct observer *x)
{
	return x->fresh_us[0] > INT64_MIN && x->fresh_us[1] > INT64_MIN &&
		llabs(x->fresh_us[0] - x->fresh_us[1]) <= STEADY_US && x->gap_us <= STEADY_GAP_US;
}

/* Do most send their data all the time, so that its age says how late their clocks are? */
static bool are_steady(const struct observers *o)
{
	size_t n = 0, steady = 0;

	for (size_t i = 0; i < o->n; i++) {
		n += fresh_of(&o->items[i]) > INT64_MIN;
		steady += is_steady(&o->items[i]);
	}
	return n >= SERVERS_LEAST && steady * 2 > n;
}

/* What the age of its data says of an observer's clock, beyond what is known. Data that comes from
 * the future is certain; else a server may just be slow to send. */
static int64_t clock_news(const struct observer *x, int64_t most_us, bool steady, int64_t sure_us)
{
	int64_t ahead = fresh_of(x) - most_us, news = ahead - x->ahead_us;
	bool future = fresh_of(x) - x->ahead_us > (most_us > 0 ? most_us : 0) + sure_us;

	if (llabs(news) <= OBSERVERS_CLOCK_US || (!future && !(steady && is_steady(x))))
		return 0;
	return floor_div(news + US_PER_SEC / 2, US_PER_SEC) * US_PER_SEC;
}

void observers_go_live(struct observers *o, int64_t now_us)
{
	o->live = true;
	for (size_t i = 0; i < o->n; i++) {
		if (o->items[i].last_us > INT64_MIN && o->items[i].state != OBSERVER_SILENT)
			o->items[i].heard_us = now_us;
	}
	arrives_again(o, now_us);
}

/* Live, silence is measured with the collector's clock, because the whole fleet may be silent. In a
 * replay only the data of others shows that time passes. */
static enum observer_state state_of(const struct observers *o, const struct observer *x,
	int64_t most_us, int64_t lateness_us, int64_t now_us)
{
	bool here = delivers(o, x, lateness_us, now_us);

	/* Its data may be there, but be from the future. */
	if (x->last_us == INT64_MIN && !x->expected)
		return OBSERVER_OK;
	if (o->live && !here)
		return OBSERVER_SILENT;
	if (x->last_us > INT64_MIN &&
		(last_of(x, now_us) >= most_us - lateness_us ||
			fills_in(o, x, lateness_us, now_us)))
		return OBSERVER_OK;
	if (!here)
		return OBSERVER_SILENT;
	/* What it sent last was not old: it does not send, and will be silent in a moment. */
	return o->live && now_us - x->heard_us > x->gap_us + STEADY_GAP_US ? OBSERVER_OK
									   : OBSERVER_LATE;
}

void observers_rate(struct observers *o, int64_t lateness_us, int64_t now_us)
{
	int64_t most = observers_most_us(o, lateness_us, now_us);
	int64_t fresh = o->live ? fresh_of_most(o) : INT64_MIN;
	bool steady = o->live && are_steady(o);

	for (size_t i = 0; i < o->n; i++) {
		struct observer *x = &o->items[i];

		x->state = state_of(o, x, most, lateness_us, now_us);
		x->skew_us = x->ahead_us ? x->ahead_us : INT64_MIN;
		x->news_us = 0;
		if (fresh == INT64_MIN || fresh_of(x) == INT64_MIN)
			continue;
		x->skew_us = fresh_of(x) - fresh;
		if (o->n >= SERVERS_LEAST)
			x->news_us = clock_news(x, fresh, steady, lateness_us);
	}
}

size_t observers_count(const struct observers *o, enum observer_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++)
		n += o->items[i].state == state;
	return n;
}

const char *observer_state_name(enum observer_state state)
{
	static const char *const names[] = {
		[OBSERVER_OK] = "ok", [OBSERVER_LATE] = "late", [OBSERVER_SILENT] = "silent"};

	return names[state];
}
