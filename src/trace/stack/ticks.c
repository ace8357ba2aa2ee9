#include "trace/stack/ticks.h"

#include "base/array.h"
#include "base/file.h"
#include "base/time.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define PAIRS_MAX 1024
#define APART_NS 10000000
/* How often both clocks are read; the two closest readings count. */
#define TRIES 5

void tick_clock_release(struct tick_clock *c)
{
	free(c->pairs);
	*c = (struct tick_clock){0};
}

bool ticks_are_time(const char *root)
{
#if defined(__x86_64__)
	char path[PATH_MAX], name[16];
	FILE *f;
	bool same;

	snprintf(path, sizeof(path),
		"%s/sys/devices/system/clocksource/clocksource0/current_clocksource", root);
	f = fopen(path, "re");
	if (!f)
		return false;
	same = fgets(name, sizeof(name), f) && !strcmp(name, "tsc\n");
	fclose(f);
	return same;
#else
	(void)root;
	return false;
#endif
}

static uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return (uint64_t)clock_ns(CLOCK_MONOTONIC);
#endif
}

int tick_clock_note(struct tick_clock *c)
{
	uint64_t closest = UINT64_MAX;
	struct tick_pair pair = {0};

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = ticks_now();
		int64_t ns = clock_ns(CLOCK_MONOTONIC);
		uint64_t between = ticks_now() - before;

		if (between < closest) {
			closest = between;
			pair = (struct tick_pair){before + between / 2, ns};
		}
	}
	return tick_clock_add(c, pair);
}

/* Remove every second pair, but not the first. */
static void thin(struct tick_clock *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i += 2)
		c->pairs[n++] = c->pairs[i];
	c->n = n;
}

int tick_clock_add(struct tick_clock *c, struct tick_pair pair)
{
	struct tick_pair *last = c->pairs && c->n ? &c->pairs[c->n - 1] : NULL;

	if (last && (pair.ticks <= last->ticks || pair.ns <= last->ns))
		return 0;
	if (last && c->n >= 2 && last->ns < last[-1].ns + APART_NS) {
		*last = pair;
		return 0;
	}
	if (last && c->n == PAIRS_MAX)
		thin(c);
	if (array_reserve(&c->pairs, &c->cap, c->n + 1, sizeof(*c->pairs)) < 0)
		return -ENOMEM;
	c->pairs[c->n++] = pair;
	return 0;
}

/* The first of the two pairs by which to convert. */
static const struct tick_pair *pairs_around(const struct tick_clock *c, uint64_t ticks)
{
	size_t low = 0, high = c->n - 1;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (c->pairs[middle].ticks <= ticks)
			low = middle;
		else
			high = middle;
	}
	return &c->pairs[low];
}

int64_t tick_clock_ns(const struct tick_clock *c, uint64_t ticks)
{
	const struct tick_pair *p;
	double rate, ns;

	if (c->n < 2)
		return -1;
	p = pairs_around(c, ticks);
	rate = (double)(p[1].ns - p[0].ns) / (double)(p[1].ticks - p[0].ticks);
	/* Readings may be before the pair: the difference has a sign. */
	ns = (double)(int64_t)(ticks - p->ticks) * rate;
	if (!(fabs(ns) < 0x1p62) || p->ns + (int64_t)ns < 0)
		return -1;
	return p->ns + (int64_t)ns;
}
