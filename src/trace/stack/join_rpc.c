/* client -> network: a daemon sends requests to servers for the request of the kernel that it works
 * on. Both name the thread that made the original request (0: no thread waits, page cache is
 * written back). Reads and writes must also have the same range: of the file itself, or of a piece
 * of it. GlusterFS's shards are separate files of 4 MiB, so that offsets in them differ by a
 * multiple of that; requests that fit only one place show which file is which piece. If two
 * requests of the kernel fit, neither is joined.
 */
#include "base/array.h"
#include "base/idmap.h"
#include "trace/stack/graph.h"
#include "trace/stack/join_calls.h"
#include "trace/stack/layer.h"
#include <errno.h>
#include <stdlib.h>

#define PIECE (INT64_C(4) << 20)

/* A file of a server: the file of the client of which it is a piece, and where the piece begins. */
struct piece {
	uint64_t device, node;
	int64_t base;
};

struct joining {
	struct graph *g;
	struct join_index
		requests;     /* by the thread that made the request; `other` is the FUSE request */
	struct idmap by_file; /* a file of the server -> pieces */
	struct piece *pieces;
	size_t n_pieces, cap_pieces;
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

/* Where the server's file would begin in the client's if one request were for the other. Negative:
 * it cannot be. */
static int64_t base_of(const struct span *fuse, const struct span *rpc)
{
	int64_t apart, base;

	if (fuse->op != rpc->op || fuse->offset < 0 || rpc->offset < 0 || rpc->size > fuse->size ||
		fuse->offset > INT64_MAX / 2)
		return -1;
	/* How far after the beginning of the kernel's range the server's range begins. */
	apart = (rpc->offset % PIECE - fuse->offset % PIECE + PIECE) % PIECE;
	base = fuse->offset + apart - rpc->offset;
	if (apart > fuse->size - rpc->size)
		return -1;
	/* The first piece is the file itself. */
	if (fuse->inode && rpc->key && (base == 0) != (fuse->inode == rpc->key))
		return -1;
	return base;
}

/* Does a place agree with what is known of the server's file? The kernel may have forgotten the
 * file and numbered it anew, for instance when a server was away: a thread that waits for its
 * request has only that one, so for it the number need not be the same. */
static bool piece_agrees(
	const struct joining *j, const struct span *fuse, uint32_t rpc, int64_t base)
{
	const struct spans *s = j->g->spans;
	const struct piece *p;
	uint32_t at;

	if (!s->items[rpc].key ||
		!idmap_get(&j->by_file, join_key(s->observers[rpc], s->items[rpc].key, 3), &at))
		return true;
	p = &j->pieces[at];
	return p->device == fuse->device && p->base == base &&
		(p->node == fuse->key || s->items[rpc].asker);
}

/* The only request that it can be for; NULL: there is none, or more than one. */
static const struct join_entry *request_of(const struct joining *j, uint32_t rpc, int64_t *ret_base)
{
	const struct spans *s = j->g->spans;
	const struct span *q = &s->items[rpc];
	uint64_t key = asker_key(s, rpc);
	const struct join_entry *e, *found = NULL;

	for (size_t at = join_index_last(&j->requests, key, q->start_ns);
		join_index_next(&j->requests, key, q->start_ns, &at, &e);) {
		const struct span *fuse = &s->items[e->other];
		int64_t base = join_is_data(q) ? base_of(fuse, q) : 0;

		if (base < 0 || (join_is_data(q) && !piece_agrees(j, fuse, rpc, base)))
			continue;
		if (found)
			return NULL;
		found = e;
		*ret_base = base;
	}
	return found;
}

/* Remember which piece a server's file is, and the number that the client's file has now. */
static int piece_learn(struct joining *j, uint32_t rpc, uint32_t fuse, int64_t base)
{
	const struct spans *s = j->g->spans;
	uint64_t key = join_key(s->observers[rpc], s->items[rpc].key, 3);
	uint32_t at;

	if (!s->items[rpc].key || !s->items[fuse].key)
		return 0;
	if (idmap_get(&j->by_file, key, &at)) {
		j->pieces[at].node = s->items[fuse].key;
		return 0;
	}
	if (array_reserve(&j->pieces, &j->cap_pieces, j->n_pieces + 1, sizeof(*j->pieces)) < 0)
		return -ENOMEM;
	j->pieces[j->n_pieces] = (struct piece){s->items[fuse].device, s->items[fuse].key, base};
	return idmap_put(&j->by_file, key, (uint32_t)j->n_pieces++);
}

/* 1: it was joined. */
static int join_one(struct joining *j, uint32_t rpc)
{
	const struct span *q = &j->g->spans->items[rpc];
	const struct join_entry *e;
	int64_t base = 0;
	int r = 0;

	/* A request without a FUSE request may be the daemon's own. */
	e = q->asker || join_is_data(q) ? request_of(j, rpc, &base) : NULL;
	if (!e)
		return 0;
	if (join_is_data(q))
		r = piece_learn(j, rpc, e->other, base);
	if (r == 0)
		r = graph_add(j->g, e->span, rpc, join_is_data(q) ? graph_bytes(j->g, rpc) : 0);
	return r < 0 ? r : 1;
}

/* Twice, because later requests may decide about earlier ones. */
static int join_all(struct joining *j)
{
	const struct spans *s = j->g->spans;
	uint32_t *left = malloc((s->n + 1) * sizeof(*left));
	size_t n = 0, n_left = 0;
	int r = left ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < s->n && r >= 0; i++) {
		/* Requests that name no thread are join_bmi.c's. */
		if (s->layers[i] != STACK_NETWORK || s->items[i].flags & SPAN_STRIPED)
			continue;
		r = join_one(j, i);
		if (r == 0)
			left[n++] = i;
	}
	for (size_t i = 0; i < n && r >= 0; i++) {
		r = join_one(j, left[i]);
		if (r == 0)
			left[n_left++] = left[i];
	}
	for (size_t i = 0; i < n_left && r >= 0; i++)
		graph_leave(j->g, left[i],
			join_is_data(&s->items[left[i]]) ? graph_bytes(j->g, left[i]) : 0);
	free(left);
	return r < 0 ? r : 0;
}

int join_rpc(struct graph *g)
{
	struct joining j = {.g = g};
	int r = graph_has(g, STACK_FUSE) && graph_has(g, STACK_NETWORK) ? fill(&j) : 1;

	if (r == 0)
		r = join_all(&j);
	join_index_release(&j.requests);
	idmap_release(&j.by_file);
	free(j.pieces);
	return r < 0 ? r : 0;
}
