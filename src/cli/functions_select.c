#include "cli/functions_select.h"

#include "base/cleanup.h"
#include "trace/calls/calls_budget.h"
#include <errno.h>
#include <limpet/diagnose.h>
#include <stdlib.h>
#include <string.h>

DEFINE_CLEANUP(struct lp_verdict *, lp_verdict_free);

/* A finding names ten functions. A function that differs far less than the first one did not cause
 * it. */
#define TELLING_SHARE 0.1

static void finding_telling(
	struct function_costs *c, const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_dimension *all = v->dimensions + f->first_dimension;

	for (uint32_t i = 0; i < f->n_dimensions; i++) {
		uint32_t at;

		if (all[i].distance >= TELLING_SHARE * all[0].distance &&
			strmap_get(&c->index, all[i].name, &at))
			c->items[at].telling = true;
	}
}

int functions_find_telling(struct function_costs *c, struct lp_dataset *ds,
	const struct lp_diagnose_options *how, struct lp_err *err)
{
	_cleanup_(lp_verdict_freep) struct lp_verdict *v = NULL;
	struct lp_err why = {0};
	int r = lp_diagnose(ds, how, &v, &why);

	if (!v && r != -ENOENT && r != -EINVAL) {
		*err = why;
		return r;
	}
	for (uint32_t i = 0; v && i < v->n_findings; i++)
		finding_telling(c, v, &v->findings[i]);
	return 0;
}

int functions_choose(
	struct function_costs *c, double budget, bool few, struct functions_choice *ret)
{
	_cleanup_free_ struct calls_cost *costs = calloc(c->n + 1, sizeof(*costs));

	if (!costs)
		return -ENOMEM;
	*ret = (struct functions_choice){0};
	for (size_t i = 0; i < c->n; i++)
		costs[i] = (struct calls_cost){.name = c->items[i].name,
			.calls = c->items[i].calls,
			.at = i,
			.keep = c->items[i].telling};
	ret->calls = calls_budget_choose(
		costs, c->n, few || c->call_ns <= 0 ? 0 : budget * 1e9 / c->call_ns);
	for (size_t i = 0; i < c->n; i++) {
		struct function_cost *f = &c->items[costs[i].at];
		/* The rate of its calls is unknown. */
		bool unknown = f->off && f->calls <= 0;

		f->off = costs[i].off || (!f->telling && (few || unknown));
		ret->n_off += f->off;
		ret->n_on += !f->off;
		ret->n_telling += f->telling;
	}
	return 0;
}

static int by_choice(const void *a, const void *b)
{
	const struct function_cost *x = a, *y = b;

	return x->off != y->off ? (x->off ? 1 : -1) : strcmp(x->name, y->name);
}

int functions_write(FILE *out, const struct function_costs *c, const struct functions_choice *how)
{
	_cleanup_free_ struct function_cost *all = calloc(c->n + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	memcpy(all, c->items, c->n * sizeof(*all));
	if (c->n)
		qsort(all, c->n, sizeof(*all), by_choice);
	fprintf(out,
		"# Functions to count (on) or not (off), for 'limpet cc --functions', 'limpet "
		"functions --apply',\n"
		"# 'limpet record --functions' and LIMPET_CALLS_FUNCTIONS. The last line that "
		"matches decides.\n"
		"# %zu on, of which %zu distinguished servers; %zu off. Counting took %.2f%% of "
		"a CPU, and takes %.2f%% now.\n",
		how->n_on, how->n_telling, how->n_off, c->calls * c->call_ns / 1e7,
		how->calls * c->call_ns / 1e7);
	for (size_t i = 0; i < c->n; i++)
		fprintf(out, "%s %s\n", all[i].off ? "off" : "on", all[i].name);
	return ferror(out) ? -EIO : 0;
}
