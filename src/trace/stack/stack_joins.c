/* All results of the joins: every span with those that it belongs to, and the clocks. */
#include "base/cleanup.h"
#include "report/values.h"
#include "trace/stack/stack_report.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static void field_print(FILE *out, const char *text)
{
	_cleanup_free_ char *field = values_csv_field(text);

	fprintf(out, ",%s", field ? field : "");
}

/* The edges by child: places in g->edges. */
static uint32_t *edges_by_child(const struct graph *g, uint32_t **ret_first)
{
	uint32_t *first = calloc(g->spans->n + 2, sizeof(*first));
	uint32_t *order = malloc((g->n + 1) * sizeof(*order));

	if (!first || !order) {
		free(first);
		free(order);
		return NULL;
	}
	for (size_t i = 0; i < g->n; i++)
		first[g->edges[i].child + 2]++;
	for (size_t i = 2; i < g->spans->n + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < g->n; i++)
		order[first[g->edges[i].child + 1]++] = (uint32_t)i;
	*ret_first = first;
	return order;
}

static void span_print(FILE *out, const struct graph *g, uint32_t i)
{
	const struct span *s = &g->spans->items[i];

	fprintf(out, "%" PRIu32, i);
	field_print(out, g->spans->observer_names[g->spans->observers[i]]);
	field_print(out, s->layer);
	field_print(out, s->function);
	fprintf(out,
		",%s,%" PRId32 ",%" PRId32 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64
		",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu64,
		span_op_names[s->op], s->pid, s->tid, s->start_ns, s->end_ns - s->start_ns,
		s->device, s->inode, s->offset, s->size, s->result, s->unique);
	field_print(out, s->object);
}

int stack_joins_print(FILE *out, const struct stack_metrics *m)
{
	const struct graph *g = m->graph;
	_cleanup_free_ uint32_t *first = NULL;
	_cleanup_free_ uint32_t *order = edges_by_child(g, &first);

	if (!order)
		return -ENOMEM;
	fputs("span,observer,layer,function,operation,pid,tid,start_ns,latency_ns,device,inode,"
	      "offset,"
	      "size,result,unique,object,parents\n",
		out);
	for (uint32_t i = 0; i < g->spans->n; i++) {
		span_print(out, g, i);
		fputc(',', out);
		for (uint32_t e = first[i]; e < first[i + 1]; e++)
			fprintf(out, "%s%" PRIu32 ":%" PRId64, e > first[i] ? " " : "",
				g->edges[order[e]].parent, g->edges[order[e]].bytes);
		fputc('\n', out);
	}
	return 0;
}

void stack_clocks_print(FILE *out, const struct spans *s)
{
	for (size_t i = 0; i < s->n_observers && s->clocks; i++) {
		const struct spans_clock *c = &s->clocks[i];

		if (!c->messages)
			continue;
		if (!c->known)
			fprintf(out,
				"the clock of %s could not be aligned: no answer from it was "
				"seen\n",
				s->observer_names[i]);
		else if (c->offset_ns)
			fprintf(out,
				"the clock of %s was %.6f s %s; its times are right to within %.6f "
				"s "
				"(%" PRIu64 " messages)%s\n",
				s->observer_names[i], (double)llabs(c->offset_ns) / 1e9,
				c->offset_ns > 0 ? "ahead" : "behind", (double)c->error_ns / 1e9,
				c->messages, c->drifts ? ", because it drifts" : "");
		else
			fprintf(out,
				"the clock of %s agrees with the others to within %.6f s (%" PRIu64
				" messages)\n",
				s->observer_names[i], (double)c->error_ns / 1e9, c->messages);
	}
}

json_t *stack_clocks_json(const struct spans *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n_observers && s->clocks; i++) {
		const struct spans_clock *c = &s->clocks[i];

		if (c->messages)
			json_array_append_new(list,
				json_pack("{s:s, s:b, s:b, s:I, s:I, s:I}", "observer",
					s->observer_names[i], "known", c->known, "drifts",
					c->drifts, "offset_ns", (json_int_t)c->offset_ns,
					"error_ns", (json_int_t)c->error_ns, "messages",
					(json_int_t)c->messages));
	}
	return list;
}
