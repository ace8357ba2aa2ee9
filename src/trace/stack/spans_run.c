#include "trace/stack/spans_run.h"

#include "archive/trace_log.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "collect/spool.h"
#include "runtime/spans_file.h"
#include "trace/stack/gaps.h"
#include "trace/stack/layer.h"
#include "trace/stack/layer_rows.h"
#include "trace/stack/places.h"
#include "trace/stack/scratch.h"
#include "trace/stack/ticks.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A log of this size is written at once. */
#define LOG_BYTES_MAX ((size_t)4 << 20)
/* How often the program's memory is emptied. */
#define LOOK_US (US_PER_SEC / 4)
#define LOOK_BUSY_US (US_PER_SEC / 50)
/* How long a program may take to end after SIGTERM. */
#define STOP_US (5 * US_PER_SEC)

struct spans_run {
	const struct spans_run_config *config;
	struct scratch dir; /* where programs leave spans */
	char *preload;	    /* LD_PRELOAD */
	char *ranges;	    /* regions that are addresses of the program; NULL: none */
	pid_t pid;	    /* 0: not started, or ended */
	int status;
	int64_t looked_us;
	struct spans_reading *reading;
	struct named_rows *rows;
	struct spool *spool;
};

const struct spans_totals *spans_run_totals(const struct spans_run *r)
{
	return spans_reading_totals(r->reading);
}

int spans_run_status(const struct spans_run *r)
{
	return r->status;
}

void spans_run_free(struct spans_run *r)
{
	if (!r)
		return;
	if (r->pid > 0) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, NULL, 0);
	}
	spans_reading_free(r->reading);
	named_rows_free(r->rows);
	scratch_close(&r->dir);
	free(r->preload);
	free(r->ranges);
	free(r);
}

static int span_add(void *ctx, const struct span *s)
{
	struct spans_run *r = ctx;
	int got = trace_log_add_span(spool_log(r->spool), s);

	return got == 0 ? layer_rows_add(r->rows, s) : got;
}

/* LD_PRELOAD for the layers that are recorded by libraries: the core, then those above it. */
static int preload_make(struct spans_run *r, struct lp_err *err)
{
	const char *before = getenv("LD_PRELOAD");
	struct strbuf list = {0};
	char path[PATH_MAX];

	for (int i = (int)layers_n - 1; i >= 0; i--) {
		bool core = i == STACK_POSIX;

		if (!layers[i].library || i == STACK_LIBRARY ||
			(!core && !(r->config->stack->layers >> i & 1)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", r->config->runtime, layers[i].library);
		if (access(path, R_OK) < 0) {
			strbuf_release(&list);
			return lp_err_set(err, -ENOENT,
				"the layer %s needs %s, which is not installed: limpet was built "
				"without that library's headers",
				layers[i].name, path);
		}
		strbuf_printf(&list, "%s%s", list.len ? ":" : "", path);
	}
	if (before && *before)
		strbuf_printf(&list, ":%s", before);
	r->preload = strbuf_take(&list);
	return r->preload ? 0 : lp_err_sys(err, -ENOMEM, "cannot run the program");
}

static int ranges_make(struct spans_run *r, struct lp_err *err)
{
	struct strbuf sb = {0};
	int got = places_find(r->config->stack, r->config->command, &sb, err);

	r->ranges = strbuf_take(&sb);
	return got;
}

int spans_run_new(const struct spans_run_config *config, struct spans_run **ret, struct lp_err *err)
{
	struct spans_run *r = calloc(1, sizeof(*r));
	int got;

	if (!r)
		return lp_err_sys(err, -ENOMEM, "cannot run the program");
	r->config = config;
	r->dir.lock = -1;
	r->status = -1;
	r->rows = layer_rows_new(config->observer);
	got = r->rows ? preload_make(r, err) : lp_err_sys(err, -ENOMEM, "cannot run the program");
	if (got == 0)
		got = ranges_make(r, err);
	if (got == 0)
		got = scratch_open(&r->dir, config->scratch, err);
	if (got == 0)
		got = spans_reading_new(
			r->dir.path, config->wall_offset_ns, span_add, r, &r->reading, err);
	if (got < 0) {
		spans_run_free(r);
		return got;
	}
	*ret = r;
	return 0;
}

/* ",a,b,": the marks inside which calls are recorded; "": all of them are. */
static void marks_set(const struct stack_config *c)
{
	struct strbuf sb = {0};

	if (c->n_regions)
		strbuf_putc(&sb, ',');
	for (size_t i = 0; i < c->n_regions; i++) {
		if (c->regions[i].kind == PLACE_MARK)
			strbuf_printf(&sb, "%s,", c->regions[i].name);
	}
	setenv(SPANS_REGIONS_VARIABLE, sb.text ? sb.text : "", 1);
	strbuf_release(&sb);
}

static void functions_set(const struct stack_config *c)
{
	struct strbuf sb = {0};

	for (size_t i = 0; i < c->n_functions; i++) {
		const struct stack_function *f = &c->functions[i];

		strbuf_printf(&sb, "%s,%u,%u,%u,%u,%d;", f->name, f->op, f->size, f->offset,
			f->object, f->returns_size);
	}
	setenv(SPANS_FUNCTIONS_VARIABLE, sb.text ? sb.text : "", 1);
	strbuf_release(&sb);
}

static void environment_set(const struct spans_run *r)
{
	const struct stack_config *c = r->config->stack;
	char list[256] = "", mask[16], reader[16];

	for (unsigned i = 0; i < layers_n; i++) {
		if (c->layers >> i & 1)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				*list ? "," : "", layers[i].name);
	}
	snprintf(mask, sizeof(mask), "%u", c->operations);
	snprintf(reader, sizeof(reader), "%d", (int)getppid());
	setenv("LD_PRELOAD", r->preload, 1);
	setenv(SPANS_READER_VARIABLE, reader, 1);
	setenv(SPANS_DIRECTORY_VARIABLE, r->dir.path, 1);
	setenv(SPANS_LAYERS_VARIABLE, list, 1);
	setenv(SPANS_OPERATIONS_VARIABLE, mask, 1);
	marks_set(c);
	functions_set(c);
	setenv(SPANS_SUMMARY_VARIABLE, c->summary ? "1" : "0", 1);
	setenv(SPANS_TICKS_VARIABLE, ticks_are_time("") ? "1" : "0", 1);
	setenv(SPANS_RANGES_VARIABLE, r->ranges ? r->ranges : "", 1);
	setenv(SPANS_APPLICATION_VARIABLE, c->application ? c->application : "", 1);
}

_Noreturn static void child(const struct spans_run *r, int failure)
{
	sigset_t none;
	int error;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	environment_set(r);
	execvp(r->config->command[0], r->config->command);
	error = errno;
	(void)!write(failure, &error, sizeof(error));
	_exit(127);
}

static int spans_open(void *config, void **ret_state, struct lp_err *err)
{
	(void)err;
	*ret_state = config;
	return 0;
}

static int spans_begin_run(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct spans_run *r = state;
	int failure[2], error = 0;
	ssize_t n;

	r->spool = sink->spool;
	if (pipe2(failure, O_CLOEXEC) < 0)
		return lp_err_sys(err, -errno, "cannot run %s", r->config->command[0]);
	r->pid = fork();
	if (r->pid == 0)
		child(r, failure[1]);
	close(failure[1]);
	if (r->pid < 0) {
		error = errno;
		r->pid = 0;
	}
	do
		n = error ? 0 : read(failure[0], &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close(failure[0]);
	return error ? lp_err_sys(err, -error, "cannot run %s", r->config->command[0]) : 0;
}

static int look(struct spans_run *r, bool at_end, struct lp_err *err)
{
	int got;

	r->looked_us = clock_us(CLOCK_MONOTONIC);
	got = spans_reading_look(r->reading, at_end, err);
	if (got == 0 && trace_log_waiting(spool_log(r->spool)) >= LOG_BYTES_MAX)
		got = spool_submit_log(r->spool, clock_us(CLOCK_REALTIME));
	return got;
}

/* 1: the program has ended. */
static int spans_serve(void *state, int timeout_ms, struct lp_err *err)
{
	struct spans_run *r = state;
	int64_t every_us = spans_reading_is_busy(r->reading) ? LOOK_BUSY_US : LOOK_US;
	pid_t got;

	if (r->pid > 0 && timeout_ms > 0 && waitpid(r->pid, &r->status, WNOHANG) == 0)
		poll(NULL, 0, timeout_ms < 20 ? timeout_ms : 20);
	got = r->pid > 0 ? waitpid(r->pid, &r->status, WNOHANG) : 0;
	if (got == r->pid || (got < 0 && errno == ECHILD))
		r->pid = 0;
	if (clock_us(CLOCK_MONOTONIC) - r->looked_us >= every_us && look(r, false, err) < 0)
		return err->code;
	return r->pid == 0;
}

/* Recording ends before the program does: request its end, then enforce it. */
static void program_stop(struct spans_run *r)
{
	int64_t until = clock_us(CLOCK_MONOTONIC) + STOP_US;

	for (int sent = 0; r->pid > 0;) {
		if (waitpid(r->pid, &r->status, WNOHANG) != 0) {
			r->pid = 0;
		} else if (clock_us(CLOCK_MONOTONIC) > until) {
			kill(r->pid, SIGKILL);
			waitpid(r->pid, &r->status, 0);
			r->pid = 0;
		} else {
			if (!sent++)
				kill(r->pid, SIGTERM);
			poll(NULL, 0, 20);
		}
	}
}

/* Note in the archive what is missing. */
static void gaps_note(struct spans_run *r)
{
	struct stack_gaps gaps = stack_gaps_of(spans_reading_totals(r->reading),
		r->config->stack->layers & ~LAYERS_IN_KERNEL, r->config->stack->n_regions > 0);
	char text[STACK_GAPS_TEXT];

	if (!stack_gaps_any(&gaps))
		return;
	stack_gaps_format(&gaps, text);
	spool_event(r->spool, clock_us(CLOCK_REALTIME), text);
}

static void sums_note(struct spans_run *r)
{
	const struct job_sums *sums = &spans_reading_totals(r->reading)->sums;
	char text[JOB_SUM_TEXT];

	for (unsigned i = 0; i < layers_n; i++) {
		for (unsigned op = 0; op < SPAN_OPS; op++) {
			if (!sums->items[i][op].calls)
				continue;
			job_sum_format(sums, i, op, text);
			spool_event(r->spool, clock_us(CLOCK_REALTIME), text);
		}
	}
}

static int spans_sample(
	void *state, const struct instant *at, struct collect_sink *sink, struct lp_err *err)
{
	struct spans_run *r = state;
	int got;

	if (at->last)
		program_stop(r);
	got = look(r, at->last, err);
	if (at->last) {
		gaps_note(r);
		sums_note(r);
	}
	return got < 0 ? got : named_rows_fill(r->rows, sink, err);
}

/* The caller frees it. */
static void spans_close(void *state)
{
	(void)state;
}

const struct instrument instrument_spans = {
	.name = "spans",
	.at_ends = true,
	.open = spans_open,
	.begin = spans_begin_run,
	.serve = spans_serve,
	.sample = spans_sample,
	.close = spans_close,
};
