/* posix -> fuse, of asynchronous calls. A request that is made while its call is under way may come
 * from any thread of the program: glibc's POSIX AIO has threads of its own. It belongs to the call
 * of that process on that file system whose range it lies in, if there is only one. */
#include "trace/stack/join_calls.h"

uint64_t join_later_key(const struct span *s, uint32_t observer)
{
	return join_key(observer, s->device, s->op == SPAN_WRITE);
}

static bool lies_in(const struct span *request, const struct span *call)
{
	return call->pid == request->pid && call->offset != SPAN_NO_OFFSET &&
		request->offset >= call->offset && call->size >= request->size &&
		request->offset - call->offset <= call->size - request->size &&
		(!request->inode || request->inode == call->inode);
}

uint32_t join_later_of(const struct join_calls *c, const struct spans *s, uint32_t request)
{
	const struct span *q = &s->items[request];
	uint64_t key = join_later_key(q, s->observers[request]);
	const struct join_entry *e;
	uint32_t found = SPANS_NONE;

	/* Pages of a file are written at any time. */
	if (!join_is_data(q) || q->offset == SPAN_NO_OFFSET || (q->op == SPAN_WRITE && q->inode))
		return SPANS_NONE;
	for (size_t at = join_index_last(&c->later, key, q->start_ns);
		join_index_next(&c->later, key, q->start_ns, &at, &e);) {
		if (!lies_in(q, &s->items[e->span]))
			continue;
		if (found != SPANS_NONE)
			return SPANS_NONE;
		found = e->span;
	}
	return found;
}
