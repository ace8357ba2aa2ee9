/* Spans as events for trace viewers. Processes of all hosts share one list of numbers there, so
 * each gets a number of its own and says in its name where it ran. Arrows lead from a span to what
 * it became in another thread or host. */
#include "base/idmap.h"
#include "report/json.h"
#include "trace/stack/stack_report.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

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

static void span_print(FILE *out, const struct stack_metrics *m, size_t i, uint32_t process)
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
		process, s->tid, s->rank, s->offset, s->size, s->result);
	json_write_string(out, s->object);
	fputs("}}", out);
}

/* An arrow between two hosts or threads, as two events. */
static void arrow_print(FILE *out, const struct stack_metrics *m, uint32_t edge,
	const uint32_t *process, const uint32_t ends[2])
{
	for (int k = 0; k < 2; k++) {
		const struct span *s = &m->graph->spans->items[ends[k]];

		fprintf(out,
			",\n{\"ph\":\"%s\",\"id\":%" PRIu32
			",\"name\":\"became\",\"cat\":\"join\",\"pid\":%" PRIu32
			",\"tid\":%" PRId32,
			k ? "f\",\"bp\":\"e" : "s", edge, process[ends[k]], s->tid);
		time_print(out, "ts", s->start_ns - m->first_ns);
		fputc('}', out);
	}
}

static void arrows_print(FILE *out, const struct stack_metrics *m, const uint32_t *process)
{
	const struct graph *g = m->graph;

	for (uint32_t e = 0; e < g->n; e++) {
		const uint32_t ends[2] = {g->edges[e].parent, g->edges[e].child};
		const struct span *a = &g->spans->items[ends[0]], *b = &g->spans->items[ends[1]];

		if (process[ends[0]] != process[ends[1]] || a->tid != b->tid)
			arrow_print(out, m, e, process, ends);
	}
}

/* The times of hosts are moved by the difference of their clocks: by how much, and how sure that
 * is, stays with them. */
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

int stack_chrome_print(FILE *out, const struct stack_metrics *m)
{
	const struct spans *spans = m->graph->spans;
	uint32_t *process = calloc(spans->n + 1, sizeof(*process));
	struct idmap processes = {0};
	int r;

	if (!process)
		return -ENOMEM;
	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
	for (size_t i = 0; i < spans->n; i++) {
		bool is_new;

		process[i] = process_of(&processes, spans, i, &is_new);
		if (i)
			fputc(',', out);
		if (is_new)
			process_print(out, spans, i, process[i]);
		span_print(out, m, i, process[i]);
	}
	arrows_print(out, m, process);
	fputs("\n]", out);
	r = clocks_print(out, spans);
	fputs("}\n", out);
	idmap_release(&processes);
	free(process);
	return r;
}
