#include "trace/counted_row.h"

#include <string.h>

/* Can the sample before the current one still be changed? */
static bool has_own_sample_before(const struct lp_batch *b)
{
	return b->n_samples >= (b->carry ? 3u : 2u);
}

static int store_next(struct counted_row *row, struct collect_sink *sink,
	const struct lp_schema *schema, const int64_t *values, int64_t *last, struct lp_err *err)
{
	memcpy(last, values, schema->n_columns * sizeof(*last));
	return collect_store(sink, &row->place, false, values, err);
}

int counted_row_store(struct counted_row *row, struct collect_sink *sink,
	const struct lp_schema *schema, const char *observer, const char *name,
	const int64_t *values, int64_t *last, bool *ret_behind, struct lp_err *err)
{
	bool before = has_own_sample_before(sink->batch);
	int r;

	if (row->told && collect_holds(sink, &row->place))
		return store_next(row, sink, schema, values, last, err);
	r = collect_add_component(sink, schema, observer, name, "", &row->place, err);
	if (r < 0)
		return r;
	row->told = true;
	if (before)
		sink->batch->n_samples--;
	else
		*ret_behind = true;
	r = collect_store(sink, &row->place, true, last, err);
	if (before)
		sink->batch->n_samples++;
	return r < 0 || !before ? r : store_next(row, sink, schema, values, last, err);
}
