/* server -> storage: a daemon reads and writes its files for the request that it works on, in any
 * of its threads. The request names the file and the range. If two requests fit, neither is joined.
 */
#include "base/idmap.h"
#include "trace/stack/join_calls.h"
#include "trace/stack/layer.h"
#include <errno.h>

/* A file that calls know under several keys: its number was used again for another file. */
#define SEVERAL (UINT32_MAX - 1)

/* Does the request cover what the call does, and was it answered only after the call? */
static bool covers(const struct span *request, const struct span *call)
{
	if (request->op != call->op ||
		(request->end_ns < call->end_ns && !(request->flags & SPAN_OPEN_END)))
		return false;
	if (!join_is_data(call))
		return true;
	return request->offset >= 0 && call->offset >= request->offset &&
		call->size <= request->size &&
		call->offset - request->offset <= request->size - call->size;
}

static uint64_t request_key(const struct spans *s, uint32_t i)
{
	return join_key(s->observers[i], s->items[i].key, 4);
}

/* A daemon may make a file under a name that does not show the key, and close it before the
 * recorder can look at it. Then later calls for the same file show the key. */
static int names_note(struct idmap *names, const struct spans *s, uint32_t call)
{
	const struct span *c = &s->items[call];
	uint64_t file = join_file_key(s->observers[call], c->device, c->inode);
	uint32_t known;

	if (!c->key || !c->inode)
		return 0;
	if (!idmap_get(names, file, &known))
		return idmap_put(names, file, call);
	if (known == SEVERAL || s->items[known].key == c->key)
		return 0;
	return idmap_put(names, file, SEVERAL);
}

/* 0: unknown. */
static uint64_t call_key(const struct idmap *names, const struct spans *s, uint32_t call)
{
	const struct span *c = &s->items[call];
	uint32_t known;

	if (c->key || !c->inode ||
		!idmap_get(names, join_file_key(s->observers[call], c->device, c->inode), &known) ||
		known == SEVERAL)
		return c->key;
	return s->items[known].key;
}

/* The only request that a call can be for; SPANS_NONE: there is none, or more than one. */
static uint32_t request_of(const struct spans *s, const struct join_index *requests, uint32_t call,
	uint64_t file, bool (*asks_for)(const struct span *request, const struct span *call))
{
	uint64_t key = join_key(s->observers[call], file, 4);
	int64_t ns = s->items[call].start_ns;
	uint32_t found = SPANS_NONE;
	const struct join_entry *e;

	if (!file)
		return SPANS_NONE;
	for (size_t at = join_index_last(requests, key, ns);
		join_index_next(requests, key, ns, &at, &e);) {
		if (!asks_for(&s->items[e->span], &s->items[call]))
			continue;
		if (found != SPANS_NONE)
			return SPANS_NONE;
		found = e->span;
	}
	return found;
}

static bool is_file_span(const struct spans *s, uint32_t i, uint8_t layer, bool striped)
{
	return s->layers[i] == layer && !(s->items[i].flags & SPAN_STRIPED) == !striped;
}

int join_files(struct graph *g, bool striped,
	bool (*asks_for)(const struct span *request, const struct span *call))
{
	const struct spans *s = g->spans;
	struct join_index requests = {0};
	struct idmap names = {0};
	int r = graph_has(g, STACK_SERVER) && graph_has(g, STACK_STORAGE) ? 0 : 1;

	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		if (is_file_span(s, i, STACK_SERVER, striped) && s->items[i].key)
			r = join_index_add(&requests, s, request_key(s, i), i, 0);
		else if (is_file_span(s, i, STACK_STORAGE, striped))
			r = names_note(&names, s, i);
	}
	join_index_sort(&requests);
	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		uint32_t request;

		if (!is_file_span(s, i, STACK_STORAGE, striped))
			continue;
		request = request_of(s, &requests, i, call_key(&names, s, i), asks_for);
		if (request != SPANS_NONE)
			r = graph_add(g, request, i, graph_bytes(g, i));
		else
			graph_leave(g, i, graph_bytes(g, i));
	}
	join_index_release(&requests);
	idmap_release(&names);
	return r < 0 ? r : 0;
}

int join_storage(struct graph *g)
{
	return join_files(g, false, covers);
}
