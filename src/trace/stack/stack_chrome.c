/* Spans as events for trace viewers. All hosts share one list of process numbers there, so each
 * process gets a number of its own, and its name has the host. Arrows lead from a span to those
 * that it caused in another thread or host.
 *
 * Viewers expect that events of a thread are inside each other or one after the other. Requests
 * that a thread has under way at the same time are in lanes, as if they were threads.
 */
#include "base/array.h"
#include "base/idmap.h"
#include "report/json.h"
#include "trace/stack/join_index.h"
#include "trace/stack/stack_report.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Numbers of lanes are above those of threads. */
#define FIRST_LANE INT32_C(0x40000000)
/* Lanes of a thread; the last one has all that does not fit into the others. */
#define LANES_MAX 256

/* The spans that a thread, or one of its lanes, is in. */
struct lane {
	int64_t *ends;
	size_t n, cap;
};

struct lanes {
	struct lane *items;
	size_t n, cap;
	struct idmap by_key;
};

static void lanes_release(struct lanes *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->items[i].ends);
	free(l->items);
	idmap_release(&l->by_key);
}

/* Lane `k` of a thread, or NULL: out of memory. */
static struct lane *lane_find(
	struct lanes *l, uint32_t process, int32_t tid, uint32_t k, uint32_t *ret)
{
	uint64_t key = join_key(process, (uint64_t)(uint32_t)tid, k);

	if (idmap_get(&l->by_key, key, ret))
		return &l->items[*ret];
	if (array_reserve(&l->items, &l->cap, l->n + 1, sizeof(*l->items)) < 0 ||
		idmap_put(&l->by_key, key, (uint32_t)l->n) < 0)
		return NULL;
	*ret = (uint32_t)l->n;
	l->items[l->n] = (struct lane){0};
	return &l->items[l->n++];
}

/* Is the span after, or inside, the others? */
static bool lane_fits(struct lane *lane, const struct span *s)
{
	while (lane->n && lane->ends[lane->n - 1] <= s->start_ns)
		lane->n--;
	return !lane->n || s->end_ns <= lane->ends[lane->n - 1];
}

/* The number of the thread or lane of a span, in the order of their beginning; -1: out of memory.
 */
static int32_t lane_take(struct lanes *l, uint32_t process, const struct span *s)
{
	for (uint32_t k = 0;; k++) {
		uint32_t at;
		struct lane *lane = lane_find(l, process, s->tid, k, &at);

		if (!lane)
			return -1;
		if (!lane_fits(lane, s) && k < LANES_MAX - 1)
			continue;
		if (array_reserve(&lane->ends, &lane->cap, lane->n + 1, sizeof(*lane->ends)) < 0)
			return -1;
		lane->ends[lane->n++] = s->end_ns;
		return k ? FIRST_LANE + (int32_t)at : s->tid;
	}
}

static void lane_print(FILE *out, uint32_t process, int32_t lane, int32_t tid)
{
	fprintf(out,
		"\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRIu32 ",\"tid\":%" PRId32
		",\"args\":{\"name\":\"%" PRId32 ", at the same time\"}},",
		process, lane, tid);
}

/* Where each span is shown. */
struct place {
	uint32_t process;
	int32_t thread;
};

static uint32_t process_of(
	struct idmap *processes, const struct spans *spans, size_t i, bool *is_new)
{
	uint64_t key = (uint64_t)spans->observers[i] << 32 | (uint32_t)spans->items[i].pid;
	uint32_t number;

	*is_new = !idmap_get(processes, key, &number);
	if (*is_new) {
		number = (uint32_t)processes->n + 1;
		if (idmap_put(processes, key, number) < 0)
			number = 0;
	}
	return number;
}

static void process_print(FILE *out, const struct spans *spans, size_t i, uint32_t number)
{
	const struct span *s = &spans->items[i];
	char name[512];

	if (s->rank >= 0)
		snprintf(name, sizeof(name), "rank %" PRId32 " on %.200s (%" PRId32 ")", s->rank,
			spans->observer_names[spans->observers[i]], s->pid);
	else
		snprintf(name, sizeof(name), "%.200s (%" PRId32 ")",
			spans->observer_names[spans->observers[i]], s->pid);
	fprintf(out,
		"\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu32 ",\"args\":{\"name\":",
		number);
	json_write_string(out, name);
	fputs("}},", out);
}

/* Times since the first span: viewers keep them in doubles, which cannot hold ns since 1970. */
static void time_print(FILE *out, const char *key, int64_t ns)
{
	fprintf(out, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void span_print(
	FILE *out, const struct stack_metrics *m, size_t i, const struct place *place)
{
	const struct span *s = &m->graph->spans->items[i];

	fputs("\n{\"ph\":\"X\",\"name\":", out);
	json_write_string(out, s->function);
	fputs(",\"cat\":", out);
	json_write_string(out, s->layer);
	time_print(out, "ts", s->start_ns - m->first_ns);
	time_print(out, "dur", s->end_ns - s->start_ns);
	fprintf(out,
		",\"pid\":%" PRIu32 ",\"tid\":%" PRId32 ",\"args\":{\"rank\":%" PRId32
		",\"offset\":%" PRId64 ",\"size\":%" PRId64 ",\"result\":%" PRId64 ",\"object\":",
		place->process, place->thread, s->rank, s->offset, s->size, s->result);
	json_write_string(out, s->object);
	fputs("}}", out);
}

/* An arrow between two hosts or threads, as two events. */
static void arrow_print(FILE *out, const struct stack_metrics *m, uint32_t edge,
	const struct place *places, const uint32_t ends[2])
{
	for (int k = 0; k < 2; k++) {
		const struct span *s = &m->graph->spans->items[ends[k]];

		fprintf(out,
			",\n{\"ph\":\"%s\",\"id\":%" PRIu32
			",\"name\":\"became\",\"cat\":\"join\",\"pid\":%" PRIu32
			",\"tid\":%" PRId32,
			k ? "f\",\"bp\":\"e" : "s", edge, places[ends[k]].process,
			places[ends[k]].thread);
		time_print(out, "ts", s->start_ns - m->first_ns);
		fputc('}', out);
	}
}

static void arrows_print(FILE *out, const struct stack_metrics *m, const struct place *places)
{
	const struct graph *g = m->graph;

	for (uint32_t e = 0; e < g->n; e++) {
		const uint32_t ends[2] = {g->edges[e].parent, g->edges[e].child};
		const struct place *a = &places[ends[0]], *b = &places[ends[1]];

		if (a->process != b->process || a->thread != b->thread)
			arrow_print(out, m, e, places, ends);
	}
}

/* The times of a host are moved by the difference of its clock. The event has the difference and
 * its possible error. */
static int clocks_print(FILE *out, const struct spans *spans)
{
	json_t *clocks = stack_clocks_json(spans);
	int r;

	fputs(",\"otherData\":{\"clocks\":", out);
	r = clocks ? json_dumpf(clocks, out, JSON_COMPACT) : -1;
	fputs("}", out);
	json_decref(clocks);
	return r < 0 ? -ENOMEM : 0;
}

/* Print the spans; with each process and lane, when it comes first, its name. */
static int spans_print(FILE *out, const struct stack_metrics *m, struct place *places)
{
	const struct spans *spans = m->graph->spans;
	struct idmap processes = {0};
	struct lanes lanes = {0};
	int r = 0;

	for (size_t i = 0; i < spans->n && r == 0; i++) {
		struct place *p = &places[i];
		size_t n_lanes = lanes.n;
		bool is_new;

		p->process = process_of(&processes, spans, i, &is_new);
		p->thread = lane_take(&lanes, p->process, &spans->items[i]);
		if (p->thread < 0 && spans->items[i].tid >= 0)
			r = -ENOMEM;
		if (i)
			fputc(',', out);
		if (is_new)
			process_print(out, spans, i, p->process);
		if (lanes.n > n_lanes && p->thread >= FIRST_LANE)
			lane_print(out, p->process, p->thread, spans->items[i].tid);
		span_print(out, m, i, p);
	}
	lanes_release(&lanes);
	idmap_release(&processes);
	return r;
}

int stack_chrome_print(FILE *out, const struct stack_metrics *m)
{
	const struct spans *spans = m->graph->spans;
	struct place *places = calloc(spans->n + 1, sizeof(*places));
	int r;

	if (!places)
		return -ENOMEM;
	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
	r = spans_print(out, m, places);
	if (r == 0)
		arrows_print(out, m, places);
	fputs("\n]", out);
	if (r == 0)
		r = clocks_print(out, spans);
	fputs("}\n", out);
	free(places);
	return r;
}
