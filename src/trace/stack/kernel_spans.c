#include "trace/stack/kernel_spans.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "model/syscalls.h"
#include "trace/bpf/stack.h"
#include "trace/stack/fuse_names.h"
#include "trace/stack/layer.h"
#include "trace/stack/rpc_message.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define FILES_MAX 65536u /* whose names are kept; then all are asked for anew */
/* Programs number their own spans from 1 on. */
#define KERNEL_IDS (UINT64_C(1) << 62)
#define ASK_MAX 4u	   /* times that a file is asked for */
#define PENDING_MAX 65536u /* requests without an answer; the oldest is given up */

/* A request that waits for its answer. */
struct pending {
	uint64_t number; /* its key in the map, 0: this place is free */
	struct stack_message message;
	struct rpc_message rpc;
};

struct known_file {
	struct kernel_file file;
	uint32_t asked; /* so often */
};

struct kernel_spans {
	const struct kernel_spans_config *config;
	struct kernel_spans_totals totals;
	uint64_t last_id;
	struct idmap files_by_id; /* device and inode -> files */
	struct known_file *files;
	size_t n_files, cap_files;
	struct idmap pending_by_number;
	struct pending *pending; /* a ring: the next one takes the oldest place */
	size_t n_pending, cap_pending, at_pending;
};

struct kernel_spans *kernel_spans_new(const struct kernel_spans_config *config)
{
	struct kernel_spans *k = calloc(1, sizeof(*k));

	if (k)
		k->config = config;
	return k;
}

void kernel_spans_free(struct kernel_spans *k)
{
	if (!k)
		return;
	idmap_release(&k->files_by_id);
	idmap_release(&k->pending_by_number);
	free(k->files);
	free(k->pending);
	free(k);
}

const struct kernel_spans_totals *kernel_spans_totals(const struct kernel_spans *k)
{
	return &k->totals;
}

/* As stat() has it. */
static uint64_t device_number(uint64_t kernel)
{
	return kernel ? makedev((unsigned)(kernel >> 20 & 0xfff), (unsigned)(kernel & 0xfffff)) : 0;
}

static int64_t wall(const struct kernel_spans *k, uint64_t ns)
{
	/* Whatever an event says, sums of times must not overflow. */
	return k->config->wall_offset_ns + (int64_t)(ns & (UINT64_MAX >> 3));
}

/* Deliver a span of that layer. */
static int give(struct kernel_spans *k, unsigned layer, struct span *s)
{
	if (!(k->config->layers >> layer & 1))
		return 0;
	s->id = KERNEL_IDS + ++k->last_id;
	s->rank = SPAN_NO_RANK;
	s->layer = layers[layer].name;
	if (s->end_ns < s->start_ns)
		s->end_ns = s->start_ns;
	k->totals.spans++;
	k->totals.called |= UINT64_C(1) << layer;
	k->totals.open += (s->flags & SPAN_OPEN_END) != 0;
	return k->config->span(k->config->ctx, s);
}

static struct span from_event(const struct kernel_spans *k, const struct stack_event *e)
{
	return (struct span){
		.start_ns = wall(k, e->start_ns),
		.end_ns = wall(k, e->end_ns),
		.pid = (int32_t)e->pid,
		.tid = (int32_t)e->tid,
		.asker = (int32_t)e->asker,
		.device = device_number(e->device),
		.inode = e->inode,
		.key = e->key,
		.unique = e->unique,
		.offset = e->offset >= 0 ? e->offset : SPAN_NO_OFFSET,
		.size = e->size >= 0 ? e->size : 0,
		.result = e->result,
		.function = "",
		.object = "",
	};
}

static int take_fuse(struct kernel_spans *k, const struct stack_event *e, bool open)
{
	struct span s = from_event(k, e);

	s.op = fuse_op(e->op);
	s.function = fuse_name(e->op);
	if (open)
		s.flags |= SPAN_OPEN_END;
	if (e->flags & (STACK_EVENT_MAPPED | STACK_EVENT_BACKGROUND))
		s.flags |= SPAN_BUFFERED;
	return give(k, e->what == STACK_EVENT_FUSE ? STACK_FUSE : STACK_CLIENT, &s);
}

/* A place for a file that is not known yet, or NULL. */
static struct known_file *file_add(struct kernel_spans *k, uint64_t id)
{
	if (k->n_files >= FILES_MAX) {
		idmap_clear(&k->files_by_id);
		k->n_files = 0;
	}
	if (array_reserve(&k->files, &k->cap_files, k->n_files + 1, sizeof(*k->files)) < 0 ||
		idmap_put(&k->files_by_id, id, (uint32_t)k->n_files) < 0)
		return NULL;
	k->files[k->n_files] = (struct known_file){0};
	return &k->files[k->n_files++];
}

/* What is known of the file of a call. Asked for when it is first seen; the file may be closed by
 * then, so again a few times. NULL: there is no memory. */
static const struct kernel_file *file_of(struct kernel_spans *k, const struct stack_file_call *c)
{
	const struct stack_event *e = &c->event;
	uint64_t id = e->inode ^ e->device * UINT64_C(0x9e3779b97f4a7c15);
	struct kernel_file asked = {0};
	struct known_file *f;
	uint32_t at;

	f = idmap_get(&k->files_by_id, id, &at) ? &k->files[at] : file_add(k, id);
	if (!f)
		return NULL;
	if (!f->file.key)
		f->file.key = rpc_gfid_text_key(c->name);
	if ((f->file.path[0] == '/' && f->file.key) || f->asked >= ASK_MAX || !k->config->file)
		return &f->file;
	f->asked++;
	k->config->file(k->config->ctx, (int32_t)e->pid, (int32_t)e->unique, e->inode, &asked);
	if (!f->file.key)
		f->file.key = asked.key;
	if (f->file.path[0] != '/')
		snprintf(f->file.path, sizeof(f->file.path), "%s",
			asked.path[0] ? asked.path : c->name);
	return &f->file;
}

static uint8_t call_op(const struct stack_event *e, const struct syscall_info *info)
{
	if (e->flags & STACK_EVENT_WRITES)
		return SPAN_WRITE;
	if (info && info->call == TRACE_CALL_READ)
		return SPAN_READ;
	return info && info->call == TRACE_CALL_SYNC ? SPAN_SYNC : SPAN_META;
}

static int take_call(struct kernel_spans *k, const struct stack_file_call *c)
{
	const struct stack_event *e = &c->event;
	const struct syscall_info *info = syscall_get(e->op);
	const struct kernel_file *file = file_of(k, c);
	struct span s = from_event(k, e);

	if (!file)
		return -ENOMEM;
	s.unique = 0;
	s.key = file->key;
	s.object = file->path;
	s.op = call_op(e, info);
	s.function = info ? info->name : "";
	return give(k, STACK_STORAGE, &s);
}

static int take_bio(struct kernel_spans *k, const struct stack_event *e, bool open)
{
	struct span s = from_event(k, e);
	char disk[64] = "";

	if (k->config->disk)
		k->config->disk(k->config->ctx, s.device, disk, sizeof(disk));
	s.op = e->flags & STACK_EVENT_WRITES ? SPAN_WRITE : SPAN_READ;
	s.function = e->flags & STACK_EVENT_WRITES ? "write" : "read";
	s.object = disk;
	if (open)
		s.flags |= SPAN_OPEN_END;
	if (e->flags & STACK_EVENT_MAPPED)
		s.flags |= SPAN_MAPPED;
	else
		s.inode = s.key = 0;
	return give(k, STACK_BLOCK, &s);
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
static void remote_text(const struct stack_message *m, char *ret, size_t size)
{
	char address[INET6_ADDRSTRLEN] = "?";
	bool v6 = m->family == AF_INET6;

	inet_ntop(v6 ? AF_INET6 : AF_INET, m->remote, address, sizeof(address));
	snprintf(ret, size, v6 ? "[%s]:%u" : "%s:%u", address, ntohs(m->remote_port));
}

/* A request with its answer; `answer` NULL: it has none yet. */
static int give_request(struct kernel_spans *k, const struct pending *p,
	const struct stack_message *answer, int64_t result, int64_t now_ns)
{
	const struct stack_message *m = &p->message;
	bool sent = m->event.flags & STACK_EVENT_SENT;
	struct span s = from_event(k, &m->event);
	char remote[64];

	remote_text(m, remote, sizeof(remote));
	s.op = p->rpc.op;
	s.function = p->rpc.name[0] ? p->rpc.name : "RPC";
	s.object = remote;
	s.asker = p->rpc.asker;
	s.key = p->rpc.key;
	s.offset = p->rpc.offset;
	s.size = p->rpc.size;
	s.result = result;
	s.unique = p->rpc.xid;
	s.connection = connection(m, sent);
	s.position = m->position;
	s.length = m->length;
	/* A client's request takes from sending it until all of the answer is there; a server's
	 * from when all of it is there until the answer is being sent. */
	if (!sent)
		s.start_ns = wall(k, m->event.end_ns);
	if (answer)
		s.end_ns = wall(k, sent ? answer->event.end_ns : answer->event.start_ns);
	else
		s.end_ns = k->config->wall_offset_ns + now_ns;
	if (!answer)
		s.flags |= SPAN_OPEN_END;
	return give(k, sent ? STACK_NETWORK : STACK_SERVER, &s);
}

/* By what a request and its answer are known: connection, who asks, number. */
static uint64_t pending_number(const struct stack_message *m, uint32_t xid, bool local_asks)
{
	uint64_t n = connection(m, local_asks) ^ (uint64_t)xid * UINT64_C(0x9e3779b97f4a7c15) ^
		(local_asks ? UINT64_C(1) << 63 : 0);

	return n ? n : 1;
}

/* A free place for a request; where there is none, the oldest is given up. */
static struct pending *pending_place(struct kernel_spans *k)
{
	struct pending *p;

	if (k->n_pending < PENDING_MAX) {
		if (array_reserve(&k->pending, &k->cap_pending, k->n_pending + 1,
			    sizeof(*k->pending)) < 0)
			return NULL;
		return &k->pending[k->n_pending++];
	}
	p = &k->pending[k->at_pending++ % PENDING_MAX];
	if (p->number)
		idmap_remove(&k->pending_by_number, p->number);
	return p;
}

static int take_request(
	struct kernel_spans *k, const struct stack_message *m, const struct rpc_message *rpc)
{
	struct pending *p = pending_place(k);
	uint64_t number = pending_number(m, rpc->xid, m->event.flags & STACK_EVENT_SENT);

	if (!p)
		return -ENOMEM;
	*p = (struct pending){number, *m, *rpc};
	return idmap_put(&k->pending_by_number, number, (uint32_t)(p - k->pending));
}

static int take_answer(
	struct kernel_spans *k, const struct stack_message *m, const struct rpc_message *rpc)
{
	uint64_t number = pending_number(m, rpc->xid, !(m->event.flags & STACK_EVENT_SENT));
	struct pending *p;
	uint32_t at;
	int r;

	if (!idmap_get(&k->pending_by_number, number, &at)) {
		k->totals.unanswered++;
		return 0;
	}
	p = &k->pending[at];
	r = give_request(k, p, m, rpc->result, 0);
	p->number = 0;
	idmap_remove(&k->pending_by_number, number);
	/* The places at the end are free again: most requests are answered soon. */
	while (k->n_pending && k->n_pending < PENDING_MAX && !k->pending[k->n_pending - 1].number)
		k->n_pending--;
	return r;
}

static int take_message(struct kernel_spans *k, const struct stack_message *m)
{
	struct rpc_message rpc;

	if (m->n_head > STACK_HEAD || !rpc_message_parse(m->head, m->n_head, &rpc)) {
		k->totals.damaged++;
		return 0;
	}
	return rpc.is_call ? take_request(k, m, &rpc) : take_answer(k, m, &rpc);
}

static int take_event(
	struct kernel_spans *k, const void *event, size_t size, bool open, int64_t now_ns)
{
	union {
		struct stack_event event;
		struct stack_file_call call;
		struct stack_message message;
	} u = {0};
	size_t want = sizeof(u.event);

	if (size >= want)
		memcpy(&u.event, event, sizeof(u.event));
	if (u.event.what == STACK_EVENT_CALL)
		want = sizeof(u.call);
	else if (u.event.what == STACK_EVENT_MESSAGE)
		want = sizeof(u.message);
	if (size < want || u.event.what < STACK_EVENT_FUSE || u.event.what > STACK_EVENT_BIO) {
		k->totals.damaged++;
		return 0;
	}
	memcpy(&u, event, want);
	if (open)
		u.event.end_ns = (uint64_t)now_ns;
	if (u.event.what == STACK_EVENT_MESSAGE)
		return take_message(k, &u.message);
	if (u.event.what == STACK_EVENT_BIO)
		return take_bio(k, &u.event, open);
	if (u.event.what != STACK_EVENT_CALL)
		return take_fuse(k, &u.event, open);
	u.call.name[STACK_NAME - 1] = '\0';
	return take_call(k, &u.call);
}

int kernel_spans_take(struct kernel_spans *k, const void *event, size_t size)
{
	return take_event(k, event, size, false, 0);
}

int kernel_spans_take_open(struct kernel_spans *k, const void *event, size_t size, int64_t now_ns)
{
	return take_event(k, event, size, true, now_ns);
}

int kernel_spans_end(struct kernel_spans *k, int64_t now_ns)
{
	int r = 0;

	for (size_t i = 0; i < k->n_pending && r == 0; i++) {
		if (k->pending[i].number)
			r = give_request(k, &k->pending[i], NULL, 0, now_ns);
	}
	k->n_pending = 0;
	idmap_clear(&k->pending_by_number);
	return r;
}
