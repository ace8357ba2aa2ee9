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

	return json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I}",
		"name", layers[i].name, "calls", (json_int_t)l->calls, "errors",
		(json_int_t)l->errors, "bytes", (json_int_t)l->bytes, "inclusive_ns",
		(json_int_t)l->inclusive_ns, "exclusive_ns", (json_int_t)l->exclusive_ns, "busy_ns",
		(json_int_t)l->busy_ns, "longest_ns", (json_int_t)l->longest_ns, "bytes_per_s",
		stack_layer_throughput(l), "communicating_ns", (json_int_t)l->communicating_ns,
		"waiting_ns", (json_int_t)l->waiting_ns, "open", (json_int_t)l->open, "outside",
		(json_int_t)m->outside[i], "unjoined", (json_int_t)u->spans, "unjoined_bytes",
		(json_int_t)u->bytes);
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

static json_t *share_json(const struct stack_metrics *m, const struct stack_share *share)
{
	json_t *o = json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:I, s:I, s:f}", "server",
		json_text(stack_server_name(m, share->server)), "ns", (json_int_t)share->ns,
		"disk_ns", (json_int_t)share->disk_ns, "network_ns", (json_int_t)share->network_ns,
		"behind_ns", (json_int_t)share->behind_ns, "disk_busy_ns",
		(json_int_t)share->disk_busy_ns, "requests", (int)share->requests, "disk_accesses",
		(int)share->disk_accesses, "bytes", (json_int_t)share->bytes, "disk_bytes",
		(json_int_t)share->disk_bytes, "disk_bytes_per_s",
		stack_rate(share->disk_bytes, share->disk_busy_ns));

	if (m->drive && share->n_disks) {
		json_object_set_new(o, "joules", json_real(share->joules));
		json_object_set_new(o, "watts", json_real(stack_share_power(m, share)));
	}
	return o;
}

/* What a call cost its servers, and its disks. */
static void servers_of_call(json_t *o, const struct stack_metrics *m, const struct stack_call *call)
{
	json_t *servers = json_array();

	for (uint32_t i = call->shares; i < call->shares + call->n_shares; i++)
		json_array_append_new(servers, share_json(m, &m->shares[i]));
	json_object_set_new(o, "servers", servers);
	json_object_set_new(o, "servers_ns", json_integer(stack_call_server_ns(m, call)));
	json_object_set_new(o, "disk_accesses", json_integer(call->disk_accesses));
	json_object_set_new(o, "disk_bytes", json_integer(call->disk_bytes));
	json_object_set_new(o, "disk_bytes_per_s", json_real(stack_call_disk_rate(m, call)));
	if (m->drive && call->n_disks) {
		json_object_set_new(o, "joules", json_real(stack_call_energy(m, call)));
		json_object_set_new(o, "watts", json_real(stack_call_power(m, call)));
	}
}

static json_t *server_json(const struct stack_metrics *m, uint32_t i)
{
	const struct stack_server *s = &m->servers[i];
	json_t *o = json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "name",
		json_text(stack_server_name(m, i)), "calls", (json_int_t)s->calls, "requests",
		(json_int_t)s->requests, "disk_accesses", (json_int_t)s->disk_accesses, "ns",
		(json_int_t)s->ns, "disk_ns", (json_int_t)s->disk_ns, "longest_ns",
		(json_int_t)s->longest_ns, "bytes", (json_int_t)s->bytes, "disk_bytes",
		(json_int_t)s->disk_bytes, "disk_bytes_per_s",
		stack_rate(s->disk_bytes, s->disk_busy_ns));

	if (m->drive)
		json_object_set_new(o, "joules", json_real(s->joules));
	return o;
}

static json_t *client_json(const struct stack_client *c)
{
	return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:f}", "rank", c->rank, "calls",
		(json_int_t)c->calls, "ns", (json_int_t)c->ns, "longest_ns",
		(json_int_t)c->longest_ns, "communicating_ns", (json_int_t)c->communicating_ns,
		"bytes", (json_int_t)c->bytes, "bytes_per_s", stack_rate(c->bytes, c->busy_ns));
}

static json_t *collective_json(const struct stack_metrics *m, const struct stack_collective *c)
{
	const struct span *s = &m->graph->spans->items[m->calls[c->first].span];

	return json_pack("{s:o, s:o, s:i, s:i, s:I, s:I, s:I, s:I}", "function",
		json_text(s->function), "object", json_text(s->object), "ranks", (int)c->n_calls,
		"servers", (int)c->n_servers, "start_ns", (json_int_t)c->start_ns, "ns",
		(json_int_t)(c->end_ns - c->start_ns), "communicating_ns",
		(json_int_t)c->communicating_ns, "late_ns",
		(json_int_t)(c->last_start_ns - c->start_ns));
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
	json_object_set_new(o, "waiting_ns", json_integer(call->waiting_ns));
	if (call->collective != STACK_NONE) {
		json_object_set_new(o, "operation_of_all", json_integer(call->collective));
		json_object_set_new(o, "communicating_ns", json_integer(call->communicating_ns));
		json_object_set_new(o, "late_ns", json_integer(call->late_ns));
	}
	if (call->n_shares)
		servers_of_call(o, m, call);
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
	json_t *clients = json_array(), *servers = json_array(), *together = json_array();
	size_t n = n_calls < m->n_calls ? n_calls : m->n_calls;

	for (unsigned i = 0; i < layers_n; i++) {
		if (m->layers[i].calls)
			json_array_append_new(list, layer_json(m, i));
	}
	for (size_t i = 0; i < m->n_regions; i++)
		json_array_append_new(regions, region_json(&m->regions[i]));
	for (size_t i = 0; i < n; i++)
		json_array_append_new(calls, call_json(m, &m->calls[order ? order[i] : i]));
	for (uint32_t i = 0; i < m->n_servers; i++)
		json_array_append_new(servers, server_json(m, i));
	for (size_t i = 0; i < m->n_clients; i++)
		json_array_append_new(clients, client_json(&m->clients[i]));
	for (size_t i = 0; i < m->n_collectives; i++)
		json_array_append_new(together, collective_json(m, &m->collectives[i]));
	return json_pack("{s:I, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}",
		"n_calls", (json_int_t)m->n_calls, "layer", layers[m->layer].name, "ranks",
		(json_int_t)m->n_ranks, "processes", (json_int_t)m->n_processes, "ns",
		(json_int_t)(m->last_ns - m->first_ns), "layers", list, "regions", regions,
		"clients", clients, "servers", servers, "collectives", together, "gaps",
		stack_gaps_json(&m->graph->spans->gaps), "clocks",
		stack_clocks_json(m->graph->spans), "unseen", (json_int_t)m->graph->unseen, "calls",
		calls);
}

static void field_print(FILE *out, const char *text)
{
	_cleanup_free_ char *field = values_csv_field(text);

	fprintf(out, ",%s", field ? field : "");
}

void stack_csv_print(FILE *out, const struct stack_metrics *m)
{
	fputs("rank,call,start_ns,latency_ns,operation,offset,size,result,parts,waiting_ns,"
	      "communicating_ns,late_ns,servers,servers_ns,disk_accesses,disk_bytes,joules",
		out);
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
		fprintf(out,
			",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu32 ",%" PRId64 ",%" PRIu32
			",%" PRId64 ",",
			call->waiting_ns, call->communicating_ns, call->late_ns, call->n_shares,
			stack_call_server_ns(m, call), call->disk_accesses, call->disk_bytes);
		if (m->drive && call->n_disks)
			fprintf(out, "%.6g", stack_call_energy(m, call));
		for (unsigned i = 0; i < layers_n; i++)
			fprintf(out, ",%" PRId64, call->exclusive_ns[i]);
		field_print(out, spans->observer_names[spans->observers[call->span]]);
		field_print(out, s->layer);
		field_print(out, s->function);
		field_print(out, s->object);
		fputc('\n', out);
	}
}
