#include "trace/stack/kernel_run.h"

#include "archive/trace_log.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "collect/spool.h"
#include "trace/named_rows.h"
#include "trace/stack/gaps.h"
#include "trace/stack/kernel_files.h"
#include "trace/stack/kernel_watch.h"
#include "trace/stack/layer.h"
#include "trace/stack/layer_rows.h"
#include "trace/stack/server_rows.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

/* A log of this size is written at once. */
#define LOG_BYTES_MAX ((size_t)4 << 20)
/* How often limpet looks for daemons that were started. */
#define FIND_US (2 * US_PER_SEC)

struct kernel_run {
	const struct kernel_run_config *config;
	struct kernel_spans_config spans_config;
	struct kernel_watch *watch;
	struct kernel_spans *spans;
	struct named_rows *rows, *servers;
	struct spool *spool;
	struct stack_shared counts; /* when the programs were detached */
	pid_t known[DAEMONS_MAX];   /* that are watched */
	size_t n_known;
	uint64_t n_daemons, n_gone, n_late;
	int64_t found_us; /* when daemons were last looked for */
	int64_t ended_us; /* when config->ended() returned true; 0: not yet */
};

void kernel_run_free(struct kernel_run *r)
{
	if (!r)
		return;
	kernel_watch_close(r->watch);
	kernel_spans_free(r->spans);
	named_rows_free(r->rows);
	named_rows_free(r->servers);
	free(r);
}

struct kernel_run_totals kernel_run_totals(const struct kernel_run *r)
{
	struct stack_shared counts = r->watch ? kernel_watch_counts(r->watch) : r->counts;

	return (struct kernel_run_totals){*kernel_spans_totals(r->spans), r->n_daemons, r->n_gone,
		r->n_late, counts.lost, counts.unframed};
}

static int span_add(void *ctx, const struct span *s)
{
	struct kernel_run *r = ctx;
	int got = trace_log_add_span(spool_log(r->spool), s);

	if (got == 0)
		got = layer_rows_add(r->rows, s);
	return got == 0 ? server_rows_add(r->servers, s) : got;
}

static void file_ask(void *ctx, int32_t pid, int32_t fd, uint64_t inode, struct kernel_file *ret)
{
	(void)ctx;
	kernel_file_find(pid, fd, inode, ret);
}

static void disk_ask(void *ctx, uint64_t device, char *ret, size_t size)
{
	(void)ctx;
	kernel_disk_name(device, ret, size);
}

int kernel_run_new(
	const struct kernel_run_config *config, struct kernel_run **ret, struct lp_err *err)
{
	struct kernel_run *r = calloc(1, sizeof(*r));
	int got = -ENOMEM;

	if (r) {
		r->config = config;
		r->spans_config = (struct kernel_spans_config){.layers = config->layers,
			.wall_offset_ns = config->wall_offset_ns,
			.span = span_add,
			.file = file_ask,
			.disk = disk_ask,
			.ctx = r};
		r->rows = layer_rows_new(config->observer);
		r->servers = server_rows_new(config->observer);
		r->spans = kernel_spans_new(&r->spans_config);
	}
	if (r && r->rows && r->servers && r->spans)
		got = kernel_watch_open(
			config->layers, config->children, config->ring_bytes, &r->watch, err);
	else
		lp_err_sys(err, -ENOMEM, "cannot follow I/O");
	if (got < 0) {
		kernel_run_free(r);
		return got;
	}
	*ret = r;
	return 0;
}

static bool is_among(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

/* Watch the daemons that exist now, and no longer those that have ended. */
static int daemons_watch(struct kernel_run *r, struct lp_err *err)
{
	pid_t pids[DAEMONS_MAX];
	size_t n = daemons_find("/proc", &r->config->daemons, pids), n_new = 0;
	int got = 0;

	for (size_t i = 0; i < r->n_known; i++)
		r->n_gone += !is_among(pids, n, r->known[i]);
	for (size_t i = 0; i < n && got == 0; i++) {
		if (is_among(r->known, r->n_known, pids[i]))
			continue;
		got = kernel_watch_process(r->watch, pids[i], STACK_ROLE_DAEMON, err);
		n_new++;
	}
	for (size_t i = 0; i < n; i++)
		r->known[i] = pids[i];
	r->n_known = n;
	r->n_daemons += n_new;
	r->n_late += r->found_us ? n_new : 0;
	r->found_us = clock_us(CLOCK_MONOTONIC);
	return got == 0 && n_new ? kernel_watch_find_fuse(r->watch, err) : got;
}

static bool needs_daemons(const struct kernel_run *r)
{
	return r->config->layers & LAYERS_IN_KERNEL & ~(1u << STACK_BLOCK);
}

static int kernel_open(void *config, void **ret_state, struct lp_err *err)
{
	struct kernel_run *r = config;

	*ret_state = r;
	if (!needs_daemons(r))
		return 0;
	return daemons_watch(r, err);
}

static int kernel_begin(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct kernel_run *r = state;
	const uint32_t children = STACK_ROLE_APP << STACK_ROLE_CHILD_SHIFT;
	int got = 0;

	r->spool = sink->spool;
	if (r->config->children)
		got = kernel_watch_process(r->watch, getpid(), children, err);
	if (got == 0)
		got = kernel_watch_attach(r->watch, err);
	if (got == 0 && r->config->ready)
		r->config->ready(r->config->ready_ctx);
	return got;
}

static int on_event(void *ctx, const void *event, size_t size)
{
	struct kernel_run *r = ctx;

	return kernel_spans_take(r->spans, event, size);
}

static int on_open_end(void *ctx, const void *event, size_t size)
{
	struct kernel_run *r = ctx;

	return kernel_spans_take_open(r->spans, event, size, clock_ns(CLOCK_MONOTONIC));
}

static int drain(struct kernel_run *r, struct lp_err *err)
{
	int got = kernel_watch_drain(r->watch, on_event, r);

	if (got == 0 && trace_log_waiting(spool_log(r->spool)) >= LOG_BYTES_MAX)
		got = spool_submit_log(r->spool, clock_us(CLOCK_REALTIME));
	return got < 0 ? lp_err_sys(err, got, "cannot store the events of the kernel") : 0;
}

static int kernel_descriptor(void *state)
{
	const struct kernel_run *r = state;

	return kernel_watch_descriptor(r->watch);
}

/* Has the program ended, and the time to linger passed since? */
static bool is_over(struct kernel_run *r)
{
	int64_t now_us = clock_us(CLOCK_MONOTONIC);

	if (!r->config->ended || !r->config->ended(r->config->ended_ctx))
		return false;
	if (!r->ended_us)
		r->ended_us = now_us;
	return now_us - r->ended_us >= r->config->linger_us;
}

static int kernel_serve(void *state, int timeout_ms, struct lp_err *err)
{
	struct kernel_run *r = state;
	int got;

	(void)timeout_ms;
	got = drain(r, err);
	if (got == 0 && needs_daemons(r) && clock_us(CLOCK_MONOTONIC) - r->found_us >= FIND_US)
		got = daemons_watch(r, err);
	return got < 0 ? got : is_over(r);
}

/* Note in the archive what is missing. */
static void gaps_note(const struct kernel_run *r)
{
	struct stack_gaps gaps = {.lost = r->counts.lost,
		.gone = r->n_gone,
		.late = r->n_late,
		.open = kernel_spans_totals(r->spans)->open,
		.damaged = kernel_spans_totals(r->spans)->damaged};
	char text[STACK_GAPS_TEXT];

	if (!stack_gaps_any(&gaps))
		return;
	stack_gaps_format(&gaps, text);
	spool_event(r->spool, clock_us(CLOCK_REALTIME), text);
}

/* Detach from the kernel, and take what it has delivered. */
static int finish(struct kernel_run *r, struct lp_err *err)
{
	int got = drain(r, err);

	if (got < 0)
		return got;
	got = kernel_watch_open_ends(r->watch, on_open_end, r);
	if (got == 0)
		got = kernel_spans_end(r->spans, clock_ns(CLOCK_MONOTONIC));
	r->counts = kernel_watch_counts(r->watch);
	gaps_note(r);
	kernel_watch_close(r->watch);
	r->watch = NULL;
	return got < 0 ? lp_err_sys(err, got, "cannot store the events of the kernel") : 0;
}

static int kernel_sample(
	void *state, const struct instant *at, struct collect_sink *sink, struct lp_err *err)
{
	struct kernel_run *r = state;
	int got = 0, behind = 0;

	if (at->last && r->watch)
		got = finish(r, err);
	if (got == 0)
		behind = got = named_rows_fill(r->rows, sink, err);
	if (got >= 0)
		got = named_rows_fill(r->servers, sink, err);
	return got < 0 ? got : got || behind;
}

/* The caller frees it. */
static void kernel_close(void *state)
{
	(void)state;
}

const struct instrument instrument_kernel_layers = {
	.name = "kernel layers",
	.at_ends = true,
	.open = kernel_open,
	.begin = kernel_begin,
	.descriptor = kernel_descriptor,
	.serve = kernel_serve,
	.sample = kernel_sample,
	.close = kernel_close,
};
