#include "cli/functions_costs.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "detect/group/verdict_tables.h"
#include "model/vector_view.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FUNCTION_CALLS "fcalls"
#define FUNCTION_TIME "ftime"
/* Functions of the kernel; no program counts these. */
#define KERNEL_PREFIX "kernel:"

void function_costs_release(struct function_costs *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->items[i].name);
	free(c->items);
	strmap_release(&c->index);
	*c = (struct function_costs){0};
}

struct function_cost *function_costs_get(struct function_costs *c, const char *name)
{
	uint32_t at;
	char *copy;

	if (strmap_get(&c->index, name, &at))
		return &c->items[at];
	copy = strdup(name);
	if (!copy || array_reserve(&c->items, &c->cap, c->n + 1, sizeof(*c->items)) < 0 ||
		strmap_put(&c->index, name, (uint32_t)c->n) < 0) {
		free(copy);
		return NULL;
	}
	c->items[c->n] = (struct function_cost){.name = copy};
	return &c->items[c->n++];
}

/* The number of slots in which a member was measured. */
static uint32_t slots_measured(const struct vector_view *v, uint32_t member)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < v->n_slots; s++) {
		uint32_t c = v->first[member];

		while (c < v->first[member + 1] && isnan(v->cells[c].values[s]))
			c++;
		n += c < v->first[member + 1];
	}
	return n;
}

/* The mean per second of a function on a server, while it was on. */
static double cell_mean(
	const struct vector_cell *cell, uint32_t n_slots, uint32_t n_measured, bool *ret_off)
{
	uint32_t n_off = 0;
	double sum = 0;

	for (uint32_t s = 0; s < n_slots; s++) {
		if (cell->values[s] == VECTOR_OFF)
			n_off++;
		else if (!isnan(cell->values[s]))
			sum += cell->values[s];
	}
	*ret_off = n_off > 0;
	return n_off < n_measured ? sum / (n_measured - n_off) : 0;
}

static int member_add(
	struct function_costs *c, const struct vector_view *v, uint32_t member, bool times)
{
	uint32_t n = slots_measured(v, member);
	double all = 0;

	for (uint32_t i = v->first[member]; n && i < v->first[member + 1]; i++) {
		const char *name = v->dimensions.names[v->cells[i].dimension];
		struct function_cost *f;
		double mean;
		bool off;

		if (!strncmp(name, KERNEL_PREFIX, strlen(KERNEL_PREFIX)))
			continue;
		f = function_costs_get(c, name);
		if (!f)
			return -ENOMEM;
		mean = cell_mean(&v->cells[i], v->n_slots, n, &off);
		f->off |= off;
		all += mean;
		if (times)
			f->ms = fmax(f->ms, mean);
		else
			f->calls = fmax(f->calls, mean);
	}
	if (!times)
		c->calls = fmax(c->calls, all);
	return 0;
}

static int table_add(struct function_costs *c, const struct lp_table *t)
{
	_cleanup_(vector_view_release) struct vector_view v = {0};
	int r = vector_view_of_table(t, FUNCTION_KIND, &v);

	for (uint32_t i = 0; r == 0 && i < v.n_members; i++)
		r = member_add(c, &v, i, !strcmp(t->metric, FUNCTION_TIME));
	return r;
}

int function_costs_read(struct function_costs *c, struct lp_dataset *ds, struct lp_err *err)
{
	static const char *const metrics[] = {FUNCTION_CALLS, FUNCTION_TIME};
	const struct lp_table_options options = {.metrics = metrics, .n_metrics = 2};
	struct lp_table **tables = NULL;
	uint32_t n = 0;
	int r = lp_dataset_tables(ds, &options, &tables, &n, err), added = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (added == 0)
			added = table_add(c, tables[i]);
		lp_table_free(tables[i]);
	}
	free(tables);
	return added < 0 ? lp_err_sys(err, added, "cannot count functions") : r;
}

struct watched {
	struct function_costs *c;
	double span_s;
	bool failed;
};

static void watched_add(void *ctx, const char *name, const int64_t *values)
{
	struct watched *w = ctx;
	struct function_cost *f = function_costs_get(w->c, name);

	if (!f) {
		w->failed = true;
		return;
	}
	f->calls = (double)values[CALLS_COLUMN_N] / w->span_s;
	f->ms = (double)values[CALLS_COLUMN_NS] / 1e6 / w->span_s;
	f->off = values[CALLS_COLUMN_OFF] > 0;
	w->c->calls += f->calls;
}

int function_costs_watch(
	struct function_costs *c, struct calls *live, int64_t span_us, struct lp_err *err)
{
	struct timespec rest = {span_us / US_PER_SEC, span_us % US_PER_SEC * 1000};
	int64_t begin_us = clock_us(CLOCK_MONOTONIC);
	struct watched w = {.c = c};
	int r;

	while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
		;
	r = calls_look(live, err);
	if (r < 0)
		return r;
	w.span_s = (double)(clock_us(CLOCK_MONOTONIC) - begin_us) / US_PER_SEC;
	c->call_ns = calls_call_ns(live);
	named_rows_each(calls_counts(live), watched_add, &w);
	return w.failed ? lp_err_sys(err, -ENOMEM, "cannot count functions") : 0;
}

static int dearest_first(const void *a, const void *b)
{
	const struct function_cost *const *x = a, *const *y = b;

	return (*x)->calls != (*y)->calls ? ((*x)->calls < (*y)->calls ? 1 : -1)
					  : strcmp((*x)->name, (*y)->name);
}

/* Pointers sorted by cost; NULL: out of memory. */
static const struct function_cost **sorted(const struct function_costs *c)
{
	/* NOLINTBEGIN(bugprone-sizeof-expression): this is an array of pointers */
	const struct function_cost **all = calloc(c->n + 1, sizeof(*all));

	for (size_t i = 0; all && i < c->n; i++)
		all[i] = &c->items[i];
	if (all && c->n)
		qsort(all, c->n, sizeof(*all), dearest_first);
	/* NOLINTEND(bugprone-sizeof-expression) */
	return all;
}

static double percent(const struct function_costs *c, double calls)
{
	return calls * c->call_ns / 1e7;
}

void function_costs_print(FILE *out, const struct function_costs *c, size_t top)
{
	_cleanup_free_ const struct function_cost **all = sorted(c);

	fprintf(out, "%zu function%s, %.0f calls per second; counting them takes %.2f%% of a CPU\n",
		c->n, c->n == 1 ? "" : "s", c->calls, percent(c, c->calls));
	if (c->n && all)
		fputs("     calls/s     self ms/s     cost       function\n", out);
	for (size_t i = 0; all && i < c->n && (!top || i < top); i++)
		fprintf(out, "%12.1f %13.3f %7.3f%%  %-3s  %s\n", all[i]->calls, all[i]->ms,
			percent(c, all[i]->calls), all[i]->off ? "off" : "", all[i]->name);
}

int function_costs_json(FILE *out, const struct function_costs *c, size_t top)
{
	_cleanup_free_ const struct function_cost **all = sorted(c);
	json_t *list = json_array(), *root;
	int r = 0;

	for (size_t i = 0; all && i < c->n && (!top || i < top); i++)
		json_array_append_new(list,
			json_pack("{s:s, s:f, s:f, s:f, s:b}", "function", all[i]->name, "calls",
				all[i]->calls, "self_ms", all[i]->ms, "cost",
				percent(c, all[i]->calls) / 100, "off", (int)all[i]->off));
	root = json_pack("{s:I, s:f, s:f, s:f, s:o}", "functions", (json_int_t)c->n, "calls",
		c->calls, "cost", percent(c, c->calls) / 100, "call_ns", c->call_ns, "top", list);
	if (!all || !root || json_dumpf(root, out, JSON_COMPACT) < 0)
		r = -ENOMEM;
	else
		fputc('\n', out);
	json_decref(root);
	return r;
}
