#include "cli/trace_closing.h"

#include "base/array.h"
#include "base/time.h"
#include "report/flow.h"
#include "trace/rows_columns.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* The number of items of each list to print. */
#define TELL_MAX 6

void closing_release(struct closing *c)
{
	free(c->processes.items);
	free(c->errnos.items);
	*c = (struct closing){0};
}

static void list_add(struct closing_list *l, const char *name, int64_t n, int64_t errors)
{
	struct closing_row *row;

	if (!n || array_reserve(&l->items, &l->cap, l->n + 1, sizeof(*l->items)) < 0)
		return;
	row = &l->items[l->n++];
	snprintf(row->name, sizeof(row->name), "%s", name);
	row->n = (uint64_t)n;
	row->errors = (uint64_t)errors;
}

static int most_first(const void *a, const void *b)
{
	const struct closing_row *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->name, y->name);
}

static void list_sort(struct closing_list *l)
{
	if (l->n)
		qsort(l->items, l->n, sizeof(*l->items), most_first);
}

void closing_row(void *ctx, enum trace_rows_kind kind, const char *name, const int64_t *values)
{
	struct closing *c = ctx;

	if (kind == TRACE_ROWS_SYS)
		list_add(&c->processes, name, values[SYS_CALLS], values[SYS_ERRORS]);
	else if (kind == TRACE_ROWS_ERRNO)
		list_add(&c->errnos, name, values[ERRNO_N], 0);
}

void closing_started(void *ctx, const struct trace_stats *st)
{
	const struct closing *c = ctx;

	if (c->quiet)
		return;
	fprintf(stderr, "tracing %" PRIu64 " process%s%s with %s (%s) into %s; Ctrl-C stops\n",
		st->processes, st->processes == 1 ? "" : "es",
		st->processes ? "" : " so far (waiting for one)", c->config->backend->name,
		c->config->trace.records ? "records" : "summary",
		c->config->path ? c->config->path : c->config->dir);
}

void closing_progress(void *ctx, const struct trace_stats *st)
{
	struct closing *c = ctx;
	int64_t us = st->elapsed_us - c->elapsed_before_us;

	if (!c->live || us <= 0)
		return;
	fprintf(stderr,
		"\r\033[K%" PRId64 " s: %.0f events/s, %" PRIu64 " calls, %" PRIu64 " failed",
		st->elapsed_us / US_PER_SEC,
		(double)(st->events - c->events_before) * 1e6 / (double)us, st->calls, st->errors);
	if (st->stuck)
		fprintf(stderr, ", %" PRIu64 " stuck", st->stuck);
	if (st->lost)
		fprintf(stderr, ", %" PRIu64 " LOST", st->lost);
	c->events_before = st->events;
	c->elapsed_before_us = st->elapsed_us;
}

static void print_list(FILE *out, const char *what, const struct closing_list *l)
{
	if (!l->n)
		return;
	fprintf(out, "%s", what);
	for (size_t i = 0; i < l->n && i < TELL_MAX; i++) {
		fputs(i ? ", " : " ", out);
		flow_print_safe(out, l->items[i].name);
		fprintf(out, " %" PRIu64, l->items[i].n);
	}
	if (l->n > TELL_MAX)
		fprintf(out, ", and %zu more", l->n - TELL_MAX);
	fputc('\n', out);
}

/* "glusterfsd is /usr/sbin/glusterfsd of root (3 processes)" */
static void print_programs(FILE *out, const struct closing *c)
{
	for (unsigned i = 0; i < c->n_programs; i++) {
		const struct closing_program *p = &c->programs[i];

		flow_print_safe(out, p->program.name);
		fputs(" is ", out);
		flow_print_safe(out, p->path);
		fprintf(out, " of user %s (%" PRIu64 " process%s)\n", p->user, p->program.n,
			p->program.n == 1 ? "" : "es");
	}
	if (c->n_more)
		fprintf(out, "and %" PRIu64 " more processes are of other programs\n", c->n_more);
}

void closing_programs(void *ctx, const struct trace_programs *programs, bool at_end)
{
	struct closing *c = ctx;

	c->n_programs = programs->n;
	c->n_more = programs->n_more;
	for (unsigned i = 0; i < programs->n; i++) {
		struct closing_program *p = &c->programs[i];

		p->program = programs->items[i];
		p->program.path = NULL;
		snprintf(p->path, sizeof(p->path), "%s", programs->items[i].path);
		trace_user_name(p->program.uid, p->user, sizeof(p->user));
	}
	if (!at_end && !c->quiet)
		print_programs(stderr, c);
}

static const char *call_name(const struct trace_event *e)
{
	const struct syscall_info *info = trace_event_syscall(e);

	return info ? info->name : "?";
}

static void print_slow(FILE *out, const struct trace_stats *st)
{
	for (unsigned i = 0; i < st->n_slow; i++) {
		const struct trace_slow *s = &st->slow[i];

		fprintf(out, "%s %.6f s ",
			i ? "        " : "slowest:", (double)s->event.dur_ns / 1e9);
		flow_print_safe(out, s->comm);
		fprintf(out, "[%d] %s", s->event.tid, call_name(&s->event));
		if (s->file[0]) {
			fputs(" of ", out);
			flow_print_safe(out, s->file);
		}
		if (s->event.what == TRACE_PENDING)
			fputs(", which has not returned", out);
		fputc('\n', out);
	}
}

static void print_lost(FILE *out, const struct trace_stats *st)
{
	if (st->lost)
		fprintf(out,
			"lost: %" PRIu64
			" events did not reach the tracer in time (--ring makes more room, "
			"--summary needs none)\n",
			st->lost);
	if (st->spool.records_lost || st->spool.samples_lost)
		fprintf(out,
			"lost: %" PRIu64 " records and %" PRIu64 " samples could not be written\n",
			st->spool.records_lost, st->spool.samples_lost);
}

static void print_command(FILE *out, const struct trace_session_config *config, int status)
{
	char name[SYSCALL_NAME_MAX];

	if (!config->trace.targets.command)
		return;
	if (status < 0)
		fputs("the command continues without limpet\n", out);
	else if (WIFSIGNALED(status))
		fprintf(out, "the command was ended by %s\n", signal_name(WTERMSIG(status), name));
	else
		fprintf(out, "the command ended with status %d\n", WEXITSTATUS(status));
}

void closing_print(struct closing *c, const struct trace_stats *st, FILE *out)
{
	const struct trace_session_config *config = c->config;
	char span[TIME_TEXT_MAX];

	if (c->live)
		fputs("\r\033[K", out);
	list_sort(&c->processes);
	list_sort(&c->errnos);
	if (!st->processes) {
		fprintf(out, "traced nothing: no such process ran\n");
		print_command(out, config, st->command_status);
		return;
	}
	fprintf(out,
		"traced %" PRIu64 " process%s with %s for %s: %" PRIu64 " calls, %" PRIu64
		" of them failed\n",
		st->processes, st->processes == 1 ? "" : "es", config->backend->name,
		span_format(st->elapsed_us / 100000 * 100000, span), st->calls, st->errors);
	print_programs(out, c);
	print_list(out, "calls:", &c->processes);
	print_list(out, "errors:", &c->errnos);
	print_slow(out, st);
	print_lost(out, st);
	print_command(out, config, st->command_status);
	if (!st->spool.path[0])
		return;
	fprintf(out, "written: %s\n", st->spool.path);
	fprintf(out, "next: limpet show --calls %s; limpet diagnose %s\n", st->spool.path,
		config->path ? st->spool.path : config->dir);
}

static json_t *list_json(const struct closing_list *l, const char *word, bool errors)
{
	json_t *all = json_array();

	for (size_t i = 0; i < l->n; i++) {
		json_t *o =
			json_pack("{s:s%,s:I}", word, l->items[i].name, strlen(l->items[i].name),
				errors ? "calls" : "n", (json_int_t)l->items[i].n);

		if (errors)
			json_object_set_new(
				o, "errors", json_integer((json_int_t)l->items[i].errors));
		json_array_append_new(all, o);
	}
	return all;
}

static json_t *slow_json(const struct trace_stats *st)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < st->n_slow; i++) {
		const struct trace_slow *s = &st->slow[i];
		char start[TIME_TEXT_MAX];

		json_array_append_new(all,
			json_pack("{s:s,s:f,s:s,s:i,s:s,s:s,s:b}", "start",
				time_format(s->event.start_ns / 1000, start), "seconds",
				(double)s->event.dur_ns / 1e9, "process", s->comm, "thread",
				s->event.tid, "call", call_name(&s->event), "file", s->file,
				"returned", s->event.what != TRACE_PENDING));
	}
	return all;
}

static json_t *programs_json(const struct closing *c)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < c->n_programs; i++) {
		const struct closing_program *p = &c->programs[i];

		json_array_append_new(all,
			json_pack("{s:s,s:s,s:s,s:I}", "name", p->program.name, "executable",
				p->path, "user", p->user, "processes", (json_int_t)p->program.n));
	}
	return all;
}

int closing_print_json(struct closing *c, const struct trace_stats *st, struct lp_err *err)
{
	const struct trace_session_config *config = c->config;
	json_auto_t *root = NULL;

	list_sort(&c->processes);
	list_sort(&c->errnos);
	root = json_pack("{s:s,s:s,s:s,s:f,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:s,s:o,s:o,s:o}",
		"observer", config->observer, "backend", config->backend->name, "mode",
		config->trace.records ? "records" : "summary", "seconds",
		(double)st->elapsed_us / 1e6, "traced", (json_int_t)st->processes, "events",
		(json_int_t)st->events, "calls", (json_int_t)st->calls, "failed",
		(json_int_t)st->errors, "lost", (json_int_t)st->lost, "records_lost",
		(json_int_t)st->spool.records_lost, "samples_lost",
		(json_int_t)st->spool.samples_lost, "file", st->spool.path, "processes",
		list_json(&c->processes, "name", true), "errors",
		list_json(&c->errnos, "name", false), "slowest", slow_json(st));
	if (root && config->trace.targets.n_comms)
		json_object_set_new(root, "programs", programs_json(c));
	if (root && config->trace.targets.command && st->command_status >= 0)
		json_object_set_new(root, "command_status", json_integer(st->command_status));
	if (!root || json_dumpf(root, stdout, JSON_ENSURE_ASCII) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot print the summary");
	putchar('\n');
	return 0;
}
