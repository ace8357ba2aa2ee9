#include "serve/clocks_find.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "engine/engine.h"
#include "model/table_clocks.h"
#include <errno.h>
#include <stdlib.h>

/* Load shows an offset to a step of the coarsest grid. */
#define ROUNDING_US (15 * US_PER_SEC)

/* Does the arrival of its data say that the clock of an observer is right, or off by another time?
 */
static bool is_contradicted(const struct observers *o, const char *observer, int64_t news_us)
{
	const struct observer *x;
	uint32_t at;

	if (!o->live || !strmap_get(&o->index, observer, &at))
		return false;
	x = &o->items[at];
	if (x->skew_us == INT64_MIN || (x->fresh_us[0] == INT64_MIN && x->fresh_us[1] == INT64_MIN))
		return false;
	return llabs(x->skew_us - x->ahead_us - news_us) > ROUNDING_US;
}

/* Take over what was found on a grid, with the precision of the finest grid that shows it. */
static int offsets_take(struct clocks *c, const struct observers *o,
	const struct table_offset *found, size_t n, const struct lp_table_builder *b,
	const struct lp_table_builder *finer)
{
	int64_t step = b->opt->step_us, fine = finer->opt->step_us;
	int news = 0, r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		int64_t slots = found[i].slots;

		if (fine < step)
			r = table_offset_refine(
				finer, found[i].observer, slots * step / fine, step / fine, &slots);
		if (r < 0 || is_contradicted(o, found[i].observer, slots * fine))
			continue;
		r = clocks_adjust(c, found[i].observer, slots * fine, true);
		news |= r;
	}
	return r < 0 ? r : news;
}

int clocks_find_by_load(struct clocks *c, struct lp_engine *e, const struct observers *o)
{
	_cleanup_free_ struct table_offset *found = NULL, *soon = NULL;
	struct lp_table_builder *builders[ENGINE_LANES_MAX];
	uint32_t last = engine_builders(e, builders) - 1;
	int64_t fine = builders[0]->opt->step_us;
	size_t n = 0, n_soon = 0;
	int r = table_offsets_find(builders[last], &found, &n);

	if (r == 0)
		r = offsets_take(c, o, found, n, builders[last], builders[0]);
	/* On a coarse grid short data shows nothing, and neither do offsets below its step. */
	if (r != 0)
		return r;
	r = table_offsets_find_soon(
		builders[0], -floor_div(-OBSERVERS_CLOCK_US, fine), &soon, &n_soon);
	return r < 0 ? r : offsets_take(c, o, soon, n_soon, builders[0], builders[0]);
}

int clocks_find_by_arrival(struct clocks *c, const struct observers *o)
{
	int news = 0, r = 0;

	for (size_t i = 0; r >= 0 && i < o->n; i++) {
		if (!o->items[i].news_us)
			continue;
		r = clocks_adjust(c, o->items[i].name, o->items[i].news_us, false);
		news |= r;
	}
	return r < 0 ? r : news;
}

static int clock_note(const struct server_clock *x, struct lp_verdict *v)
{
	int64_t set_us = -clock_fix_us(&x->steps);
	char text[TIME_TEXT_MAX];
	int r = 0;

	if (x->ahead_us)
		r = lp_verdict_note(v,
			"the clock of %s seems to be about %s %s the others': %s. Its samples were "
			"moved by that",
			x->name, span_format(llabs(x->ahead_us), text),
			x->ahead_us > 0 ? "ahead of" : "behind",
			x->by_load ? "it has the same load, but at other times"
				   : "the age of its data says so");
	if (r == 0 && set_us)
		r = lp_verdict_note(v,
			"the clock of %s was set %s by %s; its samples were moved to match the "
			"other observers",
			x->name, set_us > 0 ? "ahead" : "back",
			span_format(
				(llabs(set_us) + US_PER_SEC / 2) / US_PER_SEC * US_PER_SEC, text));
	return r;
}

int clocks_note(const struct clocks *c, struct lp_verdict *v)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->n; i++)
		r = clock_note(&c->items[i], v);
	return r;
}
