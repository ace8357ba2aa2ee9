/* Samples that the kernel delivers one by one, through a ring per CPU, for systems where BPF is not
 * permitted. They are counted here. The kernel also reports names, executions and mappings, so that
 * processes are known even if they have ended when the counts are read.
 */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "trace/profile/perf_event.h"
#include "trace/profile/perf_records.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING_PAGES 64 /* a power of two: 256 KiB */
#define CELLS_MAX 262144
#define NEWS_MAX 65536

/* The key of a count. */
struct cell {
	uint64_t address;
	int pid;
	char comm[SAMPLER_COMM_MAX];
	uint64_t stack_hash;
	size_t stack_at; /* in `frames` */
	unsigned n_stack, n_kernel_stack;
	int process; /* of the first of these samples */
	uint64_t n;
};

/* An execution or a mapping, to be reported before the counts. */
struct news {
	int pid;
	bool executed;
	uint64_t start, end, offset, inode;
	char *path;
};

struct ring {
	struct perf_event_mmap_page *page;
};

struct ring_sampler {
	struct perf_events events;
	struct ring *rings; /* [event] */
	int epoll_fd;
	size_t page_size;
	bool stacks;
	struct idmap names; /* pid -> position in `comms` */
	char (*comms)[SAMPLER_COMM_MAX];
	size_t n_comms, cap_comms;
	struct cell *cells;
	size_t n_cells, cap_cells;
	struct idmap by_key;
	uint64_t *frames;
	size_t n_frames, cap_frames;
	struct news *news;
	size_t n_news, cap_news;
	uint64_t lost;
	unsigned char record[PERF_RECORD_BYTES_MAX]; /* their size has 16 bits */
};

static size_t ring_bytes(const struct ring_sampler *s)
{
	return s->page_size * RING_PAGES;
}

static void news_clear(struct ring_sampler *s)
{
	for (size_t i = 0; i < s->n_news; i++)
		free(s->news[i].path);
	s->n_news = 0;
}

static void ring_sampler_close(void *state)
{
	struct ring_sampler *s = state;

	if (!s)
		return;
	for (unsigned i = 0; s->rings && i < s->events.n; i++) {
		if (s->rings[i].page)
			munmap(s->rings[i].page, s->page_size + ring_bytes(s));
	}
	free(s->rings);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	perf_events_close(&s->events);
	news_clear(s);
	free(s->news);
	free(s->cells);
	free(s->frames);
	free(s->comms);
	idmap_release(&s->names);
	idmap_release(&s->by_key);
	free(s);
}

DEFINE_CLEANUP(void *, ring_sampler_close);

static int rings_map(struct ring_sampler *s, struct lp_err *err)
{
	s->rings = calloc(s->events.n, sizeof(*s->rings));
	if (!s->rings)
		return lp_err_sys(err, -ENOMEM, "cannot sample");
	for (unsigned i = 0; i < s->events.n; i++) {
		struct epoll_event want = {.events = EPOLLIN};
		void *p = mmap(NULL, s->page_size + ring_bytes(s), PROT_READ | PROT_WRITE,
			MAP_SHARED, s->events.fds[i], 0);

		if (p == MAP_FAILED)
			return lp_err_sys(err, -errno,
				"cannot map the ring of samples (kernel.perf_event_mlock_kb?)");
		s->rings[i].page = p;
		if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->events.fds[i], &want) < 0)
			return lp_err_sys(err, -errno, "cannot wait for samples");
	}
	return 0;
}

static int ring_sampler_open(
	const struct sampler_config *config, void **ret_state, struct lp_err *err)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			(config->stacks ? (uint64_t)PERF_SAMPLE_CALLCHAIN : 0),
		.comm = 1,
		.comm_exec = 1,
		.mmap = 1,
		.mmap2 = 1,
		.task = 1,
		.watermark = 1,
	};
	_cleanup_(ring_sampler_closep) void *state = calloc(1, sizeof(struct ring_sampler));
	struct ring_sampler *s = state;
	int r;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot sample");
	if (config->netns)
		return lp_err_set(err, -EOPNOTSUPP,
			"the sampler 'ring' cannot distinguish network namespaces");
	s->page_size = (size_t)sysconf(_SC_PAGESIZE);
	s->stacks = config->stacks;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return lp_err_sys(err, -errno, "cannot wait for samples");
	attr.wakeup_watermark = (uint32_t)(ring_bytes(s) / 2);
	r = perf_events_open(config, &attr, &s->events, err);
	if (r == 0)
		r = rings_map(s, err);
	for (unsigned i = 0; r == 0 && i < s->events.n; i++) {
		if (ioctl(s->events.fds[i], PERF_EVENT_IOC_ENABLE, 0) < 0)
			r = lp_err_sys(err, -errno, "cannot begin to sample");
	}
	if (r == 0)
		*ret_state = TAKE_PTR(state);
	return r;
}

static enum sampler_clock ring_sampler_clock(void *state)
{
	return ((struct ring_sampler *)state)->events.clock;
}

static int ring_sampler_descriptor(void *state)
{
	return ((struct ring_sampler *)state)->epoll_fd;
}

static int name_set(struct ring_sampler *s, int pid, const char *comm)
{
	uint32_t at;

	if (!idmap_get(&s->names, (uint64_t)pid, &at)) {
		if (array_reserve(&s->comms, &s->cap_comms, s->n_comms + 1, sizeof(*s->comms)) <
				0 ||
			idmap_put(&s->names, (uint64_t)pid, (uint32_t)s->n_comms) < 0)
			return -ENOMEM;
		at = (uint32_t)s->n_comms++;
	}
	memset(s->comms[at], 0, sizeof(*s->comms));
	strncpy(s->comms[at], comm, sizeof(*s->comms) - 1);
	return 0;
}

/* The name of a process: from an event, or from /proc. */
static const char *name_get(struct ring_sampler *s, int pid)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], comm[64] = "";
	uint32_t at;

	if (idmap_get(&s->names, (uint64_t)pid, &at))
		return s->comms[at];
	if (pid > 0) {
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		f = fopen(path, "re");
	}
	if (f && fgets(comm, sizeof(comm), f))
		comm[strcspn(comm, "\n")] = '\0';
	if (name_set(s, pid, pid == 0 ? "swapper/0" : comm) < 0)
		return NULL;
	return s->comms[s->n_comms - 1];
}

/* Keep a stack until it is reported, without the kernel's marks between its parts. */
static int frames_keep(struct ring_sampler *s, const struct perf_sample *sample, struct cell *c)
{
	c->stack_at = s->n_frames;
	if (array_reserve(&s->frames, &s->cap_frames, s->n_frames + sample->n_stack + 1,
		    sizeof(*s->frames)) < 0)
		return -ENOMEM;
	memcpy(s->frames + s->n_frames, sample->stack, sample->n_stack * sizeof(*s->frames));
	c->n_stack = sample->n_stack;
	c->n_kernel_stack = sample->n_kernel_stack;
	s->n_frames += sample->n_stack;
	return 0;
}

static bool cell_is(const struct cell *c, const struct cell *key)
{
	return c->address == key->address && c->pid == key->pid &&
		c->stack_hash == key->stack_hash && !memcmp(c->comm, key->comm, sizeof(c->comm));
}

static int count(struct ring_sampler *s, const struct perf_sample *sample)
{
	const char *comm = name_get(s, sample->pid);
	bool kernel = (int64_t)sample->address < 0;
	struct cell key = {.address = sample->address,
		.pid = kernel && !s->stacks ? 0 : sample->pid,
		.process = sample->pid,
		.n = 1};
	uint64_t hash;
	uint32_t at;

	if (!comm)
		return -ENOMEM;
	memcpy(key.comm, comm, sizeof(key.comm));
	if (s->stacks)
		key.stack_hash =
			hash_bytes(sample->stack, sample->n_stack * sizeof(*sample->stack));
	hash = hash_bytes(&key, offsetof(struct cell, stack_at));
	if (idmap_get(&s->by_key, hash, &at) && cell_is(&s->cells[at], &key)) {
		s->cells[at].n++;
		return 0;
	}
	if (s->n_cells >= CELLS_MAX) {
		s->lost++;
		return 0;
	}
	if ((s->stacks && frames_keep(s, sample, &key) < 0) ||
		array_reserve(&s->cells, &s->cap_cells, s->n_cells + 1, sizeof(*s->cells)) < 0 ||
		idmap_put(&s->by_key, hash, (uint32_t)s->n_cells) < 0)
		return -ENOMEM;
	s->cells[s->n_cells++] = key;
	return 0;
}

static int news_add(struct ring_sampler *s, const struct perf_record *r, bool executed)
{
	char *path;

	if (s->n_news >= NEWS_MAX)
		return 0;
	path = strdup(executed ? "" : r->path);
	if (!path || array_reserve(&s->news, &s->cap_news, s->n_news + 1, sizeof(*s->news)) < 0) {
		free(path);
		return -ENOMEM;
	}
	s->news[s->n_news++] =
		(struct news){r->pid, executed, r->start, r->end, r->offset, r->inode, path};
	return 0;
}

static int on_comm(struct ring_sampler *s, const struct perf_record *r)
{
	int got = r->tid == r->pid ? name_set(s, r->pid, r->path) : 0;

	return got == 0 && r->executed ? news_add(s, r, true) : got;
}

static int on_record(struct ring_sampler *s, const struct perf_record *r)
{
	switch (r->what) {
	case PERF_SAW_SAMPLE:
		return count(s, &r->sample);
	case PERF_SAW_LOST:
		s->lost += r->n;
		return 0;
	case PERF_SAW_COMM:
		return on_comm(s, r);
	case PERF_SAW_FORK: {
		const char *comm = r->tid == r->pid ? name_get(s, r->parent) : NULL;
		char copy[SAMPLER_COMM_MAX];

		if (!comm)
			return 0;
		memcpy(copy, comm, sizeof(copy)); /* setting may move it */
		return name_set(s, r->pid, copy);
	}
	case PERF_SAW_MAPPING:
		return news_add(s, r, false);
	case PERF_SAW_OTHER:
		break;
	}
	return 0;
}

/* Copy `size` bytes out of a ring, at a position that only grows. */
static void ring_copy(const unsigned char *data, size_t ring, uint64_t at, void *to, size_t size)
{
	size_t from = at & (ring - 1), first = ring - from < size ? ring - from : size;

	memcpy(to, data + from, first);
	memcpy((unsigned char *)to + first, data, size - first);
}

static int ring_read(struct ring_sampler *s, struct ring *ring)
{
	const unsigned char *data = (const unsigned char *)ring->page + s->page_size;
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	int r = 0;

	while (r == 0 && tail + sizeof(struct perf_event_header) <= head) {
		struct perf_event_header h;
		struct perf_record record;

		ring_copy(data, ring_bytes(s), tail, &h, sizeof(h));
		if (h.size < sizeof(h) || tail + h.size > head) {
			tail = head; /* this is impossible */
			break;
		}
		ring_copy(data, ring_bytes(s), tail, s->record, h.size);
		perf_record_decode(s->record, h.size, s->stacks, &record);
		r = on_record(s, &record);
		tail += h.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	return r;
}

static int ring_sampler_serve(void *state, struct lp_err *err)
{
	struct ring_sampler *s = state;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < s->events.n; i++)
		r = ring_read(s, &s->rings[i]);
	return r < 0 ? lp_err_sys(err, r, "cannot count samples") : 0;
}

static int news_tell(struct ring_sampler *s, const struct sampler_sink *sink)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n_news; i++) {
		const struct news *n = &s->news[i];

		r = n->executed ? sink->executed(sink->ctx, n->pid, 0, n->path)
				: sink->mapped(sink->ctx, n->pid, n->start, n->end, n->offset,
					  n->inode, n->path);
	}
	return r;
}

/* The name of a count's process. The rings are read one after the other, so a sample may have been
 * counted before the record that names its process was read. */
static const char *cell_name(const struct ring_sampler *s, const struct cell *c)
{
	uint32_t at;

	return !c->comm[0] && idmap_get(&s->names, (uint64_t)c->process, &at) ? s->comms[at]
									      : c->comm;
}

/* Keep the names of processes that still exist: they may be needed after the process has ended. */
static void names_keep(struct ring_sampler *s)
{
	char(*comms)[SAMPLER_COMM_MAX] = s->comms;
	size_t n = 0, at = 0;
	uint64_t pid;
	uint32_t from;
	struct idmap kept = {0};

	if (idmap_reserve(&kept, s->n_comms + 1) < 0) {
		idmap_clear(&s->names);
		s->n_comms = 0;
		return;
	}
	s->comms = calloc(s->n_comms + 1, sizeof(*s->comms));
	while (s->comms && idmap_next(&s->names, &at, &pid, &from)) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d", (int)pid);
		if (!comms[from][0] || access(path, F_OK) < 0)
			continue;
		memcpy(s->comms[n], comms[from], sizeof(*comms));
		idmap_put(&kept, pid, (uint32_t)n++);
	}
	s->cap_comms = s->comms ? s->n_comms + 1 : 0;
	s->n_comms = n;
	free(comms);
	idmap_release(&s->names);
	s->names = kept;
}

static int cells_tell(struct ring_sampler *s, const struct sampler_sink *sink)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n_cells; i++) {
		const struct cell *c = &s->cells[i];
		struct sampler_count count = {.n = c->n,
			.address = c->address,
			.pid = c->pid,
			.process = c->process,
			.kernel = (int64_t)c->address < 0,
			.stack = c->n_stack ? s->frames + c->stack_at : NULL,
			.n_stack = c->n_stack,
			.n_kernel_stack = c->n_kernel_stack};

		memcpy(count.comm, cell_name(s, c), sizeof(count.comm));
		r = sink->count(sink->ctx, &count);
	}
	return r;
}

static int ring_sampler_drain(void *state, const struct sampler_sink *sink, struct lp_err *err)
{
	struct ring_sampler *s = state;
	int r = ring_sampler_serve(s, err);

	if (r < 0)
		return r;
	r = news_tell(s, sink);
	if (r == 0)
		r = cells_tell(s, sink);
	news_clear(s);
	s->n_cells = s->n_frames = 0;
	idmap_clear(&s->by_key);
	names_keep(s);
	return r < 0 ? lp_err_sys(err, r, "cannot count samples") : 0;
}

static uint64_t ring_sampler_lost(void *state)
{
	return ((struct ring_sampler *)state)->lost;
}

extern const struct sampler sampler_ring;
const struct sampler sampler_ring = {
	.name = "ring",
	.summary = "reads every sample from the kernel; works where BPF is not permitted",
	.open = ring_sampler_open,
	.clock = ring_sampler_clock,
	.descriptor = ring_sampler_descriptor,
	.serve = ring_sampler_serve,
	.drain = ring_sampler_drain,
	.lost = ring_sampler_lost,
	.close = ring_sampler_close,
};
