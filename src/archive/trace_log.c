#include "archive/trace_log.h"

#include "archive/log_gather.h"
#include "archive/reader.h"
#include "archive/span_log.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "model/syscalls.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* This many records with texts of TRACE_TEXT_MAX bytes always fit into a frame. */
#define SLICE_RECORDS (LOG_TEXT_MAX / TRACE_TEXT_MAX)

enum call_field {
	CALL_SEQ,
	CALL_START,
	CALL_DURATION,
	CALL_PID,
	CALL_TID,
	CALL_WHAT,
	CALL_NR,
	CALL_NAME,
	CALL_FLAGS,
	CALL_FILE,
	CALL_RESULT,
	CALL_ARG0,
	CALL_TEXT = CALL_ARG0 + TRACE_ARGS,
	CALL_FIELDS,
};

static const struct lp_log_field call_fields[CALL_FIELDS] = {
	[CALL_SEQ] = {"seq", "", LP_LOG_INT},
	[CALL_START] = {"start", "ns since 1970", LP_LOG_INT},
	[CALL_DURATION] = {"duration", "ns", LP_LOG_INT},
	[CALL_PID] = {"pid", "", LP_LOG_INT},
	[CALL_TID] = {"tid", "", LP_LOG_INT},
	[CALL_WHAT] = {"what", "", LP_LOG_INT},
	[CALL_NR] = {"nr", "", LP_LOG_INT},
	[CALL_NAME] = {"name", "", LP_LOG_TEXT},
	[CALL_FLAGS] = {"flags", "", LP_LOG_INT},
	[CALL_FILE] = {"file", "", LP_LOG_INT},
	[CALL_RESULT] = {"result", "", LP_LOG_INT},
	[CALL_ARG0] = {"arg0", "", LP_LOG_INT},
	[CALL_ARG0 + 1] = {"arg1", "", LP_LOG_INT},
	[CALL_ARG0 + 2] = {"arg2", "", LP_LOG_INT},
	[CALL_ARG0 + 3] = {"arg3", "", LP_LOG_INT},
	[CALL_ARG0 + 4] = {"arg4", "", LP_LOG_INT},
	[CALL_ARG0 + 5] = {"arg5", "", LP_LOG_INT},
	[CALL_TEXT] = {"text", "", LP_LOG_TEXT},
};

enum descriptor_field {
	FD_SEQ,
	FD_TIME,
	FD_PID,
	FD_FD,
	FD_FROM,
	FD_CHANGE,
	FD_FILE,
	FD_NAME,
	FD_FIELDS,
};

static const struct lp_log_field descriptor_fields[FD_FIELDS] = {
	[FD_SEQ] = {"seq", "", LP_LOG_INT},
	[FD_TIME] = {"time", "ns since 1970", LP_LOG_INT},
	[FD_PID] = {"pid", "", LP_LOG_INT},
	[FD_FD] = {"fd", "", LP_LOG_INT},
	[FD_FROM] = {"from", "", LP_LOG_INT},
	[FD_CHANGE] = {"change", "", LP_LOG_INT},
	[FD_FILE] = {"file", "", LP_LOG_INT},
	[FD_NAME] = {"name", "", LP_LOG_TEXT},
};

struct trace_log {
	struct log_gather calls, descriptors, spans;
};

struct trace_log *trace_log_new(void)
{
	struct trace_log *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->calls = (struct log_gather){.name = TRACE_LOG_SYSCALLS,
		.fields = call_fields,
		.n_fields = CALL_FIELDS,
		.time_field = CALL_START,
		.duration_field = CALL_DURATION,
		.slice = SLICE_RECORDS};
	l->descriptors = (struct log_gather){.name = TRACE_LOG_DESCRIPTORS,
		.fields = descriptor_fields,
		.n_fields = FD_FIELDS,
		.time_field = FD_TIME,
		.duration_field = FD_TIME,
		.slice = SLICE_RECORDS};
	l->spans = span_log_gather();
	return l;
}

void trace_log_free(struct trace_log *l)
{
	if (!l)
		return;
	log_gather_release(&l->calls);
	log_gather_release(&l->descriptors);
	log_gather_release(&l->spans);
	free(l);
}

/* The name of the call or signal, a constant; "" if it has none. */
static const char *event_name(const struct trace_event *e)
{
	char buf[SYSCALL_NAME_MAX];
	const struct syscall_info *info = NULL;
	const char *name = NULL;

	if (e->what == TRACE_CALL || e->what == TRACE_PENDING || e->what == TRACE_ASYNC) {
		info = e->flags & TRACE_COMPAT ? syscall_get_compat(e->nr) : syscall_get(e->nr);
		name = info ? info->name : NULL;
	} else if (e->what == TRACE_SIGNAL || (e->what == TRACE_EXIT && e->nr)) {
		name = signal_name(e->nr, buf);
		if (name == buf) /* it has only a number, which is in the log anyway */
			name = NULL;
	}
	return name ? name : "";
}

int trace_log_add(struct trace_log *l, const struct trace_event *e)
{
	struct log_gather *g = &l->calls;
	size_t len = e->text_len < TRACE_TEXT_MAX ? e->text_len : TRACE_TEXT_MAX;
	const char *name = event_name(e);
	size_t n = g->n;

	if (log_gather_reserve(g, len) < 0)
		return -ENOMEM;
	g->ints[CALL_SEQ][n] = (int64_t)e->seq;
	g->ints[CALL_START][n] = e->start_ns;
	g->ints[CALL_DURATION][n] = e->dur_ns;
	g->ints[CALL_PID][n] = e->pid;
	g->ints[CALL_TID][n] = e->tid;
	g->ints[CALL_WHAT][n] = e->what;
	g->ints[CALL_NR][n] = e->nr;
	g->texts[CALL_NAME][n] =
		(struct log_gather_text){.constant = name, .len = (uint32_t)strlen(name)};
	g->ints[CALL_FLAGS][n] = e->flags | (len < e->text_len ? TRACE_CUT : 0);
	g->ints[CALL_FILE][n] = e->file;
	g->ints[CALL_RESULT][n] = e->ret;
	for (unsigned i = 0; i < TRACE_ARGS; i++)
		g->ints[CALL_ARG0 + i][n] = (int64_t)e->args[i];
	log_gather_put_text(g, CALL_TEXT, e->text, len);
	g->n++;
	return 0;
}

int trace_log_add_descriptor(struct trace_log *l, const struct trace_descriptor *d)
{
	struct log_gather *g = &l->descriptors;
	size_t len = d->name ? strnlen(d->name, TRACE_TEXT_MAX) : 0;
	size_t n = g->n;

	if (log_gather_reserve(g, len) < 0)
		return -ENOMEM;
	g->ints[FD_SEQ][n] = (int64_t)d->seq;
	g->ints[FD_TIME][n] = d->time_ns;
	g->ints[FD_PID][n] = d->pid;
	g->ints[FD_FD][n] = d->fd;
	g->ints[FD_FROM][n] = d->from;
	g->ints[FD_CHANGE][n] = d->change;
	g->ints[FD_FILE][n] = d->file;
	log_gather_put_text(g, FD_NAME, d->name, len);
	g->n++;
	return 0;
}

int trace_log_add_span(struct trace_log *l, const struct span *s)
{
	return span_log_add(&l->spans, s);
}

size_t trace_log_waiting(const struct trace_log *l)
{
	return log_gather_waiting(&l->calls) + log_gather_waiting(&l->descriptors) +
		log_gather_waiting(&l->spans);
}

size_t trace_log_records(const struct trace_log *l)
{
	return l->calls.n - l->calls.n_written + l->descriptors.n - l->descriptors.n_written +
		l->spans.n - l->spans.n_written;
}

void trace_log_clear(struct trace_log *l)
{
	log_gather_clear(&l->calls);
	log_gather_clear(&l->descriptors);
	log_gather_clear(&l->spans);
}

void trace_log_trim(struct trace_log *l)
{
	if (trace_log_records(l))
		return;
	trace_log_clear(l);
	log_gather_release(&l->calls);
	log_gather_release(&l->descriptors);
	log_gather_release(&l->spans);
}

int trace_log_write(struct trace_log *l, struct lp_archive_writer *w, struct lp_err *err)
{
	int r = log_gather_write(&l->descriptors, w, err);

	if (r == 0)
		r = log_gather_write(&l->calls, w, err);
	return r < 0 ? r : log_gather_write(&l->spans, w, err);
}

/* The known fields of a log that is being read. */
struct log_reading {
	const struct trace_log_reader *to;
	struct lp_err *err;
	struct log_fields f;
	char *name; /* TRACE_TEXT_MAX + 1 bytes, for a text with a NUL */
};

/* The numbers of calls differ between machines. If the name is known, use the number on this
 * machine. */
static uint16_t call_number(const struct trace_event *e, const struct lp_log_text *name)
{
	const struct syscall_info *info = syscall_get(e->nr);
	char text[64];
	int nr;

	if (e->what != TRACE_CALL && e->what != TRACE_PENDING && e->what != TRACE_ASYNC)
		return e->nr;
	if (e->flags & TRACE_COMPAT || !name->len || name->len >= sizeof(text) ||
		(info && strlen(info->name) == name->len &&
			!memcmp(info->name, name->bytes, name->len)))
		return e->nr;
	memcpy(text, name->bytes, name->len);
	text[name->len] = '\0';
	nr = syscall_number(text);
	return nr >= 0 ? (uint16_t)nr : e->nr;
}

static struct trace_event event_at(const struct log_reading *rd, uint32_t i)
{
	struct lp_log_text name = log_fields_text(&rd->f, CALL_NAME, i),
			   text = log_fields_text(&rd->f, CALL_TEXT, i);
	struct trace_event e = {
		.seq = (uint64_t)log_fields_int(&rd->f, CALL_SEQ, i),
		.start_ns = log_fields_ns(&rd->f, CALL_START, i, TRACE_LOG_TIME_MAX),
		.dur_ns = log_fields_ns(&rd->f, CALL_DURATION, i, TRACE_LOG_DURATION_MAX),
		.pid = (int32_t)log_fields_int(&rd->f, CALL_PID, i),
		.tid = (int32_t)log_fields_int(&rd->f, CALL_TID, i),
		.nr = (uint16_t)log_fields_int(&rd->f, CALL_NR, i),
		.what = (uint8_t)log_fields_int(&rd->f, CALL_WHAT, i),
		.flags = (uint8_t)log_fields_int(&rd->f, CALL_FLAGS, i),
		.file = (uint8_t)log_fields_int(&rd->f, CALL_FILE, i),
		.ret = log_fields_int(&rd->f, CALL_RESULT, i),
		.text = text.bytes,
		.text_len = text.len,
	};

	for (unsigned a = 0; a < TRACE_ARGS; a++)
		e.args[a] = (uint64_t)log_fields_int(&rd->f, CALL_ARG0 + a, i);
	if (e.text_len > TRACE_TEXT_MAX) {
		e.text_len = TRACE_TEXT_MAX;
		e.flags |= TRACE_CUT;
	}
	e.nr = call_number(&e, &name);
	return e;
}

static int calls_read(struct log_reading *rd, const struct lp_log *log)
{
	int r = log_fields_find(&rd->f, log, call_fields, CALL_FIELDS, rd->err);

	for (uint32_t i = 0; i < log->n_records && r == 0; i++) {
		struct trace_event e = event_at(rd, i);

		r = rd->to->event(rd->to->ctx, log->first_record + i, &e);
	}
	return r;
}

static int descriptors_read(struct log_reading *rd, const struct lp_log *log)
{
	int r = log_fields_find(&rd->f, log, descriptor_fields, FD_FIELDS, rd->err);

	for (uint32_t i = 0; i < log->n_records && r == 0; i++) {
		struct lp_log_text name = log_fields_text(&rd->f, FD_NAME, i);
		struct trace_descriptor d = {
			.seq = (uint64_t)log_fields_int(&rd->f, FD_SEQ, i),
			.time_ns = log_fields_ns(&rd->f, FD_TIME, i, TRACE_LOG_TIME_MAX),
			.pid = (int32_t)log_fields_int(&rd->f, FD_PID, i),
			.fd = (int32_t)log_fields_int(&rd->f, FD_FD, i),
			.from = (int32_t)log_fields_int(&rd->f, FD_FROM, i),
			.change = (uint8_t)log_fields_int(&rd->f, FD_CHANGE, i),
			.file = (uint8_t)log_fields_int(&rd->f, FD_FILE, i),
			.name = rd->name,
		};

		if (name.len > TRACE_TEXT_MAX)
			name.len = TRACE_TEXT_MAX;
		memcpy(rd->name, name.bytes, name.len);
		rd->name[name.len] = '\0';
		r = rd->to->descriptor(rd->to->ctx, log->first_record + i, &d);
	}
	return r;
}

static int log_read(void *ctx, const struct lp_log *log)
{
	struct log_reading *rd = ctx;

	if (rd->to->event && !strcmp(log->name, TRACE_LOG_SYSCALLS))
		return calls_read(rd, log);
	if (rd->to->descriptor && !strcmp(log->name, TRACE_LOG_DESCRIPTORS))
		return descriptors_read(rd, log);
	if (rd->to->span && !strcmp(log->name, TRACE_LOG_SPANS))
		return span_log_take(log, rd->to->span, rd->to->ctx, rd->err);
	return 0;
}

int trace_log_take(const struct lp_log *log, const struct trace_log_reader *to, struct lp_err *err)
{
	char name[TRACE_TEXT_MAX + 1];
	struct log_reading rd = {.to = to, .err = err, .name = name};

	return log_read(&rd, log);
}

int trace_log_read(
	const struct lp_source *source, const struct trace_log_reader *to, struct lp_err *err)
{
	_cleanup_free_ char *name = malloc(TRACE_TEXT_MAX + 1);
	struct log_reading rd = {.to = to, .err = err, .name = name};
	const char *only = NULL;

	if (!name)
		return lp_err_sys(err, -ENOMEM, "cannot read the logs of %s", source->path);
	if (!to->event + !to->descriptor + !to->span == 2)
		only = to->event	 ? TRACE_LOG_SYSCALLS
			: to->descriptor ? TRACE_LOG_DESCRIPTORS
					 : TRACE_LOG_SPANS;
	return lp_archive_logs(source, only, log_read, &rd, err);
}

static int is_trace(void *ctx, const struct log_place *place)
{
	(void)ctx;
	return !strcmp(place->name, TRACE_LOG_SYSCALLS) ||
		!strcmp(place->name, TRACE_LOG_DESCRIPTORS);
}

bool trace_log_present(const struct lp_source *source)
{
	struct lp_err err = {0};

	return reader_log_places(source, is_trace, NULL, &err) == 1;
}

static int is_spans(void *ctx, const struct log_place *place)
{
	(void)ctx;
	return !strcmp(place->name, TRACE_LOG_SPANS);
}

bool trace_log_has_spans(const struct lp_source *source)
{
	struct lp_err err = {0};

	return reader_log_places(source, is_spans, NULL, &err) == 1;
}
