/* Tracing from inside the kernel: programs at its system call tracepoints (bpf/), which examine
 * only the targets, and a ring through which they report. Nothing outlives this process: programs,
 * maps and links are its descriptors, which the kernel closes even if it is killed.
 */
#include "trace/backend_bpf.h"

#include "base/cleanup.h"
#include "base/time.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The kernel wakes this thread only when much data is waiting, so it polls at this interval. */
#define LOOK_MS 50

static void bpf_close(void *state)
{
	struct bpf_tracer *t = state;

	if (!t)
		return;
	bpf_tracer_unload(t);
	bpf_targets_close(t);
	bpf_counts_free(t->counts);
	bpf_entries_release(&t->processes);
	free(t->ports);
	free(t);
}

DEFINE_CLEANUP(void *, bpf_close);

static int bpf_open(const struct trace_config *config, const struct trace_sink *sink,
	void **ret_state, struct lp_err *err)
{
	struct bpf_tracer *t = calloc(1, sizeof(*t));
	_cleanup_(bpf_closep) void *state = t;
	int r;

	if (!t)
		return lp_err_sys(err, -ENOMEM, "cannot trace");
	t->sink = *sink;
	t->records = config->records;
	t->ring.epoll_fd = -1;
	t->ports = calloc(config->n_ports + 1, sizeof(*t->ports));
	if (!t->ports)
		return lp_err_sys(err, -ENOMEM, "cannot trace");
	for (; t->n_ports < config->n_ports; t->n_ports++)
		t->ports[t->n_ports] = config->ports[t->n_ports];
	r = bpf_tracer_load(t, config, err);
	if (r == 0)
		r = bpf_tracer_attach(t, err);
	if (r == 0)
		r = bpf_targets_open(t, &config->targets, err);
	if (r < 0)
		return r;
	*ret_state = TAKE_PTR(state);
	return 0;
}

static int64_t now_ms(void)
{
	return clock_us(CLOCK_MONOTONIC) / 1000;
}

/* One round: find threads, deliver events, notice the end of the command. */
static int look_once(struct bpf_tracer *t, uint64_t *ret_n, struct lp_err *err)
{
	int r = 0;

	if (__atomic_load_n(&t->shared->scan, __ATOMIC_RELAXED))
		r = bpf_targets_scan(t, false, err);
	bpf_targets_reap(t);
	return r < 0 ? r : bpf_ring_drain(&t->ring, &t->sink, ret_n);
}

static bool nothing_left(const struct bpf_tracer *t)
{
	return !t->lasting && __atomic_load_n(&t->shared->n_processes, __ATOMIC_SEQ_CST) <= 0 &&
		(!t->command || t->command_ended);
}

static int bpf_poll(void *state, int timeout_ms, struct lp_err *err)
{
	struct bpf_tracer *t = state;
	int64_t until_ms = now_ms() + timeout_ms, left_ms;
	uint64_t n = 0;
	int r, woken = 0;

	/* Wait first: polling immediately after every delivery would compete with the writer. */
	do {
		bool last = nothing_left(t);

		left_ms = until_ms - now_ms();
		if (left_ms > 0 && !last)
			woken = bpf_ring_wait(&t->ring, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
		r = look_once(t, &n, err);
		if (r == 0 && last)
			return 1;
	} while (r == 0 && n == 0 && left_ms > LOOK_MS && woken >= 0);
	return r;
}

static int bpf_descriptor(void *state)
{
	return ((struct bpf_tracer *)state)->ring.epoll_fd;
}

static int bpf_pending(void *state, int64_t at_least_ns, struct lp_err *err)
{
	int r = bpf_sweep(state, err);

	return r < 0 ? r : bpf_pending_list(state, at_least_ns, err);
}

static int bpf_tally(void *state, struct tally *tally, struct lp_err *err)
{
	struct bpf_tracer *t = state;
	int r = t->cgroup ? bpf_targets_scan(t, true, err) : 0;

	return r < 0 ? r : bpf_counts_read(t, tally, err);
}

static unsigned bpf_processes(void *state, pid_t *ret, unsigned max)
{
	struct bpf_tracer *t = state;
	unsigned n = 0;

	if (!t->processes.max && bpf_entries_open(&t->processes, t->processes_fd) < 0)
		return 0;
	if (bpf_entries_read(&t->processes) < 0)
		return 0;
	for (; n < t->processes.n && n < max; n++) {
		uint32_t pid;

		memcpy(&pid, bpf_entries_key(&t->processes, n), sizeof(pid));
		ret[n] = (pid_t)pid;
	}
	return n;
}

static uint64_t bpf_lost(void *state)
{
	struct bpf_tracer *t = state;

	return __atomic_load_n(&t->shared->lost, __ATOMIC_RELAXED) +
		__atomic_load_n(&t->shared->uncounted, __ATOMIC_RELAXED) + bpf_tracer_misses(t);
}

static int bpf_command_status(void *state)
{
	struct bpf_tracer *t = state;

	bpf_targets_reap(t);
	return t->command_ended ? t->command_status : -ECHILD;
}

extern const struct trace_backend trace_backend_bpf;
const struct trace_backend trace_backend_bpf = {
	.name = "bpf",
	.summary = "from inside the kernel, at little cost; needs root and a kernel with BTF",
	.counts = true,
	.probe = bpf_tracer_probe,
	.open = bpf_open,
	.descriptor = bpf_descriptor,
	.poll = bpf_poll,
	.pending = bpf_pending,
	.tally = bpf_tally,
	.processes = bpf_processes,
	.lost = bpf_lost,
	.command_status = bpf_command_status,
	.unseen = bpf_tracer_unseen,
	.close = bpf_close,
};
