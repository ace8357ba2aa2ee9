#include "trace/stack/kernel_spans.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "model/syscalls.h"
#include "trace/bpf/stack.h"
#include "trace/stack/bmi_message.h"
#include "trace/stack/fuse_names.h"
#include "trace/stack/kernel_requests.h"
#include "trace/stack/layer.h"
#include "trace/stack/rpc_message.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define FILES_MAX 65536u /* files whose names are kept; beyond that, all are looked up again */
/* Programs number their own spans from 1 on. */
#define KERNEL_IDS (UINT64_C(1) << 62)
#define ASK_MAX 4u /* times that a file is asked for */

struct known_file {
	struct kernel_file file;
	uint32_t asked; /* so often */
	bool striped;	/* it has data of OrangeFS */
};

struct kernel_spans {
	const struct kernel_spans_config *config;
	struct kernel_spans_totals totals;
	uint64_t last_id;
	struct idmap files_by_id; /* device and inode -> files */
	struct known_file *files;
	size_t n_files, cap_files;
	struct kernel_requests *requests;
};

static int give_request(void *ctx, unsigned layer, struct span *s);

struct kernel_spans *kernel_spans_new(const struct kernel_spans_config *config)
{
	struct kernel_spans *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->config = config;
	k->requests = kernel_requests_new(config->wall_offset_ns, give_request, k);
	if (!k->requests) {
		free(k);
		return NULL;
	}
	return k;
}

void kernel_spans_free(struct kernel_spans *k)
{
	if (!k)
		return;
	idmap_release(&k->files_by_id);
	kernel_requests_free(k->requests);
	free(k->files);
	free(k);
}

const struct kernel_spans_totals *kernel_spans_totals(const struct kernel_spans *k)
{
	return &k->totals;
}

/* The number of the device as in stat(). */
static uint64_t device_number(uint64_t kernel)
{
	return kernel ? makedev((unsigned)(kernel >> 20 & 0xfff), (unsigned)(kernel & 0xfffff)) : 0;
}

static int64_t wall(const struct kernel_spans *k, uint64_t ns)
{
	/* Sums of times must not overflow, even if an event is wrong. */
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

static int give_request(void *ctx, unsigned layer, struct span *s)
{
	return give(ctx, layer, s);
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

/* What is known of the file of a call. It is looked up when the file is first seen; because the
 * file may be closed by then, a few times more. NULL: there is no memory. */
static const struct known_file *file_of(struct kernel_spans *k, const struct stack_file_call *c)
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
	if (!f->file.key) {
		f->file.key = bmi_file_key(c->name);
		f->striped = f->file.key != 0;
	}
	if ((f->file.path[0] == '/' && f->file.key) || f->asked >= ASK_MAX || !k->config->file)
		return f;
	f->asked++;
	k->config->file(k->config->ctx, (int32_t)e->pid, (int32_t)e->unique, e->inode, &asked);
	if (!f->file.key)
		f->file.key = asked.key;
	if (f->file.path[0] != '/')
		snprintf(f->file.path, sizeof(f->file.path), "%s",
			asked.path[0] ? asked.path : c->name);
	return f;
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
	const struct known_file *known = file_of(k, c);
	struct span s = from_event(k, e);

	if (!known)
		return -ENOMEM;
	s.unique = 0;
	s.key = known->file.key;
	s.object = known->file.path;
	if (known->striped)
		s.flags |= SPAN_STRIPED;
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
		want = sizeof(u.message) - STACK_HEAD + STACK_HEAD_SHORT;
	if (size < want || u.event.what < STACK_EVENT_FUSE || u.event.what > STACK_EVENT_BIO) {
		k->totals.damaged++;
		return 0;
	}
	if (u.event.what == STACK_EVENT_MESSAGE && size >= sizeof(u.message))
		want = sizeof(u.message);
	memcpy(&u, event, want);
	if (open)
		u.event.end_ns = (uint64_t)now_ns;
	if (u.event.what == STACK_EVENT_MESSAGE)
		return kernel_requests_take(k->requests, &u.message, &k->totals);
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
	return kernel_requests_end(k->requests, now_ns);
}
