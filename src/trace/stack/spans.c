#include "trace/stack/spans.h"

#include "archive/trace_log.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "trace/stack/layer.h"
#include "trace/stack/spans_team.h"
#include <errno.h>
#include <limpet/archive.h>
#include <stdlib.h>
#include <string.h>

static void texts_release(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

void spans_release(struct spans *s)
{
	free(s->items);
	free(s->observers);
	free(s->layers);
	free(s->clocks);
	texts_release(s->observer_names, s->n_observers);
	texts_release(s->texts, s->n_texts);
	strmap_release(&s->texts_by_text);
	free(s->drive);
	*s = (struct spans){0};
}

/* The one copy of a text, or NULL. */
static const char *text_keep(struct spans *s, const char *text)
{
	uint32_t at;
	char *copy;

	if (strmap_get(&s->texts_by_text, text, &at))
		return s->texts[at];
	if (array_reserve(&s->texts, &s->cap_texts, s->n_texts + 1, sizeof(*s->texts)) < 0)
		return NULL;
	copy = strdup(text);
	if (!copy || strmap_put(&s->texts_by_text, text, (uint32_t)s->n_texts) < 0) {
		free(copy);
		return NULL;
	}
	s->texts[s->n_texts++] = copy;
	return copy;
}

/* The place of an observer; SPANS_NONE: out of memory. Recordings have few. */
static uint32_t observer_place(struct spans *s, const char *name)
{
	char *copy;

	for (size_t i = s->n_observers; i-- > 0;) {
		if (!strcmp(s->observer_names[i], name))
			return (uint32_t)i;
	}
	copy = strdup(name);
	if (!copy ||
		array_reserve(&s->observer_names, &s->cap_observers, s->n_observers + 1,
			sizeof(*s->observer_names)) < 0) {
		free(copy);
		return SPANS_NONE;
	}
	s->observer_names[s->n_observers] = copy;
	return (uint32_t)s->n_observers++;
}

static int reserve(struct spans *s)
{
	size_t cap = s->cap, cap2 = s->cap, cap3 = s->cap;

	if (s->n >= SPANS_MAX)
		return -E2BIG;
	if (s->n < s->cap)
		return 0;
	if (array_reserve(&s->items, &cap, s->n + 1, sizeof(*s->items)) < 0 ||
		array_reserve(&s->observers, &cap2, s->n + 1, sizeof(*s->observers)) < 0 ||
		array_reserve(&s->layers, &cap3, s->n + 1, sizeof(*s->layers)) < 0)
		return -ENOMEM;
	s->cap = cap < cap2 ? cap : cap2;
	s->cap = s->cap < cap3 ? s->cap : cap3;
	return 0;
}

int spans_add(struct spans *s, const char *observer, const struct span *span)
{
	int r = reserve(s), layer = layer_find(span->layer);
	uint32_t place = observer_place(s, observer);
	struct span copy = *span;

	if (r < 0 || place == SPANS_NONE)
		return r < 0 ? r : -ENOMEM;
	copy.layer = text_keep(s, span->layer);
	copy.function = text_keep(s, span->function);
	copy.object = text_keep(s, span->object);
	if (!copy.layer || !copy.function || !copy.object)
		return -ENOMEM;
	s->items[s->n] = copy;
	s->observers[s->n] = place;
	s->layers[s->n] = layer < 0 ? LAYERS_UNKNOWN : (uint8_t)layer;
	s->n++;
	return 0;
}

/* A span with the data that belongs to it, for sorting. */
struct sorted {
	struct span span;
	uint32_t observer;
	uint8_t layer;
	uint32_t order;
};

static int compare(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->span.start_ns != y->span.start_ns)
		return x->span.start_ns < y->span.start_ns ? -1 : 1;
	if (x->span.end_ns != y->span.end_ns)
		return x->span.end_ns > y->span.end_ns ? -1 : 1;
	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

int spans_sort(struct spans *s)
{
	struct sorted *all = s->n ? malloc(s->n * sizeof(*all)) : NULL;

	if (!all)
		return s->n ? -ENOMEM : 0;
	for (size_t i = 0; i < s->n; i++)
		all[i] = (struct sorted){s->items[i], s->observers[i], s->layers[i], (uint32_t)i};
	qsort(all, s->n, sizeof(*all), compare);
	for (size_t i = 0; i < s->n; i++) {
		s->items[i] = all[i].span;
		s->observers[i] = all[i].observer;
		s->layers[i] = all[i].layer;
	}
	free(all);
	return 0;
}

struct taking {
	struct spans *spans;
	const char *observer;
	bool damaged;
	const struct team *team;  /* NULL: we are alone */
	uint64_t n_files;	  /* so far */
	struct spans_part *parts; /* that we have read, for the others */
	size_t n_parts, cap_parts;
};

/* Does this process read the file? */
static bool is_ours(const struct taking *t, uint64_t file)
{
	return !t->team || file % (uint64_t)t->team->size == (uint64_t)t->team->rank;
}

static int part_note(struct taking *t, uint64_t file, size_t first)
{
	if (!t->team)
		return 0;
	if (array_reserve(&t->parts, &t->cap_parts, t->n_parts + 1, sizeof(*t->parts)) < 0)
		return -ENOMEM;
	t->parts[t->n_parts++] = (struct spans_part){file, first, t->spans->n};
	return 0;
}

static int take_span(void *ctx, uint64_t record, const struct span *span)
{
	struct taking *t = ctx;

	(void)record;
	return spans_add(t->spans, t->observer, span);
}

static int take_remark(void *ctx, int64_t wall_us, const char *text)
{
	struct taking *t = ctx;

	(void)wall_us;
	stack_gaps_add(&t->spans->gaps, text);
	job_sums_take(&t->spans->sums, text);
	return 0;
}

static int visit(
	void *ctx, struct lp_source *source, const struct lp_batch *batch, struct lp_err *err)
{
	struct taking *t = ctx;
	const struct trace_log_reader to = {.span = take_span, .ctx = t};
	const char *observer, *drive;
	struct lp_err ignored = {0};
	size_t first = t->spans->n;
	uint64_t file;
	int r;

	if (batch)
		return 0;
	file = t->n_files++;
	if (!t->team || t->team->rank == 0)
		lp_archive_events(source, take_remark, t, &ignored);
	if (!trace_log_has_spans(source))
		return 0;
	observer = lp_archive_meta_get(source, "observer");
	t->observer = observer ? observer : "";
	drive = lp_archive_meta_get(source, "drive");
	if (drive && !t->spans->drive)
		t->spans->drive = strdup(drive);
	if (!is_ours(t, file))
		return 0;
	r = trace_log_read(source, &to, err);
	if ((r == 0 || r == -EBADMSG) && part_note(t, file, first) < 0)
		r = -ENOMEM;
	t->damaged |= r == -EBADMSG;
	if (r == -ENOMEM)
		return lp_err_sys(err, r, "cannot read the spans of %s", source->path);
	if (r == -E2BIG)
		return lp_err_set(
			err, r, "%s: there are more than %u spans", source->path, SPANS_MAX);
	return r == -EBADMSG ? 0 : r;
}

static bool no_component(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	(void)ctx;
	(void)c;
	(void)id;
	return false;
}

/* Send the spans that this process has read, and receive those of all. */
static int exchange(struct spans *s, const struct taking *t, int error)
{
	_cleanup_free_ uint64_t *sizes = calloc((size_t)t->team->size, sizeof(*sizes));
	_cleanup_free_ void *all = NULL;
	struct strbuf sb = {0};
	struct spans merged = {.gaps = s->gaps, .sums = s->sums};
	int r = spans_team_pack(s, t->parts, t->n_parts, error, &sb);

	if (!sizes)
		r = -ENOMEM;
	/* A process that failed takes part, too, because the others wait for it. */
	error = t->team->gather(
		t->team->ctx, r < 0 ? "" : sb.text, r < 0 ? 0 : sb.len, &all, sizes);
	strbuf_release(&sb);
	if (r < 0 || error < 0)
		return r < 0 ? r : error;
	merged.drive = s->drive;
	s->drive = NULL;
	spans_release(s);
	*s = merged;
	return t->team->rank ? 0 : spans_team_unpack(s, all, sizes, t->team->size);
}

int spans_read_together(
	struct spans *s, struct lp_dataset *ds, const struct team *team, struct lp_err *err)
{
	const struct lp_select select = {.component = no_component};
	struct taking t = {.spans = s, .team = team};
	int r = lp_dataset_read(ds, &select, visit, &t, err), sorted;

	if (r == 0 && t.damaged)
		r = -EBADMSG;
	if (team) {
		sorted = exchange(s, &t, r);
		free(t.parts);
		if (sorted < 0 && sorted != -EBADMSG)
			return r < 0 && r != -EBADMSG
				? r
				: lp_err_sys(err, sorted, "cannot read the spans together");
		r = sorted;
	}
	if (r < 0 && r != -EBADMSG)
		return r;
	sorted = spans_align(s);
	return sorted < 0 ? lp_err_sys(err, sorted, "cannot read the spans") : r;
}

int spans_read(struct spans *s, struct lp_dataset *ds, struct lp_err *err)
{
	return spans_read_together(s, ds, NULL, err);
}
