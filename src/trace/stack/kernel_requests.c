#include "trace/stack/kernel_requests.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "model/endpoints.h"
#include "trace/bpf/stack.h"
#include "trace/stack/bmi_message.h"
#include "trace/stack/layer.h"
#include "trace/stack/rpc_message.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PENDING_MAX 65536u /* requests without an answer; the oldest is given up */

/* A request that waits for its answer. */
struct pending {
	uint64_t number; /* its key in the map, 0: this place is free */
	struct span span;
	bool sent;
	char remote[ENDPOINT_TEXT_MAX];
	struct bmi_request bmi; /* of OrangeFS */
};

struct kernel_requests {
	int64_t wall_offset_ns;
	int (*give)(void *ctx, unsigned layer, struct span *s);
	void *ctx;
	struct idmap by_number;
	struct pending *pending; /* a ring: the next one takes the oldest place */
	size_t n, cap, at;
};

struct kernel_requests *kernel_requests_new(
	int64_t wall_offset_ns, int (*give)(void *ctx, unsigned layer, struct span *s), void *ctx)
{
	struct kernel_requests *q = calloc(1, sizeof(*q));

	if (q)
		*q = (struct kernel_requests){
			.wall_offset_ns = wall_offset_ns, .give = give, .ctx = ctx};
	return q;
}

void kernel_requests_free(struct kernel_requests *q)
{
	if (!q)
		return;
	idmap_release(&q->by_number);
	free(q->pending);
	free(q);
}

static int64_t wall(const struct kernel_requests *q, uint64_t ns)
{
	/* Sums of times must not overflow, even if an event is wrong. */
	return q->wall_offset_ns + (int64_t)(ns & (UINT64_MAX >> 3));
}

/* One end of a connection, for hashing. */
struct endpoint {
	uint8_t address[16];
	uint16_t port, family;
};

static struct endpoint endpoint(const uint8_t address[16], uint16_t port, uint16_t family)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	struct endpoint e = {.port = port};

	/* An IPv4 address is the same as seen through a socket of both kinds. */
	if (family == AF_INET) {
		memcpy(e.address, mapped, sizeof(mapped));
		memcpy(e.address + sizeof(mapped), address, 4);
	} else {
		memcpy(e.address, address, sizeof(e.address));
	}
	return e;
}

/* The same number at both ends: who asks, then who answers. */
static uint64_t connection(const struct stack_message *m, bool local_asks)
{
	struct endpoint ends[2] = {endpoint(m->local, m->local_port, m->family),
		endpoint(m->remote, m->remote_port, m->family)};
	struct endpoint ordered[2] = {ends[!local_asks], ends[local_asks]};
	uint64_t hash = hash_bytes(ordered, sizeof(ordered));

	return hash ? hash : 1;
}

/* "10.0.0.1:24007" */
static void remote_text(const struct stack_message *m, char ret[ENDPOINT_TEXT_MAX])
{
	struct trace_endpoints ends = {.family = m->family, .remote_port = m->remote_port};

	memcpy(ends.remote, m->remote, sizeof(ends.remote));
	endpoints_remote(&ends, ret);
}

/* A request and its answer have the same connection, asking side and number. */
static uint64_t pending_number(const struct stack_message *m, uint64_t number, bool local_asks)
{
	uint64_t n = connection(m, local_asks) ^ number * UINT64_C(0x9e3779b97f4a7c15) ^
		(local_asks ? UINT64_C(1) << 63 : 0);

	return n ? n : 1;
}

/* A free place for a request. If there is none, the oldest request is given up. */
static struct pending *pending_place(struct kernel_requests *q)
{
	struct pending *p;

	if (q->n < PENDING_MAX) {
		if (array_reserve(&q->pending, &q->cap, q->n + 1, sizeof(*q->pending)) < 0)
			return NULL;
		return &q->pending[q->n++];
	}
	p = &q->pending[q->at++ % PENDING_MAX];
	if (p->number)
		idmap_remove(&q->by_number, p->number);
	return p;
}

/* The request of that number; NULL: it was not seen. */
static struct pending *pending_find(struct kernel_requests *q, uint64_t number)
{
	uint32_t at;

	return idmap_get(&q->by_number, number, &at) ? &q->pending[at] : NULL;
}

static void pending_remove(struct kernel_requests *q, struct pending *p)
{
	idmap_remove(&q->by_number, p->number);
	p->number = 0;
	/* The places at the end are free again: most requests are answered soon. */
	while (q->n && q->n < PENDING_MAX && !q->pending[q->n - 1].number)
		q->n--;
}

/* Keep a request, which `s` describes. */
static struct pending *pending_add(
	struct kernel_requests *q, const struct stack_message *m, const struct span *s)
{
	bool sent = m->event.flags & STACK_EVENT_SENT;
	uint64_t number = pending_number(m, s->unique, sent);
	struct pending *p = pending_place(q);

	if (!p)
		return NULL;
	*p = (struct pending){.number = number, .span = *s, .sent = sent};
	p->span.pid = (int32_t)m->event.pid;
	p->span.tid = (int32_t)m->event.tid;
	p->span.connection = connection(m, sent);
	p->span.position = m->position;
	p->span.length = m->length;
	/* A client's request lasts from sending it until all of the answer has arrived; a server's
	 * from when all of it has arrived until the answer is being sent. */
	p->span.start_ns = wall(q, sent ? m->event.start_ns : m->event.end_ns);
	remote_text(m, p->remote);
	if (idmap_put(&q->by_number, number, (uint32_t)(p - q->pending)) < 0)
		return NULL;
	return p;
}

static int pending_give(struct kernel_requests *q, struct pending *p)
{
	struct span s = p->span;

	s.object = p->remote;
	return q->give(q->ctx, p->sent ? STACK_NETWORK : STACK_SERVER, &s);
}

/* The answer is complete with this message. */
static int pending_end(
	struct kernel_requests *q, struct pending *p, const struct stack_message *m, int64_t result)
{
	int r;

	p->span.end_ns = wall(q, p->sent ? m->event.end_ns : m->event.start_ns);
	p->span.result = result;
	r = pending_give(q, p);
	pending_remove(q, p);
	return r;
}

static int take_rpc(struct kernel_requests *q, const struct stack_message *m,
	struct kernel_spans_totals *totals)
{
	bool sent = m->event.flags & STACK_EVENT_SENT;
	struct rpc_message rpc;
	struct pending *p;

	if (!rpc_message_parse(m->head, m->n_head, &rpc)) {
		totals->damaged++;
		return 0;
	}
	if (rpc.is_call) {
		struct span s = {.op = rpc.op,
			.function = rpc.name[0] ? rpc.name : "RPC",
			.asker = rpc.asker,
			.key = rpc.key,
			.offset = rpc.offset,
			.size = rpc.size,
			.unique = rpc.xid};

		return pending_add(q, m, &s) ? 0 : -ENOMEM;
	}
	p = pending_find(q, pending_number(m, rpc.xid, !sent));
	if (p)
		return pending_end(q, p, m, rpc.result);
	totals->unanswered++;
	return 0;
}

static int take_bmi_request(struct kernel_requests *q, const struct stack_message *m, uint64_t tag,
	struct kernel_spans_totals *totals)
{
	bool sent = m->event.flags & STACK_EVENT_SENT;
	struct bmi_request bmi;
	struct pending *p;
	struct span s;

	if (!bmi_request_parse(m->head, m->n_head, &bmi)) {
		totals->damaged++;
		return 0;
	}
	s = (struct span){.op = bmi.op,
		.function = bmi.name[0] ? bmi.name : "BMI",
		.flags = SPAN_STRIPED,
		.key = bmi.key,
		.offset = sent ? bmi.file_offset : bmi.offset,
		.size = bmi.size,
		.unique = tag};
	p = pending_add(q, m, &s);
	if (!p)
		return -ENOMEM;
	p->bmi = bmi;
	return 0;
}

/* A message that follows a request: a part of the answer, or data to be written. Which of them
 * depends only on the side that sent it. */
static int take_bmi(struct kernel_requests *q, const struct stack_message *m,
	struct kernel_spans_totals *totals)
{
	bool sent = m->event.flags & STACK_EVENT_SENT;
	struct pending *answered, *asked;
	struct bmi_message head;
	int r;

	if (!bmi_message_parse(m->head, m->n_head, &head)) {
		totals->damaged++;
		return 0;
	}
	if (head.is_request)
		return take_bmi_request(q, m, head.tag, totals);
	answered = pending_find(q, pending_number(m, head.tag, !sent));
	asked = pending_find(q, pending_number(m, head.tag, sent));
	if (asked && !answered)
		return 0; /* data */
	if (!answered) {
		totals->unanswered++;
		return 0;
	}
	/* Both ends ask with the same number at the same time: the message may be of either. */
	r = asked ? -EBADMSG : bmi_answer_take(&answered->bmi, m->head, m->n_head);
	if (r == 1)
		return pending_end(q, answered, m, answered->bmi.result);
	if (r < 0)
		totals->damaged++;
	return 0;
}

int kernel_requests_take(struct kernel_requests *q, const struct stack_message *m,
	struct kernel_spans_totals *totals)
{
	if (m->n_head > STACK_HEAD) {
		totals->damaged++;
		return 0;
	}
	return m->protocol == STACK_BMI ? take_bmi(q, m, totals) : take_rpc(q, m, totals);
}

int kernel_requests_end(struct kernel_requests *q, int64_t now_ns)
{
	int r = 0;

	for (size_t i = 0; i < q->n && r == 0; i++) {
		struct pending *p = &q->pending[i];

		if (!p->number)
			continue;
		p->span.end_ns = q->wall_offset_ns + now_ns;
		p->span.flags |= SPAN_OPEN_END;
		r = pending_give(q, p);
	}
	q->n = 0;
	idmap_clear(&q->by_number);
	return r;
}
