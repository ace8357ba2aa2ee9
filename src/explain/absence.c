#include "explain/absence.h"

#include "detect/group/verdict_tables.h"
#include "model/table_view.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An event less likely than this is not chance. */
#define CHANCE 1e-4
/* Less than this share of the expected number counts as hardly any. */
#define HARDLY_ANY 0.1

/* The number of slots from .. end - 1 of a row that have a value, or work if `work`. */
static uint32_t count_slots(
	const struct lp_table *t, uint32_t row, uint32_t from, uint32_t end, bool work)
{
	uint32_t n = 0;

	for (uint32_t slot = from; slot < end; slot++) {
		double value = table_value(t, row, slot);

		n += work ? value > 0 : !isnan(value);
	}
	return n;
}

/* Was the component measured at least half of the time of the finding? */
static bool has_data(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_table *t = v->tables[f->metric];
	uint32_t row = v->row_of[f->metric][f->component], from, end;

	if (row == UINT32_MAX || t->step_us <= 0)
		return false;
	context_slots(t, f, &from, &end);
	return count_slots(t, row, from, end, false) * 2 >= end - from;
}

/* Does any component of the finding's observer have values in the middle half of the finding's
 * time? The first window may begin before the trouble, and the last one may end after it. */
static bool observer_has_data(const struct lp_verdict *v, const struct lp_finding *f)
{
	const char *observer = v->components[f->component]->observer;

	for (uint32_t c = 0; c < v->n_components; c++) {
		if (strcmp(v->components[c]->observer, observer) != 0 ||
			pool_is_far_view(v->components[c]))
			continue;
		for (uint32_t m = 0; m < v->n_tables; m++) {
			uint32_t row = v->row_of[m][c], from, end;

			if (row == UINT32_MAX || v->tables[m]->step_us <= 0)
				continue;
			context_slots(v->tables[m], f, &from, &end);
			if (count_slots(v->tables[m], row, from + (end - from) / 4,
				    end - (end - from) / 4, false))
				return true;
		}
	}
	return false;
}

enum lp_gone absence_of(const struct lp_verdict *v, const struct lp_finding *f)
{
	if (f->direction != LP_MARK_ABSENT)
		return LP_GONE_NOTHING;
	if (has_data(v, f))
		return LP_GONE_WORK;
	return observer_has_data(v, f) ? LP_GONE_DATA : LP_GONE_OBSERVER;
}

bool absence_is_chance(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_table *t = v->tables[f->metric];
	uint32_t row = v->row_of[f->metric][f->component], from, end, first = 0;
	bool work = has_data(v, f);
	double share;

	if (row == UINT32_MAX || t->step_us <= 0)
		return false;
	context_slots(t, f, &from, &end);
	while (first < from && isnan(table_value(t, row, first)))
		first++;
	if (first == from)
		return false; /* the time before is unknown */
	/* Even if all n slots had a value, one in n + 1 may have none. */
	share = (double)count_slots(t, row, first, from, work) / (from - first + 1);
	from += (end - from) / 4;
	end -= (end - from) / 3;
	return pow(1 - share, end - from) > CHANCE ||
		count_slots(t, row, from, end, work) >= HARDLY_ANY * share * (end - from);
}

/* Is a suspect, or the suspect it follows from, absent? */
static bool is_apart(const struct explain_context *ctx, uint32_t suspect)
{
	uint32_t leader = ctx->follows[suspect];

	return ctx->v->suspects[suspect].level == LP_LEVEL_ABSENT ||
		(leader != UINT32_MAX && ctx->v->suspects[leader].level == LP_LEVEL_ABSENT);
}

int absence_set_apart(struct explain_context *ctx, struct lp_err *err)
{
	struct lp_verdict *v = ctx->v;
	uint32_t n = 0;

	v->absent = calloc((size_t)v->n_suspects + 1, sizeof(*v->absent));
	if (!v->absent)
		return lp_err_sys(err, -ENOMEM, "cannot list absent components");
	/* Leaders are looked up before any suspect moves. */
	for (uint32_t i = 0; i < v->n_suspects; i++) {
		if (is_apart(ctx, i))
			v->absent[v->n_absent++].component = i;
	}
	for (uint32_t i = 0; i < v->n_absent; i++) {
		uint32_t from = v->absent[i].component;

		v->absent[i] = v->suspects[from];
		v->absent[i].level = LP_LEVEL_ABSENT;
		v->suspects[from] = (struct lp_suspect){.component = UINT32_MAX};
	}
	for (uint32_t i = 0; i < v->n_suspects; i++) {
		if (v->suspects[i].component != UINT32_MAX)
			v->suspects[n++] = v->suspects[i];
	}
	v->n_suspects = n;
	return 0;
}
