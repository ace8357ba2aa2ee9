#include "explain/semantic_read.h"

#include "archive/reader.h"
#include "archive/trace_log.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "import/dataset.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An archive, which is opened for its logs or its rows on demand. */
struct stream {
	size_t file;
	bool logs;
	int64_t next_us; /* its data is not earlier; INT64_MAX: it has ended */
	char *observer;
	struct lp_source *source;
	struct lp_batch *batch;	  /* rows: the next one */
	struct log_place *places; /* logs: the frames, in the order of time */
	size_t n, cap, at;
};

struct reading_all {
	struct lp_dataset *ds;
	struct semantic_reader *reader;
	const struct semantic_options *options;
	struct lp_select rows, logs;
	struct stream *streams;
	size_t n, cap;
	struct lp_err damage; /* the first; code 0: none */
};

DEFINE_CLEANUP(struct lp_source *, lp_source_close);

static int no_memory(struct lp_err *err)
{
	return lp_err_sys(err, -ENOMEM, "cannot read the logs of system calls");
}

static void stream_close(struct stream *s)
{
	lp_source_close(s->source);
	free(s->places);
	s->source = NULL;
	s->places = NULL;
	s->next_us = INT64_MAX;
}

static void reading_release(struct reading_all *r)
{
	for (size_t i = 0; i < r->n; i++) {
		stream_close(&r->streams[i]);
		free(r->streams[i].observer);
	}
	free(r->streams);
}

static bool is_kind(const struct lp_schema *s, const char *kind)
{
	return !strcmp(s->kind, kind);
}

static bool component_wanted(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	const struct lp_schema *s = &c->schemas[c->components[id].schema];

	(void)ctx;
	return is_kind(s, "sys") || is_kind(s, "peer") || is_kind(s, "errno") || is_kind(s, "call");
}

static bool column_wanted(void *ctx, const struct lp_schema *s, uint32_t column)
{
	static const char *const names[] = {
		"requests", "responses", "waiting_us", "nsread_n", "calls", "n", NULL};

	(void)ctx;
	if (is_kind(s, "call"))
		return false;
	for (const char *const *n = names; *n; n++) {
		if (!strcmp(s->columns[column].name, *n))
			return true;
	}
	return false;
}

static bool has_rows(const struct lp_catalogue *c)
{
	for (uint32_t i = 0; i < c->n_schemas; i++) {
		if (is_kind(&c->schemas[i], "sys") || is_kind(&c->schemas[i], "peer"))
			return true;
	}
	return false;
}

static int add_stream(
	struct reading_all *r, size_t file, bool logs, const char *observer, int64_t from_us)
{
	struct stream *s;

	if (array_reserve(&r->streams, &r->cap, r->n + 1, sizeof(*s)) < 0)
		return -ENOMEM;
	s = &r->streams[r->n];
	*s = (struct stream){
		.file = file, .logs = logs, .next_us = from_us, .observer = strdup(observer)};
	if (!s->observer)
		return -ENOMEM;
	r->n++;
	return 0;
}

/* A time, limited to the selected range. */
static int64_t within(const struct reading_all *r, int64_t at_us)
{
	const struct semantic_options *o = r->options;

	at_us = at_us < o->from_us ? o->from_us : at_us;
	return o->to_us && at_us >= o->to_us ? o->to_us - 1 : at_us;
}

static int find_first(void *ctx, const struct log_place *place)
{
	int64_t *first_us = ctx;

	if (place->first_us < *first_us)
		*first_us = place->first_us;
	return 0;
}

/* The earliest time of a log, which may be before the first sample. */
static int64_t logs_begin(const struct lp_source *source)
{
	int64_t first_us = INT64_MAX - 1;
	struct lp_err err = {0};

	reader_log_places(source, find_first, &first_us, &err);
	return first_us;
}

/* Find the parts of an archive that the reader needs, from its header. */
static int add_archive(struct reading_all *r, size_t file, const struct lp_source *source)
{
	const char *observer = lp_archive_meta_get(source, "observer");
	bool traced = trace_log_present(source);
	int got = 0;

	observer = observer && *observer ? observer : "?";
	if (traced || source->first_us)
		got = semantic_reader_presence(
			r->reader, observer, within(r, source->first_us), traced);
	if (got == 0 && source->last_us)
		got = semantic_reader_presence(
			r->reader, observer, within(r, source->last_us), false);
	if (got == 0 && traced)
		got = add_stream(r, file, true, observer, logs_begin(source));
	if (got == 0 && has_rows(source->catalogue))
		got = add_stream(r, file, false, observer, source->first_us);
	return got;
}

static int find_streams(struct reading_all *r, bool *ret_any, struct lp_err *err)
{
	*ret_any = false;
	for (size_t i = 0; i < r->ds->n; i++) {
		_cleanup_(lp_source_closep) struct lp_source *source = NULL;
		struct lp_err here = {0};
		int got = dataset_open_archive(r->ds, i, &r->rows, NULL, &source, &here);

		if (got == -ENOMEM || (source && add_archive(r, i, source) < 0))
			return no_memory(err);
		*ret_any = *ret_any || (source && trace_log_present(source));
	}
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct log_place *x = a, *y = b;

	if (x->first_us != y->first_us)
		return x->first_us < y->first_us ? -1 : 1;
	return (x->frame > y->frame) - (x->frame < y->frame);
}

struct place_list {
	const struct semantic_options *options;
	struct stream *s;
};

static int add_place(void *ctx, const struct log_place *place)
{
	const struct place_list *list = ctx;
	struct stream *s = list->s;
	bool calls = !strcmp(place->name, TRACE_LOG_SYSCALLS);

	if ((!calls && strcmp(place->name, TRACE_LOG_DESCRIPTORS) != 0) ||
		(list->options->to_us && place->first_us >= list->options->to_us) ||
		(calls && place->last_us < list->options->from_us))
		return 0; /* files that were opened earlier are still known by their descriptors */
	if (array_reserve(&s->places, &s->cap, s->n + 1, sizeof(*s->places)) < 0)
		return -ENOMEM;
	s->places[s->n++] = *place;
	return 0;
}

static void logs_look(struct stream *s)
{
	if (s->at < s->n)
		s->next_us = s->places[s->at].first_us;
	else
		stream_close(s);
}

static void rows_look(struct stream *s)
{
	if (lp_source_next(s->source, &s->batch, NULL) == 1 &&
		s->batch->n_samples > s->batch->carry)
		s->next_us = s->batch->wall_us[s->batch->carry];
	else
		stream_close(s);
}

static int stream_open(struct reading_all *r, struct stream *s, struct lp_err *err)
{
	struct place_list list = {r->options, s};
	struct lp_err here = {0};
	int got = dataset_open_archive(r->ds, s->file, s->logs ? &r->logs : &r->rows,
		s->logs ? r->options->warn : NULL, &s->source, &here);

	if (got == -ENOMEM)
		return no_memory(err);
	if (!s->source) {
		stream_close(s); /* it was removed in the meantime */
		return 0;
	}
	if (!s->logs) {
		rows_look(s);
		return 0;
	}
	got = reader_log_places(s->source, add_place, &list, err);
	if (got < 0)
		return got;
	if (s->n)
		qsort(s->places, s->n, sizeof(*s->places), compare_places);
	logs_look(s);
	return 0;
}

struct frame_feed {
	struct reading_all *r;
	const struct stream *s;
	struct lp_err *err;
};

static int feed_frame(void *ctx, const struct lp_log *log)
{
	const struct frame_feed *f = ctx;

	return semantic_reader_log(f->r->reader, f->s->observer, log, f->err);
}

/* Continue after damage: intact frames are read. */
static int feed_logs(struct reading_all *r, struct stream *s, struct lp_err *err)
{
	struct lp_err here = {0};
	struct frame_feed feed = {r, s, &here};
	int got = reader_log_at(s->source, s->places[s->at++].frame, feed_frame, &feed, &here);

	if (got == -EBADMSG && !r->damage.code)
		r->damage = here;
	if (got < 0 && got != -EBADMSG) {
		*err = here;
		return got;
	}
	logs_look(s);
	return 0;
}

static int feed_rows(struct reading_all *r, struct stream *s, struct lp_err *err)
{
	if (semantic_reader_batch(r->reader, s->source->catalogue, s->batch) < 0)
		return no_memory(err);
	rows_look(s);
	return 0;
}

/* The next stream in the order of time; NULL: all have ended. */
static struct stream *next_stream(const struct reading_all *r)
{
	struct stream *first = NULL;

	for (size_t i = 0; i < r->n; i++) {
		struct stream *s = &r->streams[i];

		if (s->next_us != INT64_MAX && (!first || s->next_us < first->next_us))
			first = s;
	}
	return first;
}

static int read_streams(struct reading_all *r, struct lp_err *err)
{
	struct stream *s;
	int got = 0;

	while (got == 0 && (s = next_stream(r))) {
		if (!s->source)
			got = stream_open(r, s, err);
		else
			got = s->logs ? feed_logs(r, s, err) : feed_rows(r, s, err);
		s = next_stream(r);
		if (got == 0 && s && semantic_reader_advance(r->reader, s->next_us - 1) < 0)
			got = no_memory(err);
	}
	return got;
}

int semantic_read(struct lp_dataset *ds, const struct semantic_options *options,
	struct semantic_reader *reader, struct lp_err *err)
{
	_cleanup_(reading_release) struct reading_all r = {.ds = ds,
		.reader = reader,
		.options = options,
		.rows = {.from_us = options->from_us,
			.to_us = options->to_us,
			.component = component_wanted,
			.column = column_wanted}};
	bool any;
	int got = find_streams(&r, &any, err);

	if (got < 0 || !any)
		return got;
	got = read_streams(&r, err);
	if (got == 0 && semantic_reader_finish(reader) < 0)
		got = no_memory(err);
	if (got < 0 || !r.damage.code)
		return got;
	*err = r.damage;
	return r.damage.code;
}
