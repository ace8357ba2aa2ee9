#include "archive/trace_log.h"

#include "archive/reader.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "model/syscalls.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* So many records of texts of TRACE_TEXT_MAX bytes always fit into a frame. */
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

/* A text that is gathered: in `bytes`, or somebody's constant. */
struct text_at {
	const char *constant; /* NULL: at `offset` */
	size_t offset;
	uint32_t len;
};

/* Records of one log that wait to be written. */
struct gather {
	const char *name;
	const struct lp_log_field *fields;
	uint32_t n_fields;
	uint32_t time_field, duration_field; /* of ns; the same: there are no durations */
	int64_t *ints[CALL_FIELDS];
	struct text_at *texts[CALL_FIELDS];
	size_t n, cap, n_written; /* records; those that are in the file already */
	struct strbuf bytes;
};

struct trace_log {
	struct gather calls, descriptors;
};

static void gather_release(struct gather *g)
{
	for (uint32_t i = 0; i < g->n_fields; i++) {
		free(g->ints[i]);
		free(g->texts[i]);
		g->ints[i] = NULL;
		g->texts[i] = NULL;
	}
	strbuf_release(&g->bytes);
	g->cap = 0;
}

struct trace_log *trace_log_new(void)
{
	struct trace_log *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->calls = (struct gather){.name = TRACE_LOG_SYSCALLS,
		.fields = call_fields,
		.n_fields = CALL_FIELDS,
		.time_field = CALL_START,
		.duration_field = CALL_DURATION};
	l->descriptors = (struct gather){.name = TRACE_LOG_DESCRIPTORS,
		.fields = descriptor_fields,
		.n_fields = FD_FIELDS,
		.time_field = FD_TIME,
		.duration_field = FD_TIME};
	return l;
}

void trace_log_free(struct trace_log *l)
{
	if (!l)
		return;
	gather_release(&l->calls);
	gather_release(&l->descriptors);
	free(l);
}

/* Room for one more record and `bytes` of its text. */
static int gather_reserve(struct gather *g, size_t bytes)
{
	size_t cap = g->cap;

	strbuf_reserve(&g->bytes, bytes);
	if (g->bytes.failed) {
		g->bytes.failed = false; /* what is there is good; the next may fit again */
		return -ENOMEM;
	}
	if (g->n < g->cap)
		return 0;
	for (uint32_t i = 0; i < g->n_fields; i++) {
		bool text = g->fields[i].type == LP_LOG_TEXT;

		cap = g->cap;
		if (text ? array_reserve(&g->texts[i], &cap, g->n + 1, sizeof(**g->texts)) < 0
			 : array_reserve(&g->ints[i], &cap, g->n + 1, sizeof(**g->ints)) < 0)
			return -ENOMEM;
	}
	g->cap = cap;
	return 0;
}

/* Keep a copy of a text for record g->n. */
static void gather_text(struct gather *g, uint32_t field, const char *text, size_t len)
{
	g->texts[field][g->n] = (struct text_at){.offset = g->bytes.len, .len = (uint32_t)len};
	strbuf_add(&g->bytes, text, len);
}

/* The name of the call or signal, "" if it has none: constants of the tables. */
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
		if (name == buf) /* it has only a number, which is in the log anyhow */
			name = NULL;
	}
	return name ? name : "";
}

int trace_log_add(struct trace_log *l, const struct trace_event *e)
{
	struct gather *g = &l->calls;
	size_t len = e->text_len < TRACE_TEXT_MAX ? e->text_len : TRACE_TEXT_MAX;
	const char *name = event_name(e);
	size_t n = g->n;

	if (gather_reserve(g, len) < 0)
		return -ENOMEM;
	g->ints[CALL_SEQ][n] = (int64_t)e->seq;
	g->ints[CALL_START][n] = e->start_ns;
	g->ints[CALL_DURATION][n] = e->dur_ns;
	g->ints[CALL_PID][n] = e->pid;
	g->ints[CALL_TID][n] = e->tid;
	g->ints[CALL_WHAT][n] = e->what;
	g->ints[CALL_NR][n] = e->nr;
	g->texts[CALL_NAME][n] = (struct text_at){.constant = name, .len = (uint32_t)strlen(name)};
	g->ints[CALL_FLAGS][n] = e->flags | (len < e->text_len ? TRACE_CUT : 0);
	g->ints[CALL_FILE][n] = e->file;
	g->ints[CALL_RESULT][n] = e->ret;
	for (unsigned i = 0; i < TRACE_ARGS; i++)
		g->ints[CALL_ARG0 + i][n] = (int64_t)e->args[i];
	gather_text(g, CALL_TEXT, e->text, len);
	g->n++;
	return 0;
}

int trace_log_add_descriptor(struct trace_log *l, const struct trace_descriptor *d)
{
	struct gather *g = &l->descriptors;
	size_t len = d->name ? strnlen(d->name, TRACE_TEXT_MAX) : 0;
	size_t n = g->n;

	if (gather_reserve(g, len) < 0)
		return -ENOMEM;
	g->ints[FD_SEQ][n] = (int64_t)d->seq;
	g->ints[FD_TIME][n] = d->time_ns;
	g->ints[FD_PID][n] = d->pid;
	g->ints[FD_FD][n] = d->fd;
	g->ints[FD_FROM][n] = d->from;
	g->ints[FD_CHANGE][n] = d->change;
	g->ints[FD_FILE][n] = d->file;
	gather_text(g, FD_NAME, d->name, len);
	g->n++;
	return 0;
}

static size_t gather_waiting(const struct gather *g)
{
	return (g->n - g->n_written) * g->n_fields * sizeof(int64_t) + g->bytes.len;
}

size_t trace_log_waiting(const struct trace_log *l)
{
	return gather_waiting(&l->calls) + gather_waiting(&l->descriptors);
}

size_t trace_log_records(const struct trace_log *l)
{
	return l->calls.n - l->calls.n_written + l->descriptors.n - l->descriptors.n_written;
}

static void gather_clear(struct gather *g)
{
	g->n = g->n_written = 0;
	strbuf_reset(&g->bytes);
}

void trace_log_clear(struct trace_log *l)
{
	gather_clear(&l->calls);
	gather_clear(&l->descriptors);
}

void trace_log_trim(struct trace_log *l)
{
	if (trace_log_records(l))
		return;
	trace_log_clear(l);
	gather_release(&l->calls);
	gather_release(&l->descriptors);
}

static int64_t ns_to_us(int64_t ns)
{
	return ns / 1000 - (ns % 1000 < 0);
}

/* The time that records first .. first+n-1 are about. */
static void slice_span(const struct gather *g, size_t first, struct lp_log *log)
{
	const int64_t *time = g->ints[g->time_field] + first;
	const int64_t *duration = g->ints[g->duration_field] + first;
	int64_t from = time[0], to = time[0];

	for (uint32_t i = 0; i < log->n_records; i++) {
		int64_t end = time[i];

		if (duration != time && __builtin_add_overflow(end, duration[i], &end))
			end = time[i];
		from = time[i] < from ? time[i] : from;
		to = end > to ? end : to;
	}
	log->first_us = ns_to_us(from);
	log->last_us = ns_to_us(to);
}

/* The texts of a field in a slice, as the archive wants them. */
static struct lp_log_text *slice_texts(
	const struct gather *g, uint32_t field, size_t first, uint32_t n)
{
	struct lp_log_text *texts = calloc(n, sizeof(*texts));

	for (uint32_t i = 0; texts && i < n; i++) {
		const struct text_at *at = &g->texts[field][first + i];

		texts[i].len = at->len;
		texts[i].bytes = at->constant ? at->constant
			: at->len	      ? g->bytes.text + at->offset
					      : "";
	}
	return texts;
}

static int slice_write(
	struct gather *g, size_t first, uint32_t n, struct lp_archive_writer *w, struct lp_err *err)
{
	const int64_t *ints[CALL_FIELDS] = {0};
	struct lp_log_text *texts[CALL_FIELDS] = {0};
	struct lp_log log = {.name = g->name,
		.fields = g->fields,
		.n_fields = g->n_fields,
		.n_records = n,
		.ints = ints,
		.texts = (const struct lp_log_text *const *)texts};
	int r = 0;

	slice_span(g, first, &log);
	for (uint32_t i = 0; i < g->n_fields; i++) {
		if (g->fields[i].type == LP_LOG_INT)
			ints[i] = g->ints[i] + first;
		else
			texts[i] = slice_texts(g, i, first, n);
		if (!ints[i] && !texts[i])
			r = lp_err_sys(err, -ENOMEM, "cannot write the log %s", g->name);
	}
	if (r == 0)
		r = lp_archive_write_log(w, &log, err);
	for (uint32_t i = 0; i < g->n_fields; i++)
		free(texts[i]);
	return r;
}

static int gather_write(struct gather *g, struct lp_archive_writer *w, struct lp_err *err)
{
	while (g->n_written < g->n) {
		size_t left = g->n - g->n_written;
		uint32_t n = left < SLICE_RECORDS ? (uint32_t)left : (uint32_t)SLICE_RECORDS;
		int r = slice_write(g, g->n_written, n, w, err);

		if (r < 0)
			return r;
		g->n_written += n;
	}
	gather_clear(g);
	return 0;
}

int trace_log_write(struct trace_log *l, struct lp_archive_writer *w, struct lp_err *err)
{
	int r = gather_write(&l->descriptors, w, err);

	return r < 0 ? r : gather_write(&l->calls, w, err);
}

/* A log that is being read: where the fields that we know are in it. */
struct log_reading {
	const struct trace_log_reader *to;
	struct lp_err *err;
	const int64_t *ints[CALL_FIELDS];	      /* NULL: there is no such field */
	const struct lp_log_text *texts[CALL_FIELDS]; /* also */
	char *name;				      /* TRACE_TEXT_MAX + 1: a text with a NUL */
};

static int field_find(struct log_reading *rd, const struct lp_log *log,
	const struct lp_log_field *known, uint32_t k)
{
	rd->ints[k] = NULL;
	rd->texts[k] = NULL;
	for (uint32_t i = 0; i < log->n_fields; i++) {
		if (strcmp(log->fields[i].name, known->name))
			continue;
		if (log->fields[i].type != known->type)
			return lp_err_set(rd->err, -EBADMSG, "the log %s has a field %s that is %s",
				log->name, known->name,
				known->type == LP_LOG_INT ? "a text, not a number"
							  : "a number, not a text");
		rd->ints[k] = log->ints[i];
		rd->texts[k] = log->texts[i];
	}
	return 0;
}

static int fields_find(struct log_reading *rd, const struct lp_log *log,
	const struct lp_log_field *known, uint32_t n_known)
{
	int r = 0;

	for (uint32_t k = 0; k < n_known && r == 0; k++)
		r = field_find(rd, log, &known[k], k);
	return r;
}

static int64_t int_at(const struct log_reading *rd, uint32_t field, uint32_t i)
{
	return rd->ints[field] ? rd->ints[field][i] : 0;
}

static struct lp_log_text text_at(const struct log_reading *rd, uint32_t field, uint32_t i)
{
	struct lp_log_text text = {.bytes = "", .len = 0};

	if (rd->texts[field])
		text = rd->texts[field][i];
	return text;
}

/* A time or a duration between 0 and `max`, so that nobody's sums and differences overflow. */
static int64_t ns_at(const struct log_reading *rd, uint32_t field, uint32_t i, int64_t max)
{
	int64_t ns = int_at(rd, field, i);

	if (ns < 0)
		return 0;
	return ns < max ? ns : max;
}

/* Numbers of calls differ between machines: where the name says so, take ours. */
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
	struct lp_log_text name = text_at(rd, CALL_NAME, i), text = text_at(rd, CALL_TEXT, i);
	struct trace_event e = {
		.seq = (uint64_t)int_at(rd, CALL_SEQ, i),
		.start_ns = ns_at(rd, CALL_START, i, TRACE_LOG_TIME_MAX),
		.dur_ns = ns_at(rd, CALL_DURATION, i, TRACE_LOG_DURATION_MAX),
		.pid = (int32_t)int_at(rd, CALL_PID, i),
		.tid = (int32_t)int_at(rd, CALL_TID, i),
		.nr = (uint16_t)int_at(rd, CALL_NR, i),
		.what = (uint8_t)int_at(rd, CALL_WHAT, i),
		.flags = (uint8_t)int_at(rd, CALL_FLAGS, i),
		.file = (uint8_t)int_at(rd, CALL_FILE, i),
		.ret = int_at(rd, CALL_RESULT, i),
		.text = text.bytes,
		.text_len = text.len,
	};

	for (unsigned a = 0; a < TRACE_ARGS; a++)
		e.args[a] = (uint64_t)int_at(rd, CALL_ARG0 + a, i);
	if (e.text_len > TRACE_TEXT_MAX) {
		e.text_len = TRACE_TEXT_MAX;
		e.flags |= TRACE_CUT;
	}
	e.nr = call_number(&e, &name);
	return e;
}

static int calls_read(struct log_reading *rd, const struct lp_log *log)
{
	int r = fields_find(rd, log, call_fields, CALL_FIELDS);

	for (uint32_t i = 0; i < log->n_records && r == 0; i++) {
		struct trace_event e = event_at(rd, i);

		r = rd->to->event(rd->to->ctx, log->first_record + i, &e);
	}
	return r;
}

static int descriptors_read(struct log_reading *rd, const struct lp_log *log)
{
	int r = fields_find(rd, log, descriptor_fields, FD_FIELDS);

	for (uint32_t i = 0; i < log->n_records && r == 0; i++) {
		struct lp_log_text name = text_at(rd, FD_NAME, i);
		struct trace_descriptor d = {
			.seq = (uint64_t)int_at(rd, FD_SEQ, i),
			.time_ns = ns_at(rd, FD_TIME, i, TRACE_LOG_TIME_MAX),
			.pid = (int32_t)int_at(rd, FD_PID, i),
			.fd = (int32_t)int_at(rd, FD_FD, i),
			.from = (int32_t)int_at(rd, FD_FROM, i),
			.change = (uint8_t)int_at(rd, FD_CHANGE, i),
			.file = (uint8_t)int_at(rd, FD_FILE, i),
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
	if (!to->event)
		only = TRACE_LOG_DESCRIPTORS;
	else if (!to->descriptor)
		only = TRACE_LOG_SYSCALLS;
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
