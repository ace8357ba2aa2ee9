/* Samples that a program in the kernel counts (bpf/samples.bpf.c), by process and address. This
 * process only reads the counts, in batches. Nothing outlives it: programs, maps and events are its
 * descriptors.
 */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "trace/bpf/samples.h"
#include "trace/bpf_complaint.h"
#include "trace/bpf_section.h"
#include "trace/profile/perf_event.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

_Alignas(16) static const char programs[] =
#include "trace/bpf/bpf_samples.h"
	;

#define KEYS_MIN 16384u
#define KEYS_MAX 262144u
#define STACKS_MAX 65536u
#define BATCH_MIN 4096u

struct bpf_sampler {
	struct perf_events events;
	struct bpf_object *object;
	struct bpf_link **links; /* [event]; they own its descriptors */
	unsigned n_links;
	struct bpf_link *on_exec;
	struct ring_buffer *execs;
	struct samples_shared *shared;
	int counts_fd, stacks_fd;
	uint32_t n_keys;
	struct samples_key *keys;
	struct samples_value *values;
	uint32_t batch;
	const struct sampler_sink *sink; /* during reading */
	uint64_t stack[2 * SAMPLES_STACK_MAX];
	int *used_stacks;
	size_t n_used_stacks, cap_used_stacks;
};

_Static_assert(SAMPLER_STACK_MAX >= 2 * SAMPLES_STACK_MAX, "stacks of kernel and user fit");
_Static_assert(SAMPLES_BUILD_ID_LEN == BUILD_ID_MAX, "a build-id is a build-id");
_Static_assert(SAMPLES_COMM_LEN == SAMPLER_COMM_MAX, "a name is a name");

static void bpf_sampler_close(void *state)
{
	struct bpf_sampler *b = state;

	if (!b)
		return;
	for (unsigned i = 0; i < b->n_links; i++)
		bpf_link__destroy(b->links[i]);
	free(b->links);
	bpf_link__destroy(b->on_exec);
	ring_buffer__free(b->execs);
	if (b->shared)
		munmap(b->shared, sizeof(*b->shared));
	perf_events_close(&b->events);
	bpf_object__close(b->object);
	free(b->keys);
	free(b->values);
	free(b->used_stacks);
	free(b);
}

DEFINE_CLEANUP(void *, bpf_sampler_close);

/* Twice the possible number of samples at different addresses, within limits. */
static uint32_t keys_for(const struct sampler_config *config, unsigned n_cpus)
{
	uint64_t n = 2 * (uint64_t)config->hz * n_cpus *
		(uint64_t)(config->interval_us / US_PER_SEC + 1);

	return n < KEYS_MIN ? KEYS_MIN : n > KEYS_MAX ? KEYS_MAX : (uint32_t)n;
}

static int prepare(struct bpf_sampler *b, const struct sampler_config *config)
{
	struct samples_settings settings = {
		.stacks = config->stacks, .netns = (uint32_t)config->netns};
	struct bpf_map *counts = bpf_object__find_map_by_name(b->object, "counts");
	struct bpf_map *stacks = bpf_object__find_map_by_name(b->object, "stacks");
	struct bpf_map *rodata = bpf_section(b->object, ".rodata");
	int r;

	if (!counts || !stacks || !rodata)
		return -EINVAL;
	b->n_keys = keys_for(config, b->events.n);
	r = bpf_map__set_max_entries(counts, b->n_keys);
	if (r == 0)
		r = bpf_map__set_max_entries(stacks, config->stacks ? STACKS_MAX : 1);
	return r == 0 ? bpf_map__set_initial_value(rodata, &settings, sizeof(settings)) : r;
}

static int refuse(int code, const char *what, struct lp_err *err)
{
	if (code == -EPERM || code == -EACCES)
		return lp_err_set(err, -EPERM, "%s",
			geteuid() == 0 ? "BPF is not permitted, not even to root (a container?)"
				       : "BPF needs root (or CAP_BPF and CAP_PERFMON)");
	return lp_err_set(err, -EOPNOTSUPP, "%s (%s)", what,
		bpf_complaint()[0] ? bpf_complaint() : strerror(-code));
}

static int load(struct bpf_sampler *b, const struct sampler_config *config, struct lp_err *err)
{
	struct bpf_object_open_opts opts = {.sz = sizeof(opts), .object_name = "limpet_samples"};
	struct bpf_map *bss;
	void *p;
	int r;

	bpf_complaint_listen();
	b->object = bpf_object__open_mem(programs, sizeof(programs) - 1, &opts);
	r = b->object ? prepare(b, config) : -errno;
	if (r == 0)
		r = bpf_object__load(b->object);
	if (r < 0)
		return refuse(r, "the kernel rejects the BPF program that counts samples", err);
	bss = bpf_section(b->object, ".bss");
	p = bss ? mmap(NULL, sizeof(*b->shared), PROT_READ, MAP_SHARED, bpf_map__fd(bss), 0)
		: MAP_FAILED;
	if (p == MAP_FAILED)
		return refuse(-errno, "cannot map the counters of the BPF program", err);
	b->shared = p;
	b->counts_fd = bpf_object__find_map_fd_by_name(b->object, "counts");
	b->stacks_fd = bpf_object__find_map_fd_by_name(b->object, "stacks");
	return 0;
}

static int on_exec_record(void *ctx, void *data, size_t size)
{
	const struct bpf_sampler *b = ctx;
	const struct samples_exec *e = data;

	if (size < sizeof(*e) || e->len == 0 || e->len > sizeof(e->path) || !b->sink->executed)
		return 0;
	return b->sink->executed(b->sink->ctx, (int)e->pid, (int)e->parent, e->path);
}

/* Exec events only help to name processes that have ended since; without them (no BTF) sampling
 * continues. */
static void attach_exec(struct bpf_sampler *b)
{
	struct bpf_program *p = bpf_object__find_program_by_name(b->object, "on_exec");
	int fd = bpf_object__find_map_fd_by_name(b->object, "execs");

	b->on_exec = p ? bpf_program__attach(p) : NULL;
	if (b->on_exec)
		b->execs = ring_buffer__new(fd, on_exec_record, b, NULL);
}

static int attach(struct bpf_sampler *b, struct lp_err *err)
{
	struct bpf_program *p = bpf_object__find_program_by_name(b->object, "on_tick");

	b->links = calloc(b->events.n, sizeof(struct bpf_link *));
	if (!b->links || !p)
		return lp_err_sys(err, -ENOMEM, "cannot sample");
	for (unsigned i = 0; i < b->events.n; i++) {
		b->links[i] = bpf_program__attach_perf_event(p, b->events.fds[i]);
		if (!b->links[i]) {
			int code = -errno;

			/* The links so far will close their descriptors; keep the others. */
			memmove(b->events.fds, b->events.fds + i,
				(b->events.n - i) * sizeof(*b->events.fds));
			b->events.n -= i;
			return refuse(
				code, "the kernel does not run BPF programs at perf events", err);
		}
		b->n_links++;
	}
	b->events.n = 0; /* the links own them */
	attach_exec(b);
	return 0;
}

static int bpf_sampler_open(
	const struct sampler_config *config, void **ret_state, struct lp_err *err)
{
	const struct perf_event_attr attr = {0};
	_cleanup_(bpf_sampler_closep) void *state = calloc(1, sizeof(struct bpf_sampler));
	struct bpf_sampler *b = state;
	int r;

	if (!b)
		return lp_err_sys(err, -ENOMEM, "cannot sample");
	r = perf_events_open(config, &attr, &b->events, err);
	if (r == 0)
		r = load(b, config, err);
	if (r < 0)
		return r;
	b->batch = b->n_keys < BATCH_MIN ? b->n_keys : BATCH_MIN;
	b->keys = calloc(b->batch, sizeof(*b->keys));
	b->values = calloc(b->batch, sizeof(*b->values));
	if (!b->keys || !b->values)
		return lp_err_sys(err, -ENOMEM, "cannot sample");
	r = attach(b, err);
	if (r == 0)
		*ret_state = TAKE_PTR(state);
	return r;
}

static enum sampler_clock bpf_sampler_clock(void *state)
{
	return ((struct bpf_sampler *)state)->events.clock;
}

/* Add the addresses of a stack after the existing `n`. */
static unsigned stack_read(struct bpf_sampler *b, int id, unsigned n)
{
	uint64_t *at = b->stack + n;
	unsigned depth = 0;

	if (id < 0 || bpf_map_lookup_elem(b->stacks_fd, &id, at) < 0)
		return n;
	while (depth < SAMPLES_STACK_MAX && at[depth])
		depth++;
	if (array_reserve(&b->used_stacks, &b->cap_used_stacks, b->n_used_stacks + 1,
		    sizeof(*b->used_stacks)) == 0)
		b->used_stacks[b->n_used_stacks++] = id;
	return n + depth;
}

static int deliver(
	struct bpf_sampler *b, const struct samples_key *k, const struct samples_value *v)
{
	struct sampler_count c = {.n = v->n,
		.address = k->ip,
		.pid = (int)k->pid,
		.process = (int)v->pid,
		.kernel = (int64_t)k->ip < 0,
		.offset = v->offset};

	memcpy(c.comm, k->comm, sizeof(c.comm));
	c.comm[sizeof(c.comm) - 1] = '\0';
	if (v->has_build_id) {
		c.id.known = true;
		memcpy(c.id.bytes, v->build_id, sizeof(c.id.bytes));
	}
	c.n_kernel_stack = stack_read(b, k->kernel_stack, 0);
	c.n_stack = stack_read(b, k->user_stack, c.n_kernel_stack);
	c.stack = b->stack;
	return b->sink->count(b->sink->ctx, &c);
}

/* A bucket of the map may have more entries than fit: enlarge the buffer. */
static int batch_grow(struct bpf_sampler *b)
{
	struct samples_key *keys = reallocarray(b->keys, b->batch, 2 * sizeof(*keys));
	struct samples_value *values;

	if (!keys)
		return -ENOMEM;
	b->keys = keys;
	values = reallocarray(b->values, b->batch, 2 * sizeof(*values));
	if (!values)
		return -ENOMEM;
	b->values = values;
	b->batch *= 2;
	return 0;
}

/* Read and remove all counts of the map. */
static int counts_take(struct bpf_sampler *b)
{
	uint32_t token = 0;
	bool first = true;

	for (;;) {
		uint32_t n = b->batch;
		int got = bpf_map_lookup_and_delete_batch(
			b->counts_fd, first ? NULL : &token, &token, b->keys, b->values, &n, NULL);
		int r = 0;

		if (got == -ENOSPC && b->batch < b->n_keys) {
			r = batch_grow(b);
			if (r < 0)
				return r;
			continue;
		}
		if (got < 0 && got != -ENOENT)
			return got;
		for (uint32_t i = 0; r == 0 && i < n; i++)
			r = deliver(b, &b->keys[i], &b->values[i]);
		if (r < 0 || got == -ENOENT)
			return r;
		first = false;
	}
}

static int bpf_sampler_drain(void *state, const struct sampler_sink *sink, struct lp_err *err)
{
	struct bpf_sampler *b = state;
	int r = 0;

	b->sink = sink;
	if (b->execs)
		r = ring_buffer__consume(b->execs);
	if (r >= 0)
		r = counts_take(b);
	for (size_t i = 0; i < b->n_used_stacks; i++)
		bpf_map_delete_elem(b->stacks_fd, &b->used_stacks[i]);
	b->n_used_stacks = 0;
	b->sink = NULL;
	return r < 0 ? lp_err_sys(err, r, "cannot read the counts of samples") : 0;
}

static uint64_t bpf_sampler_lost(void *state)
{
	const struct bpf_sampler *b = state;

	return __atomic_load_n(&b->shared->lost, __ATOMIC_RELAXED);
}

extern const struct sampler sampler_bpf;
const struct sampler sampler_bpf = {
	.name = "bpf",
	.summary = "counts in the kernel, at little cost",
	.open = bpf_sampler_open,
	.clock = bpf_sampler_clock,
	.drain = bpf_sampler_drain,
	.lost = bpf_sampler_lost,
	.close = bpf_sampler_close,
};
