/* client -> network: a daemon sends requests to servers for the request of the kernel that it works
 * on. Both name the thread that asked first. Reads and writes must also be about the same range: of
 * the file itself, or of a piece of it (GlusterFS's shards are files of their own of whole 4 MiB,
 * so that offsets in them differ by a multiple of that). Where two requests fit, none is taken.
 */
#include "base/idmap.h"
#include "trace/stack/graph.h"
#include "trace/stack/join_index.h"
#include "trace/stack/layer.h"
#include <errno.h>

#define PIECE (INT64_C(4) << 20)

struct joining {
	struct graph *g;
	struct join_index requests; /* by the thread that asked; `other` is the FUSE request */
	struct idmap files; /* a file of the server -> FUSE request for the file it belongs to */
};

static uint64_t asker_key(const struct spans *s, uint32_t i)
{
	return join_key(s->observers[i], (uint64_t)s->items[i].asker, 2);
}

static uint64_t number_key(const struct spans *s, uint32_t i)
{
	return join_key(s->observers[i], s->items[i].device, s->items[i].unique);
}

/* The daemon's view of each FUSE request, or the kernel's where the daemon was not watched. */
static int fill(struct joining *j)
{
	const struct spans *s = j->g->spans;
	struct idmap clients = {0};
	uint32_t at;
	int r = 0;

	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		if (s->layers[i] == STACK_CLIENT)
			r = idmap_put(&clients, number_key(s, i), i);
	}
	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		if (s->layers[i] != STACK_FUSE)
			continue;
		if (!idmap_get(&clients, number_key(s, i), &at))
			at = i;
		r = join_index_add(&j->requests, s, asker_key(s, i), at, i);
	}
	join_index_sort(&j->requests);
	idmap_release(&clients);
	return r;
}

static bool is_data(const struct span *s)
{
	return s->op == SPAN_READ || s->op == SPAN_WRITE;
}

/* Is what the server is asked for a part of what the kernel asked for? */
static bool is_part(const struct span *fuse, const struct span *rpc)
{
	int64_t apart;

	if (fuse->op != rpc->op || fuse->offset < 0 || rpc->offset < 0 || rpc->size > fuse->size)
		return false;
	apart = (rpc->offset % PIECE - fuse->offset % PIECE + PIECE) % PIECE;
	/* The file itself has the same offsets. */
	if (fuse->inode && fuse->inode == rpc->key)
		apart = rpc->offset - fuse->offset;
	return apart >= 0 && apart <= fuse->size - rpc->size;
}

/* A file of the server belongs to one file of the client: does what was joined before agree? */
static bool file_agrees(const struct joining *j, uint32_t fuse, uint32_t rpc)
{
	const struct spans *s = j->g->spans;
	uint32_t at;

	if (!s->items[rpc].key || !s->items[fuse].key ||
		!idmap_get(&j->files, join_key(s->observers[rpc], s->items[rpc].key, 3), &at))
		return true;
	return s->items[at].device == s->items[fuse].device &&
		s->items[at].key == s->items[fuse].key;
}

static bool fits(const struct joining *j, uint32_t fuse, uint32_t rpc)
{
	const struct spans *s = j->g->spans;
	const struct span *q = &s->items[rpc];

	return !is_data(q) || (is_part(&s->items[fuse], q) && file_agrees(j, fuse, rpc));
}

/* The only request that it can be for; NULL: there is none, or more than one. */
static const struct join_entry *request_of(const struct joining *j, uint32_t rpc)
{
	const struct spans *s = j->g->spans;
	uint64_t key = asker_key(s, rpc);
	int64_t ns = s->items[rpc].start_ns;
	const struct join_entry *e, *found = NULL;

	for (size_t at = join_index_last(&j->requests, key, ns);
		join_index_next(&j->requests, key, ns, &at, &e);) {
		if (!fits(j, e->other, rpc))
			continue;
		if (found)
			return NULL;
		found = e;
	}
	return found;
}

static int join_one(struct joining *j, uint32_t rpc)
{
	const struct spans *s = j->g->spans;
	const struct span *q = &s->items[rpc];
	const struct join_entry *e = q->asker ? request_of(j, rpc) : NULL;
	int64_t bytes = is_data(q) ? graph_bytes(j->g, rpc) : 0;
	int r = 0;

	if (!e) {
		graph_leave(j->g, rpc, bytes);
		return 0;
	}
	if (is_data(q) && q->key)
		r = idmap_put(&j->files, join_key(s->observers[rpc], q->key, 3), e->other);
	return r < 0 ? r : graph_add(j->g, e->span, rpc, bytes);
}

int join_rpc(struct graph *g)
{
	struct joining j = {.g = g};
	int r = graph_has(g, STACK_FUSE) && graph_has(g, STACK_NETWORK) ? fill(&j) : 1;

	for (uint32_t i = 0; i < g->spans->n && r == 0; i++) {
		if (g->spans->layers[i] == STACK_NETWORK)
			r = join_one(&j, i);
	}
	join_index_release(&j.requests);
	idmap_release(&j.files);
	return r < 0 ? r : 0;
}
