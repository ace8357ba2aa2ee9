#include "trace/stack/join_pages.h"

#include "base/array.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE INT64_C(4096)
/* A request of more parts than this remains unjoined. If every page is a part, that is 16 MiB. */
#define PARTS_MAX 4096u

struct range {
	int64_t from, to;
};

/* The parts of a request without a writer so far. */
struct missing {
	struct range *items;
	size_t n, cap;
};

static bool take_part(struct missing *m, struct range part)
{
	if (part.from >= part.to)
		return true;
	if (array_reserve(&m->items, &m->cap, m->n + 1, sizeof(*m->items)) < 0)
		return false;
	m->items[m->n++] = part;
	return true;
}

/* Cut a range out; how many bytes of it were there. Negative: -ENOMEM. */
static int64_t cut(struct missing *m, struct range by)
{
	int64_t bytes = 0;

	for (size_t i = m->n; i-- > 0;) {
		struct range was = m->items[i];
		int64_t from = was.from > by.from ? was.from : by.from;
		int64_t to = was.to < by.to ? was.to : by.to;

		if (from >= to)
			continue;
		bytes += to - from;
		m->items[i] = m->items[--m->n];
		if (!take_part(m, (struct range){was.from, from}) ||
			!take_part(m, (struct range){to, was.to}))
			return -ENOMEM;
	}
	return bytes;
}

static struct range written(const struct span *s, bool pages)
{
	struct range r = {s->offset, s->offset + (s->result > 0 ? s->result : 0)};

	if (pages && r.to > r.from) {
		r.from -= r.from % PAGE;
		r.to += (PAGE - r.to % PAGE) % PAGE;
	}
	return r;
}

/* Go back in time through the writes of the file. */
static int go_back(struct graph *g, const struct join_index *writes, uint64_t key, uint32_t child,
	struct missing *m, bool pages)
{
	const struct span *c = &g->spans->items[child];
	const struct join_entry *e;

	for (size_t at = join_index_last(writes, key, c->start_ns);
		m->n && m->n < PARTS_MAX && join_index_before(writes, key, &at, &e);) {
		const struct span *w = &g->spans->items[e->span];
		int64_t bytes = 0;

		if (w->offset >= 0 && w->offset < INT64_MAX / 2 && w->result < INT64_MAX / 4)
			bytes = cut(m, written(w, pages));
		if (bytes < 0 || (bytes > 0 && graph_add(g, e->span, child, bytes) < 0))
			return -ENOMEM;
	}
	return 0;
}

int join_pages(struct graph *g, const struct join_index *writes, uint64_t key, uint32_t child,
	int64_t offset, int64_t size)
{
	struct missing m = {0};
	int64_t left = 0;
	int r = 0;

	if (offset < 0 || size <= 0 || offset > INT64_MAX / 4 || size > INT64_MAX / 4) {
		graph_leave(g, child, graph_bytes(g, child));
		return 0;
	}
	if (!take_part(&m, (struct range){offset, offset + size}))
		r = -ENOMEM;
	/* Bytes first; then the rest of the pages that they are on. */
	if (r == 0)
		r = go_back(g, writes, key, child, &m, false);
	if (r == 0)
		r = go_back(g, writes, key, child, &m, true);
	for (size_t i = 0; i < m.n; i++)
		left += m.items[i].to - m.items[i].from;
	if (r == 0 && left)
		graph_leave(g, child, left);
	free(m.items);
	return r;
}
