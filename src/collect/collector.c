#include "collect/collector.h"

#include "base/cleanup.h"
#include "collect/sysattr.h"
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#define X(name) extern const struct collector collector_##name;
#include "collect/collectors.inc"
#undef X

const struct collector *const collectors[] = {
#define X(name) &collector_##name,
#include "collect/collectors.inc"
#undef X
	NULL,
};

const struct collector *collector_find(const char *name)
{
	for (const struct collector *const *c = collectors; *c; c++) {
		if (!strcmp((*c)->name, name))
			return *c;
	}
	return NULL;
}

enum collect_choice collect_choose(const char *const *globs, unsigned n_globs, const char *name)
{
	enum collect_choice choice =
		n_globs == 0 || globs[0][0] == '!' ? COLLECT_UNNAMED : COLLECT_EXCLUDED;

	for (unsigned i = 0; i < n_globs; i++) {
		bool exclude = globs[i][0] == '!';

		if (fnmatch(globs[i] + exclude, name, 0) == 0)
			choice = exclude		   ? COLLECT_EXCLUDED
				: strpbrk(globs[i], "*?[") ? COLLECT_NAMED
							   : COLLECT_EXACT;
	}
	return choice;
}

bool collect_wanted(const char *const *globs, unsigned n_globs, const char *name)
{
	return collect_choose(globs, n_globs, name) != COLLECT_EXCLUDED;
}

int collect_add_component(struct collect_sink *sink, const struct lp_schema *schema,
	const char *observer, const char *name, const char *labels, struct collect_row *ret_row,
	struct lp_err *err)
{
	struct collect_row row = {.row = UINT32_MAX};
	int r = lp_catalogue_add_schema(sink->catalogue, schema, &row.schema, err);

	if (r == 0)
		r = lp_catalogue_add_component(
			sink->catalogue, row.schema, observer, name, labels, &row.id, err);
	if (r < 0)
		return r;
	sink->n_added++;
	*ret_row = row;
	return 0;
}

int collect_add_named(struct collect_sink *sink, const struct lp_schema *schema,
	const char *observer, const char *name, const char *labels, struct collect_row *ret_row,
	struct lp_err *err)
{
	struct strbuf escaped = {0};
	_cleanup_free_ char *safe = NULL;

	label_escape(&escaped, name);
	safe = strbuf_take(&escaped);
	if (!safe)
		return lp_err_sys(err, -ENOMEM, "cannot add component %s", name);
	return collect_add_component(sink, schema, observer, safe, labels, ret_row, err);
}

/* The row's position in this batch: where it was last time, or wherever it is now, or new. */
static int collect_place(
	struct lp_batch *batch, struct lp_batch_kind *kind, struct collect_row *row)
{
	if (row->row < kind->n_components && kind->ids[row->row] == row->id)
		return 0;
	for (uint32_t i = 0; i < kind->n_components; i++) {
		if (kind->ids[i] == row->id) {
			row->row = i;
			return 0;
		}
	}
	return lp_batch_add_component(batch, kind, row->id, &row->row);
}

int collect_cells(struct collect_sink *sink, struct collect_row *row, bool fresh,
	struct lp_batch_kind **ret_kind, size_t *ret_cell)
{
	const struct lp_schema *schema = &sink->catalogue->schemas[row->schema];
	struct lp_batch_kind *kind;
	size_t cell;
	int r = lp_batch_kind_get(sink->batch, row->schema, schema->n_columns, NULL, &kind);

	if (r == 0)
		r = collect_place(sink->batch, kind, row);
	if (r < 0)
		return r;
	cell = (size_t)row->row * sink->batch->cap_samples + sink->batch->n_samples - 1;
	kind->state[cell] = (uint8_t)(LP_PRESENT | (fresh ? LP_FRESH : 0));
	*ret_kind = kind;
	*ret_cell = cell;
	return 0;
}

int collect_store(struct collect_sink *sink, struct collect_row *row, bool fresh,
	const int64_t *values, struct lp_err *err)
{
	struct lp_batch_kind *kind;
	size_t cell;
	int r = collect_cells(sink, row, fresh, &kind, &cell);

	if (r < 0)
		return lp_err_sys(err, r, "cannot add a row to the sample");
	for (uint32_t c = 0; c < kind->n_columns; c++)
		kind->columns[c][cell] = values[c];
	return 0;
}
