#include "base/array.h"
#include "base/cleanup.h"
#include "trace/stack/join_message.h"
#include "trace/stack/spans.h"
#include <errno.h>
#include <stdlib.h>

/* The clock of `to` is ahead of that of `from` by at least `low` and at most `high`. */
struct bounds {
	uint32_t from, to;
	int64_t low, high;
	uint64_t messages;
};

struct aligning {
	const struct spans *s;
	struct bounds *items;
	size_t n, cap;
};

static struct bounds *bounds_of(struct aligning *a, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < a->n; i++) {
		if (a->items[i].from == from && a->items[i].to == to)
			return &a->items[i];
	}
	if (array_reserve(&a->items, &a->cap, a->n + 1, sizeof(*a->items)) < 0)
		return NULL;
	a->items[a->n] = (struct bounds){from, to, INT64_MIN, INT64_MAX, 0};
	return &a->items[a->n++];
}

/* Narrow the bounds by one request. */
static int take_pair(void *ctx, uint32_t client, uint32_t server)
{
	struct aligning *a = ctx;
	const struct spans *s = a->s;
	const struct span *c, *v;
	struct bounds *b;

	if (client == SPANS_NONE || server == SPANS_NONE ||
		s->observers[client] == s->observers[server])
		return 0;
	b = bounds_of(a, s->observers[client], s->observers[server]);
	if (!b)
		return -ENOMEM;
	c = &s->items[client];
	v = &s->items[server];
	b->messages++;
	if (v->start_ns - c->start_ns < b->high)
		b->high = v->start_ns - c->start_ns;
	if (!(c->flags & SPAN_OPEN_END) && !(v->flags & SPAN_OPEN_END) &&
		v->end_ns - c->end_ns > b->low)
		b->low = v->end_ns - c->end_ns;
	return 0;
}

/* The offset and its error, from the bounds. */
static struct spans_clock clock_from(const struct bounds *b)
{
	struct spans_clock c = {.messages = b->messages, .known = true};

	if (b->low == INT64_MIN) /* no answer was seen: the server is not earlier, at least */
		return (struct spans_clock){.messages = b->messages};
	c.drifts = b->low > b->high;
	if (!c.drifts && b->low <= 0 && b->high >= 0) {
		c.error_ns = b->high > -b->low ? b->high : -b->low;
		return c;
	}
	c.offset_ns = b->low / 2 + b->high / 2;
	c.error_ns = (c.drifts ? b->low - b->high : b->high - b->low) / 2;
	return c;
}

/* The clock of one observer, from that of another one. True: it was not known before. */
static bool clock_spread(struct spans *s, const struct bounds *b)
{
	struct spans_clock *from = &s->clocks[b->from], *to = &s->clocks[b->to];
	struct spans_clock c = clock_from(b);
	bool forth = from->known && !to->known, back = to->known && !from->known;

	if (!c.known || (!forth && !back))
		return false;
	c.error_ns += forth ? from->error_ns : to->error_ns;
	c.offset_ns = forth ? from->offset_ns + c.offset_ns : to->offset_ns - c.offset_ns;
	*(forth ? to : from) = c;
	return true;
}

/* The observer whose clock is the reference: the one on which the program ran, which has the
 * uppermost layer; if there are several, the first. */
static uint32_t reference(const struct spans *s)
{
	uint32_t at = 0;
	uint8_t best = LAYERS_UNKNOWN;

	for (size_t i = 0; i < s->n; i++) {
		if (s->layers[i] < best) {
			best = s->layers[i];
			at = s->observers[i];
		}
	}
	return at;
}

static void move(struct spans *s)
{
	for (size_t i = 0; i < s->n; i++) {
		int64_t offset = s->clocks[s->observers[i]].offset_ns;

		s->items[i].start_ns -= offset;
		s->items[i].end_ns -= offset;
	}
}

int spans_align(struct spans *s)
{
	struct aligning a = {.s = s};
	bool grew = true;
	int r;

	free(s->clocks);
	s->clocks = s->n_observers ? calloc(s->n_observers, sizeof(*s->clocks)) : NULL;
	r = s->clocks ? join_message_each(s, take_pair, &a) : -ENOMEM;
	if (r == 0 && s->n_observers) {
		s->clocks[reference(s)].known = true;
		while (grew) {
			grew = false;
			for (size_t i = 0; i < a.n; i++)
				grew |= clock_spread(s, &a.items[i]);
		}
		move(s);
	}
	free(a.items);
	if (!s->n_observers)
		r = 0;
	return r < 0 ? r : spans_sort(s);
}
