#include "base/slices.h"
#include "model/table_view.h"

#include <string.h>

/* Are the values of both computed in the same way from the same columns? */
static bool metric_is_alike(const struct lp_metric *a, const struct lp_metric *b)
{
	if (a->eval != b->eval || strcmp(a->kind, b->kind) != 0)
		return false;
	for (size_t i = 0; i <= LP_METRIC_INPUTS_MAX; i++) {
		if (!a->inputs[i] || !b->inputs[i])
			return a->inputs[i] == b->inputs[i];
		if (strcmp(a->inputs[i], b->inputs[i]) != 0)
			return false;
	}
	return true;
}

/* The metric of which this one is the peak; NULL: it is not a peak. */
static const struct lp_metric *metric_below(const struct lp_metric *peak)
{
	for (const struct lp_metric *const *m = lp_metric_all(); peak->peak_s && *m; m++) {
		if (!(*m)->peak_s && metric_is_alike(*m, peak))
			return *m;
	}
	return NULL;
}

static void sets_share(struct lp_table_builder *b, uint32_t from, uint32_t to, int64_t end)
{
	for (uint32_t number = 0; number < b->numbers.n; number++) {
		struct column_set *like, *set;

		slices_rest_at(number);
		like = &b->sets[from];
		set = &b->sets[to];
		if (number >= like->n_numbers || number >= set->n_numbers)
			return;
		if (like->row_of[number] != NO_ROW && set->row_of[number] != NO_ROW)
			pages_share(&set->rows[set->row_of[number]].pages,
				&like->rows[like->row_of[number]].pages, end, &b->budget);
	}
}

void table_builder_share(struct lp_table_builder *b, int64_t end)
{
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++) {
		const struct lp_metric *below = metric_below(*m);
		uint32_t from, to;

		if (below && strmap_get(&b->set_index, below->name, &from) &&
			strmap_get(&b->set_index, (*m)->name, &to))
			sets_share(b, from, to, end);
	}
}
