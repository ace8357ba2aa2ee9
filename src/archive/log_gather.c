#include "archive/log_gather.h"

#include "base/array.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void log_gather_release(struct log_gather *g)
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

int log_gather_reserve(struct log_gather *g, size_t bytes)
{
	size_t cap = g->cap;

	strbuf_reserve(&g->bytes, bytes);
	if (g->bytes.failed) {
		g->bytes.failed = false; /* the existing texts are intact; the next one may fit
					  * again */
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

void log_gather_put_text(struct log_gather *g, uint32_t field, const char *text, size_t len)
{
	g->texts[field][g->n] =
		(struct log_gather_text){.offset = g->bytes.len, .len = (uint32_t)len};
	strbuf_add(&g->bytes, text, len);
}

size_t log_gather_waiting(const struct log_gather *g)
{
	return (g->n - g->n_written) * g->n_fields * sizeof(int64_t) + g->bytes.len;
}

void log_gather_clear(struct log_gather *g)
{
	g->n = g->n_written = 0;
	strbuf_reset(&g->bytes);
}

static int64_t ns_to_us(int64_t ns)
{
	return ns / 1000 - (ns % 1000 < 0);
}

/* The time range of the records first .. first+n-1. */
static void slice_span(const struct log_gather *g, size_t first, struct lp_log *log)
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

/* The texts of a field in a slice, in the form for the archive. */
static struct lp_log_text *slice_texts(
	const struct log_gather *g, uint32_t field, size_t first, uint32_t n)
{
	struct lp_log_text *texts = calloc(n, sizeof(*texts));

	for (uint32_t i = 0; texts && i < n; i++) {
		const struct log_gather_text *at = &g->texts[field][first + i];

		texts[i].len = at->len;
		texts[i].bytes = at->constant ? at->constant
			: at->len	      ? g->bytes.text + at->offset
					      : "";
	}
	return texts;
}

static int slice_write(struct log_gather *g, size_t first, uint32_t n, struct lp_archive_writer *w,
	struct lp_err *err)
{
	const int64_t *ints[LOG_GATHER_FIELDS_MAX] = {0};
	struct lp_log_text *texts[LOG_GATHER_FIELDS_MAX] = {0};
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

int log_gather_write(struct log_gather *g, struct lp_archive_writer *w, struct lp_err *err)
{
	while (g->n_written < g->n) {
		size_t left = g->n - g->n_written;
		uint32_t n = left < g->slice ? (uint32_t)left : g->slice;
		int r = slice_write(g, g->n_written, n, w, err);

		if (r < 0)
			return r;
		g->n_written += n;
	}
	log_gather_clear(g);
	return 0;
}

static int field_find(struct log_fields *f, const struct lp_log *log,
	const struct lp_log_field *known, uint32_t k, struct lp_err *err)
{
	f->ints[k] = NULL;
	f->texts[k] = NULL;
	for (uint32_t i = 0; i < log->n_fields; i++) {
		if (strcmp(log->fields[i].name, known->name))
			continue;
		if (log->fields[i].type != known->type)
			return lp_err_set(err, -EBADMSG, "the log %s has a field %s that is %s",
				log->name, known->name,
				known->type == LP_LOG_INT ? "a text, not a number"
							  : "a number, not a text");
		f->ints[k] = log->ints[i];
		f->texts[k] = log->texts[i];
	}
	return 0;
}

int log_fields_find(struct log_fields *f, const struct lp_log *log,
	const struct lp_log_field *known, uint32_t n_known, struct lp_err *err)
{
	int r = 0;

	for (uint32_t k = 0; k < n_known && r == 0; k++)
		r = field_find(f, log, &known[k], k, err);
	return r;
}

int64_t log_fields_int(const struct log_fields *f, uint32_t field, uint32_t i)
{
	return f->ints[field] ? f->ints[field][i] : 0;
}

struct lp_log_text log_fields_text(const struct log_fields *f, uint32_t field, uint32_t i)
{
	struct lp_log_text text = {.bytes = "", .len = 0};

	if (f->texts[field])
		text = f->texts[field][i];
	return text;
}

int64_t log_fields_ns(const struct log_fields *f, uint32_t field, uint32_t i, int64_t max)
{
	int64_t ns = log_fields_int(f, field, i);

	if (ns < 0)
		return 0;
	return ns < max ? ns : max;
}
