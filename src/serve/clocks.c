#include "serve/clocks.h"

#include "base/array.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A clock of which the offset changes more often is not corrected any further. */
#define CHANGES_MAX 16

void clocks_release(struct clocks *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->items[i].name);
		clock_release(&c->items[i].steps);
	}
	free(c->items);
	strmap_release(&c->index);
	free(c->kinds);
	free(c->states);
	free(c->walls);
	*c = (struct clocks){0};
}

static struct server_clock *clock_known(const struct clocks *c, const char *observer)
{
	uint32_t at;

	return strmap_get(&c->index, observer, &at) ? &c->items[at] : NULL;
}

/* Added if it is new; NULL: out of memory. */
static struct server_clock *clock_get(struct clocks *c, const char *observer)
{
	struct server_clock *known = clock_known(c, observer);
	char *copy;

	if (known)
		return known;
	copy = strdup(observer);
	if (!copy || array_reserve(&c->items, &c->cap, c->n + 1, sizeof(*c->items)) < 0 ||
		strmap_put(&c->index, observer, (uint32_t)c->n) < 0) {
		free(copy);
		return NULL;
	}
	c->items[c->n] = (struct server_clock){.name = copy};
	return &c->items[c->n++];
}

static void walls_move(int64_t *walls, uint32_t n, int64_t ahead_us)
{
	for (uint32_t i = 0; ahead_us && i < n; i++) {
		if (__builtin_sub_overflow(walls[i], ahead_us, &walls[i]))
			walls[i] = ahead_us > 0 ? INT64_MIN : INT64_MAX;
	}
}

int clocks_track(
	struct clocks *c, const char *observer, const struct lp_batch *batch, int64_t *ret_walls)
{
	struct server_clock *x = clock_get(c, observer);
	int r = x ? clock_track(&x->steps, batch, ret_walls) : -ENOMEM;

	if (r >= 0)
		walls_move(ret_walls, batch->n_samples, x->ahead_us);
	return r;
}

void clocks_trust(struct clocks *c, const char *observer)
{
	struct server_clock *x = clock_known(c, observer);

	if (x)
		clock_correct(&x->steps, -clock_fix_us(&x->steps));
}

int64_t clocks_ahead_us(const struct clocks *c, const char *observer)
{
	const struct server_clock *x = clock_known(c, observer);

	return x ? x->ahead_us - clock_fix_us(&x->steps) : 0;
}

int64_t clocks_most_ahead_us(const struct clocks *c)
{
	int64_t most = 0;

	for (size_t i = 0; i < c->n; i++)
		most = c->items[i].ahead_us > most ? c->items[i].ahead_us : most;
	return most;
}

/* If the clock was set, the correction of earlier times stays. */
int clocks_adjust(struct clocks *c, const char *observer, int64_t by_us, bool by_load)
{
	struct server_clock *x = clock_get(c, observer);

	if (!x)
		return -ENOMEM;
	if (x->n_changes == CHANGES_MAX)
		return 0;
	x->n_changes++;
	if (clock_fix_us(&x->steps))
		clock_correct(&x->steps, -by_us);
	else
		x->ahead_us += by_us;
	x->by_load = by_load;
	return 1;
}

static int room_make(struct clocks *c, const struct lp_batch *b)
{
	size_t n_states = 0;

	for (uint32_t k = 0; k < b->n_kinds; k++)
		n_states += (size_t)b->kinds[k].n_components * b->cap_samples;
	if (array_reserve(&c->kinds, &c->cap_kinds, (size_t)b->n_kinds + 1, sizeof(*c->kinds)) <
			0 ||
		array_reserve(&c->states, &c->cap_states, n_states + 1, 1) < 0 ||
		array_reserve(
			&c->walls, &c->cap_walls, (size_t)b->n_samples + 1, sizeof(*c->walls)) < 0)
		return -ENOMEM;
	memset(c->states, LP_ABSENT, n_states);
	return 0;
}

/* The clock by which a row is corrected; NULL: it is not corrected. */
static const struct server_clock *row_clock(
	const struct clocks *c, const struct lp_source *source, uint32_t id)
{
	const struct server_clock *x = clock_known(c, source->catalogue->components[id].observer);

	return x && x->ahead_us ? x : NULL;
}

/* Keep the rows that this clock corrects; the others become absent. False: there are none. */
static bool part_fill(struct clocks *c, const struct lp_source *source, const struct lp_batch *b,
	const struct server_clock *by)
{
	uint8_t *states = c->states;
	bool any = false;

	for (uint32_t k = 0; k < b->n_kinds; k++) {
		const struct lp_batch_kind *from = &b->kinds[k];

		c->kinds[k] = *from;
		c->kinds[k].state = states;
		for (uint32_t i = 0; i < from->n_components; i++) {
			size_t at = (size_t)i * b->cap_samples;

			if (row_clock(c, source, from->ids[i]) != by)
				continue;
			memcpy(states + at, from->state + at, b->n_samples);
			any = true;
		}
		states += (size_t)from->n_components * b->cap_samples;
	}
	return any;
}

static int part_give(struct clocks *c, const struct lp_source *source, const struct lp_batch *b,
	const struct server_clock *by, int (*fn)(void *ctx, const struct lp_batch *part), void *ctx)
{
	if (room_make(c, b) < 0)
		return -ENOMEM;
	if (!part_fill(c, source, b, by))
		return 0;
	memcpy(c->walls, b->wall_us, b->n_samples * sizeof(*c->walls));
	walls_move(c->walls, b->n_samples, by ? by->ahead_us : 0);
	c->part = *b;
	c->part.kinds = c->kinds;
	c->part.wall_us = c->walls;
	return fn(ctx, &c->part);
}

int clocks_split(struct clocks *c, const struct lp_source *source, const struct lp_batch *batch,
	int (*fn)(void *ctx, const struct lp_batch *part), void *ctx)
{
	bool any = false;
	int r = 0;

	for (size_t i = 0; i < c->n; i++)
		any |= c->items[i].ahead_us != 0;
	if (!any)
		return fn(ctx, batch);
	for (size_t i = 0; r == 0 && i < c->n; i++) {
		if (c->items[i].ahead_us)
			r = part_give(c, source, batch, &c->items[i], fn, ctx);
	}
	return r < 0 ? r : part_give(c, source, batch, NULL, fn, ctx);
}
