#include "import/dataset_clocks.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include "base/time.h"
#include "model/table_view.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A smaller change is not a step: clocks are slewed, there are leap seconds, and samples come
 * late. */
#define STEP_US (5 * US_PER_SEC)
/* No clock is set more often than this; later samples are not corrected. */
#define SEGMENTS_MAX 64
/* Times beyond these limits (33,000 years, and 1,000 years) are meaningless, and sums would
 * overflow. */
#define TIME_MAX_US (INT64_C(1) << 60)
#define STEP_MAX_US (INT64_C(1) << 55)

void clock_release(struct data_clock *c)
{
	free(c->segments);
	*c = (struct data_clock){0};
}

static int64_t distance(int64_t a, int64_t b)
{
	uint64_t d = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;

	return d > INT64_MAX ? INT64_MAX : (int64_t)d;
}

/* The segment of a sample, according to both clocks. */
static struct clock_segment *segment_find(struct data_clock *c, int64_t offset_us)
{
	struct clock_segment *best = NULL;

	for (size_t i = 0; i < c->n; i++) {
		if (!best ||
			distance(c->segments[i].offset_us, offset_us) <
				distance(best->offset_us, offset_us))
			best = &c->segments[i];
	}
	return best;
}

/* The segment of the next sample. `begins`: its order relative to the previous sample is
 * unknown. */
static struct clock_segment *segment_next(
	struct data_clock *c, int64_t offset_us, int64_t wall_us, bool begins)
{
	struct clock_segment *last = c->n ? &c->segments[c->n - 1] : NULL, next;
	int64_t step_us = last ? distance(offset_us, last->offset_us) : 0;

	if (last && (step_us <= STEP_US || c->n == SEGMENTS_MAX)) {
		last->offset_us = offset_us;
		return last;
	}
	next = (struct clock_segment){
		.offset_us = offset_us, .first_us = wall_us, .last_us = wall_us};
	if (last)
		next.stepped_us = last->stepped_us;
	if (last && !begins && step_us <= STEP_MAX_US)
		next.stepped_us += offset_us > last->offset_us ? step_us : -step_us;
	next.fix_us = last ? last->fix_us - (next.stepped_us - last->stepped_us) : 0;
	if (array_reserve(&c->segments, &c->cap, c->n + 1, sizeof(*c->segments)) < 0)
		return NULL;
	c->segments[c->n] = next;
	return &c->segments[c->n++];
}

/* The time of a sample has a meaning. */
static bool is_sensible(const struct lp_batch *batch, uint32_t s)
{
	return distance(batch->wall_us[s], 0) <= TIME_MAX_US &&
		distance(batch->mono_us[s], 0) <= TIME_MAX_US;
}

int clock_follow(struct data_clock *c, const struct lp_batch *batch, int64_t *walls)
{
	for (uint32_t s = 0; s < batch->n_samples; s++) {
		int64_t wall_us = batch->wall_us[s], offset_us;
		struct clock_segment *at;

		walls[s] = wall_us;
		if (!is_sensible(batch, s))
			continue;
		offset_us = wall_us - batch->mono_us[s];
		at = c->known ? segment_find(c, offset_us)
			      : segment_next(c, offset_us, wall_us, s == 0 && !batch->carry);
		if (!at && !c->known)
			return -ENOMEM;
		if (!at)
			continue;
		at->last_us = wall_us > at->last_us ? wall_us : at->last_us;
		walls[s] = wall_us + at->fix_us;
	}
	return 0;
}

/* The segment of a sample becomes the last one. The oldest one makes room for a new one. NULL: it
 * is new. */
static struct clock_segment *segment_again(struct data_clock *c, int64_t offset_us)
{
	struct clock_segment *at = segment_find(c, offset_us), found;

	if (!at || distance(at->offset_us, offset_us) > STEP_US) {
		if (c->n == SEGMENTS_MAX)
			memmove(c->segments, c->segments + 1, --c->n * sizeof(*at));
		return NULL;
	}
	found = *at;
	memmove(at, at + 1, (c->n - 1 - (size_t)(at - c->segments)) * sizeof(*at));
	at = &c->segments[c->n - 1];
	*at = found;
	at->offset_us = offset_us;
	return at;
}

int clock_track(struct data_clock *c, const struct lp_batch *batch, int64_t *walls)
{
	bool set = false;

	for (uint32_t s = 0; s < batch->n_samples; s++) {
		int64_t offset_us;
		struct clock_segment *at;

		walls[s] = batch->wall_us[s];
		if (!is_sensible(batch, s))
			continue;
		offset_us = walls[s] - batch->mono_us[s];
		at = segment_again(c, offset_us);
		if (!at) {
			set |= c->n > 0;
			at = segment_next(c, offset_us, walls[s], s == 0 && !batch->carry);
		}
		if (!at)
			return -ENOMEM;
		walls[s] += at->fix_us;
	}
	return set;
}

int64_t clock_fix_us(const struct data_clock *c)
{
	return c->n ? c->segments[c->n - 1].fix_us : 0;
}

void clock_correct(struct data_clock *c, int64_t by_us)
{
	if (c->n)
		c->segments[c->n - 1].fix_us += by_us;
}

bool clock_stepped(const struct data_clock *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->segments[i].stepped_us)
			return true;
	}
	return false;
}

/* The time in which most of the others were recorded. */
struct others {
	const char *observer; /* leave this one out */
	struct strmap index;
	double *first, *last; /* [other] in microseconds */
	size_t n, cap_first, cap_last;
	int64_t step_us;
};

static void others_release(struct others *o)
{
	strmap_release(&o->index);
	free(o->first);
	free(o->last);
}

static int others_add(struct others *o, const struct table_row *row)
{
	const char *observer = row->component->observer;
	int64_t first, end;
	uint32_t at;

	if (!strcmp(observer, o->observer) || !pages_span(&row->pages, &first, &end))
		return 0;
	if (!strmap_get(&o->index, observer, &at)) {
		at = (uint32_t)o->n;
		if (array_reserve(&o->first, &o->cap_first, o->n + 1, sizeof(*o->first)) < 0 ||
			array_reserve(&o->last, &o->cap_last, o->n + 1, sizeof(*o->last)) < 0 ||
			strmap_put(&o->index, observer, at) < 0)
			return -ENOMEM;
		o->first[at] = (double)(first * o->step_us);
		o->last[at] = (double)(end * o->step_us);
		o->n++;
	}
	if (at >= o->n)
		return 0;
	if ((double)(first * o->step_us) < o->first[at])
		o->first[at] = (double)(first * o->step_us);
	if ((double)(end * o->step_us) > o->last[at])
		o->last[at] = (double)(end * o->step_us);
	return 0;
}

static int others_make(const struct lp_table_builder *b, struct others *ret)
{
	int r = 0;

	for (size_t s = 0; r == 0 && s < b->n_sets; s++) {
		for (size_t i = 0; r == 0 && i < b->sets[s].n_rows; i++)
			r = others_add(ret, &b->sets[s].rows[i]);
	}
	return r;
}

/* How much of the file overlaps with others if the whole file uses the clock of segment `by`; if
 * `by` is n, each segment uses its own clock. */
static int64_t overlap(const struct data_clock *c, size_t by, int64_t first_us, int64_t last_us)
{
	int64_t sum = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct clock_segment *s = &c->segments[i];
		int64_t moved = by < c->n ? c->segments[by].stepped_us - s->stepped_us : 0;
		int64_t from = s->first_us + moved, to = s->last_us + moved;

		/* A time that occurs twice counts once. */
		if (i && by == c->n && s[-1].last_us > from && s[-1].first_us < to)
			from = s[-1].last_us;
		from = from > first_us ? from : first_us;
		to = to < last_us ? to : last_us;
		sum += to > from ? to - from : 0;
	}
	return sum;
}

/* The segment with the clock to use; n: each segment uses its own. */
static size_t clock_choose(const struct data_clock *c, struct others *o)
{
	int64_t first_us, last_us, best;
	size_t chosen = c->n;

	if (!o->n)
		return chosen;
	first_us = (int64_t)median_of(o->first, o->n);
	last_us = (int64_t)median_of(o->last, o->n);
	best = overlap(c, c->n, first_us, last_us);
	for (size_t i = 0; i < c->n; i++) {
		int64_t here = overlap(c, i, first_us, last_us);

		if (here <= best + STEP_US)
			continue;
		best = here;
		chosen = i;
	}
	return chosen;
}

/* Move the slots from .. to. A slot that also has earlier samples stays. */
static int span_move(struct lp_table_builder *b, const char *observer, int64_t from_us,
	int64_t to_us, int64_t by_us)
{
	int64_t step = b->opt->step_us;

	return table_builder_move(b, observer, -floor_div(-from_us, step),
		floor_div(to_us, step) + 2, floor_div(by_us + step / 2, step));
}

/* The whole file uses the clock of segment `by`, and stays in one piece. */
static int clock_move(
	struct data_clock *c, size_t by, const char *observer, struct lp_table_builder *b)
{
	int64_t from = INT64_MAX, to = INT64_MIN, by_us = c->segments[by].stepped_us;

	for (size_t i = 0; i < c->n; i++) {
		struct clock_segment *s = &c->segments[i];

		from = s->first_us + s->fix_us < from ? s->first_us + s->fix_us : from;
		to = s->last_us + s->fix_us > to ? s->last_us + s->fix_us : to;
		s->fix_us += by_us;
	}
	return span_move(b, observer, from - b->opt->step_us, to, by_us);
}

/* Each segment uses its own clock, as it was recorded. The segments that move farthest move first,
 * so that they do not overwrite others that have not moved yet. */
static int clock_split(struct data_clock *c, const char *observer, struct lp_table_builder *b)
{
	bool ahead = c->segments[c->n - 1].stepped_us > 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->n; i++) {
		struct clock_segment *s = &c->segments[ahead ? c->n - 1 - i : i];

		r = span_move(b, observer, s->first_us + s->fix_us, s->last_us + s->fix_us,
			s->stepped_us);
		s->fix_us = 0;
	}
	return r;
}

int clock_settle(
	struct data_clock *c, const char *observer, struct lp_table_builder *b, bool *ret_moved)
{
	_cleanup_(others_release) struct others o = {
		.observer = observer, .step_us = b->opt->step_us};
	size_t chosen;
	int r = others_make(b, &o);

	if (r < 0)
		return r;
	chosen = clock_choose(c, &o);
	c->known = true;
	*ret_moved = chosen < c->n;
	return *ret_moved ? clock_move(c, chosen, observer, b) : clock_split(c, observer, b);
}
