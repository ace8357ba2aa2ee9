/* The metrics for other programs: JSON, CSV, and events for trace viewers. */
#include "trace/stack/stack_report.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "report/json.h"
#include "report/values.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static json_t *layer_json(const struct stack_metrics *m, unsigned i)
{
	const struct stack_layer_sum *l = &m->layers[i];
	const struct graph_unjoined *u = &m->graph->unjoined[i];

	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I}",
		"name", layers[i].name, "calls", (json_int_t)l->calls, "errors",
		(json_int_t)l->errors, "bytes", (json_int_t)l->bytes, "inclusive_ns",
		(json_int_t)l->inclusive_ns, "exclusive_ns", (json_int_t)l->exclusive_ns, "busy_ns",
		(json_int_t)l->busy_ns, "longest_ns", (json_int_t)l->longest_ns, "bytes_per_s",
		stack_layer_throughput(l), "communicating_ns", (json_int_t)l->waiting_ns, "open",
		(json_int_t)l->open, "outside", (json_int_t)m->outside[i], "unjoined",
		(json_int_t)u->spans, "unjoined_bytes", (json_int_t)u->bytes);
}

static json_t *region_json(const struct stack_region *r)
{
	return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "name", json_text(r->name), "times",
		(json_int_t)r->times, "ns", (json_int_t)r->ns, "calls", (json_int_t)r->calls,
		"calls_ns", (json_int_t)r->calls_ns, "average_ns",
		(json_int_t)(r->calls ? r->calls_ns / (int64_t)r->calls : 0), "bytes",
		(json_int_t)r->bytes);
}

static json_t *span_json(const struct stack_metrics *m, uint32_t i)
{
	const struct spans *spans = m->graph->spans;
	const struct span *s = &spans->items[i];
	char start[TIME_TEXT_MAX];

	return json_pack(
		"{s:o, s:o, s:s, s:o, s:i, s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:b, s:b}",
		"observer", json_text(spans->observer_names[spans->observers[i]]), "layer",
		json_text(s->layer), "operation", span_op_names[s->op], "function",
		json_text(s->function), "pid", s->pid, "tid", s->tid, "start",
		time_format(s->start_ns / 1000, start), "start_ns", (json_int_t)s->start_ns, "ns",
		(json_int_t)(s->end_ns - s->start_ns), "offset", (json_int_t)s->offset, "size",
		(json_int_t)s->size, "result", (json_int_t)s->result, "object",
		json_text(s->object), "collective", (s->flags & SPAN_COLLECTIVE) != 0, "open",
		(s->flags & SPAN_OPEN_END) != 0);
}

static json_t *call_json(const struct stack_metrics *m, const struct stack_call *call)
{
	json_t *o = span_json(m, call->span), *split = json_object();

	for (unsigned i = 0; i < layers_n; i++) {
		if (call->exclusive_ns[i])
			json_object_set_new(
				split, layers[i].name, json_integer(call->exclusive_ns[i]));
	}
	json_object_set_new(o, "rank", json_integer(call->rank));
	json_object_set_new(o, "number", json_integer(call->number));
	json_object_set_new(o, "parts", json_integer(call->parts));
	json_object_set_new(o, "layers_ns", split);
	if (call->region != SPANS_NONE)
		json_object_set_new(
			o, "region", json_text(m->graph->spans->items[call->region].function));
	return o;
}

static json_t *tree_json(const struct stack_metrics *m, uint32_t i, int depth)
{
	const struct graph *g = m->graph;
	json_t *o = span_json(m, i), *below = json_array();

	for (uint32_t e = g->first[i]; depth < 64 && e < g->first[i + 1]; e++)
		json_array_append_new(below, tree_json(m, g->edges[e].child, depth + 1));
	json_object_set_new(o, "below", below);
	return o;
}

json_t *stack_json_call(const struct stack_metrics *m, const struct stack_call *call)
{
	json_t *o = call_json(m, call), *tree = tree_json(m, call->span, 0);

	json_object_set_new(o, "below", json_incref(json_object_get(tree, "below")));
	json_decref(tree);
	return o;
}

json_t *stack_json_make(const struct stack_metrics *m, size_t n_calls)
{
	_cleanup_free_ uint32_t *order = n_calls < m->n_calls ? stack_slowest(m) : NULL;
	json_t *list = json_array(), *regions = json_array(), *calls = json_array();
	size_t n = n_calls < m->n_calls ? n_calls : m->n_calls;

	for (unsigned i = 0; i < layers_n; i++) {
		if (m->layers[i].calls)
			json_array_append_new(list, layer_json(m, i));
	}
	for (size_t i = 0; i < m->n_regions; i++)
		json_array_append_new(regions, region_json(&m->regions[i]));
	for (size_t i = 0; i < n; i++)
		json_array_append_new(calls, call_json(m, &m->calls[order ? order[i] : i]));
	return json_pack("{s:I, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "n_calls",
		(json_int_t)m->n_calls, "layer", layers[m->layer].name, "ranks",
		(json_int_t)m->n_ranks, "processes", (json_int_t)m->n_processes, "ns",
		(json_int_t)(m->last_ns - m->first_ns), "layers", list, "regions", regions, "calls",
		calls);
}

static void field_print(FILE *out, const char *text)
{
	_cleanup_free_ char *field = values_csv_field(text);

	fprintf(out, ",%s", field ? field : "");
}

void stack_csv_print(FILE *out, const struct stack_metrics *m)
{
	fputs("rank,call,start_ns,latency_ns,operation,offset,size,result,parts", out);
	for (unsigned i = 0; i < layers_n; i++)
		fprintf(out, ",%s_ns", layers[i].name);
	fputs(",observer,layer,function,object\n", out);
	for (size_t c = 0; c < m->n_calls; c++) {
		const struct stack_call *call = &m->calls[c];
		const struct spans *spans = m->graph->spans;
		const struct span *s = &spans->items[call->span];

		fprintf(out,
			"%" PRId32 ",%" PRIu32 ",%" PRId64 ",%" PRId64 ",%s,%" PRId64 ",%" PRId64
			",%" PRId64 ",%" PRIu32,
			call->rank, call->number, s->start_ns, s->end_ns - s->start_ns,
			span_op_names[s->op], s->offset, s->size, s->result, call->parts);
		for (unsigned i = 0; i < layers_n; i++)
			fprintf(out, ",%" PRId64, call->exclusive_ns[i]);
		field_print(out, spans->observer_names[spans->observers[call->span]]);
		field_print(out, s->layer);
		field_print(out, s->function);
		field_print(out, s->object);
		fputc('\n', out);
	}
}

void stack_chrome_print(FILE *out, const struct stack_metrics *m)
{
	const struct spans *spans = m->graph->spans;

	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
	for (size_t i = 0; i < spans->n; i++) {
		const struct span *s = &spans->items[i];

		fprintf(out, "%s\n{\"ph\":\"X\",\"name\":", i ? "," : "");
		json_write_string(out, s->function);
		fputs(",\"cat\":", out);
		json_write_string(out, s->layer);
		fprintf(out,
			",\"ts\":%" PRId64 ".%03d,\"dur\":%" PRId64 ".%03d,\"pid\":%" PRId32
			",\"tid\":%" PRId32 ",\"args\":{\"rank\":%" PRId32 ",\"offset\":%" PRId64
			",\"size\":%" PRId64 ",\"result\":%" PRId64 ",\"object\":",
			s->start_ns / 1000, (int)(s->start_ns % 1000),
			(s->end_ns - s->start_ns) / 1000, (int)((s->end_ns - s->start_ns) % 1000),
			s->pid, s->tid, s->rank, s->offset, s->size, s->result);
		json_write_string(out, s->object);
		fputs("}}", out);
	}
	fputs("\n]}\n", out);
}
