/* Everybody who reads the events of a trace: tables of descriptors, printing, and the diagnosis of
 * errors, crashes and hangs. */
#ifndef FUZZ_TRACE_AUDIENCE_H
#define FUZZ_TRACE_AUDIENCE_H

#include "archive/trace_log.h"
#include "explain/semantic_reader.h"
#include "report/calls.h"
#include "trace/descriptors.h"
#include <stdlib.h>
#include <string.h>

/* Everybody who looks at events. */
struct audience {
	struct semantic_reader *reader;
	unsigned host; /* whose log is being read: the server's, the client's */
	struct descriptors *tables;
	struct fd_names *names;
	struct strbuf text;
};

static inline void must(bool good)
{
	if (!good)
		abort();
}

static const char *const observers[] = {"s1", "c1"};

/* What a client sees of the server, so that there is one, and it is silent for a while. */
static inline void reader_begin(struct semantic_reader *r)
{
	for (int64_t s = 0; s < 40; s++) {
		int64_t values[3] = {s, s / 2, s * 1000000};

		must(reader_peer(r, "c1", s * 1000000, "10.0.0.1:24007", values) == 0);
	}
}

/* What was printed must do nothing to a terminal. */
static inline void must_be_printable(const struct strbuf *text)
{
	must(!text->failed);
	for (size_t i = 0; i < text->len; i++)
		must(text->text[i] >= ' ' && text->text[i] <= '~');
}

static inline void print_event(struct audience *a, uint64_t record, const struct trace_event *e)
{
	json_t *json = calls_json(e, record, fd_names_get(a->names, e->pid, 5), "s1");

	strbuf_reset(&a->text);
	calls_add_head(&a->text, e, a->host ? "c1" : NULL);
	calls_add_call(&a->text, e, a->names);
	calls_add_result(&a->text, e, a->names);
	must_be_printable(&a->text);
	must(json != NULL);
	json_decref(json);
}

static inline int take_event(void *ctx, uint64_t record, const struct trace_event *e)
{
	struct audience *a = ctx;
	struct descriptor what;
	struct lp_err err = {0};

	must(descriptors_apply(a->tables, e, &err) == 0 || err.text[0]);
	if (descriptors_get(a->tables, e->pid, trace_event_fd(e), &what))
		must(what.name != NULL);
	must(descriptors_comm(a->tables, e->pid) != NULL);
	must(trace_event_call(e) < TRACE_CALLS && trace_event_errno(e) >= 0);
	must(trace_event_bytes(e) >= 0);
	print_event(a, record, e);
	must(semantic_reader_event(a->reader, observers[a->host], e) == 0);
	return 0;
}

static inline int take_descriptor(void *ctx, uint64_t record, const struct trace_descriptor *d)
{
	struct audience *a = ctx;
	json_t *json = calls_descriptor_json(d, record, "s1");

	must(strlen(d->name) <= TRACE_TEXT_MAX && json);
	json_decref(json);
	strbuf_reset(&a->text);
	calls_add_descriptor(&a->text, d, "s1");
	must_be_printable(&a->text);
	must(fd_names_apply(a->names, d) == 0);
	must(semantic_reader_descriptor(a->reader, observers[a->host], d) == 0);
	return 0;
}

/* A reported change must be one that can be logged. */
static int take_change(void *ctx, const struct trace_descriptor *d)
{
	(void)ctx;
	must(d->name && *trace_change_name(d->change) && *trace_file_name(d->file));
	return 0;
}

static inline void judge(struct semantic_reader *r)
{
	struct semantic found = {0};

	must(semantic_reader_finish(r) == 0);
	must(semantic_reader_verdict(r, &found) == 0);
	for (uint32_t i = 0; i < found.n; i++)
		must(found.findings[i].component && found.findings[i].n);
	semantic_release(&found);
}

static inline void audience_begin(struct audience *a, struct hosts *hosts,
	const struct semantic_options *options, bool follow)
{
	*a = (struct audience){0};
	a->tables = descriptors_new("/nonexistent", take_change, NULL);
	a->names = fd_names_new();
	a->reader = semantic_reader_new(options, hosts, follow);
	must(a->tables && a->names && a->reader);
	must(hosts_add(hosts, "s1", "10.0.0.1") == 0 && hosts_add(hosts, "c1", "10.0.0.2") == 0);
	reader_begin(a->reader);
}

static inline void audience_end(struct audience *a, struct hosts *hosts)
{
	judge(a->reader);
	fd_names_free(a->names);
	descriptors_free(a->tables);
	semantic_reader_free(a->reader);
	hosts_release(hosts);
	strbuf_release(&a->text);
}

#endif
