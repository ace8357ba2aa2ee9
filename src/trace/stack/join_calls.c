#include "trace/stack/join_calls.h"

#include <errno.h>

void join_calls_release(struct join_calls *c)
{
	join_index_release(&c->by_thread);
	join_index_release(&c->writes);
	join_index_release(&c->later);
}

static uint64_t thread_key(uint32_t observer, int32_t tid)
{
	return join_key(observer, (uint64_t)tid, 1);
}

uint64_t join_file_key(uint32_t observer, uint64_t device, uint64_t inode)
{
	return join_key(observer, device, inode);
}

bool join_is_data(const struct span *s)
{
	return s->op == SPAN_READ || s->op == SPAN_WRITE;
}

/* The time in which its thread is in a call. */
static int add_to_thread(struct join_calls *c, const struct spans *s, uint32_t i)
{
	const struct span *call = &s->items[i];
	bool later = call->flags & SPAN_LATER;
	int r = join_index_add(&c->by_thread, s, thread_key(s->observers[i], call->tid), i, later);

	if (r == 0 && later && call->unique < (uint64_t)(call->end_ns - call->start_ns))
		c->by_thread.items[c->by_thread.n - 1].end_ns =
			call->start_ns + (int64_t)call->unique;
	if (r == 0 && later && join_is_data(call))
		r = join_index_add(&c->later, s, join_later_key(call, s->observers[i]), i, 0);
	return r;
}

int join_calls_fill(struct join_calls *c, const struct spans *s, uint32_t layers)
{
	int r = 0;

	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		const struct span *call = &s->items[i];
		uint32_t observer = s->observers[i];

		if (s->layers[i] == LAYERS_UNKNOWN || !(layers >> s->layers[i] & 1) ||
			call->op == SPAN_MARK)
			continue;
		r = add_to_thread(c, s, i);
		if (r == 0 && call->op == SPAN_WRITE && call->inode)
			r = join_index_add(&c->writes, s,
				join_file_key(observer, call->device, call->inode), i, 0);
	}
	join_index_sort(&c->by_thread);
	join_index_sort(&c->writes);
	join_index_sort(&c->later);
	return r;
}

uint32_t join_call_of(const struct join_calls *c, uint32_t observer, int32_t tid, int64_t ns)
{
	uint64_t key = thread_key(observer, tid);
	size_t at = join_index_last(&c->by_thread, key, ns);
	const struct join_entry *e, *next;

	if (!join_index_next(&c->by_thread, key, ns, &at, &e))
		return SPANS_NONE;
	if (e->other && join_index_next(&c->by_thread, key, ns, &at, &next) && next->other)
		return SPANS_NONE;
	return e->span;
}
