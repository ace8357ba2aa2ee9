#include "collect/collector.h"

#include "base/cleanup.h"
#include "collect/census.h"
#include "collect/spool.h"
#include "collect/sysattr.h"
#include "model/catalogue.h"
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

/* The journal for changes of the catalogue; NULL: none. */
static struct journal *sink_journal(const struct collect_sink *sink)
{
	return sink->spool ? spool_journal(sink->spool) : NULL;
}

static int add_schema(struct collect_sink *sink, const struct lp_schema *schema,
	uint32_t *ret_schema, struct lp_err *err)
{
	struct journal *journal = sink_journal(sink);
	uint32_t before = sink->catalogue->n_schemas;
	int r = journal ? journal_reserve_schema(journal) : 0;

	if (r < 0)
		return lp_err_sys(err, r, "cannot add kind %s", schema->kind);
	r = lp_catalogue_add_schema(sink->catalogue, schema, ret_schema, err);
	if (r == 0 && journal && sink->catalogue->n_schemas > before)
		journal_add_schema(journal, schema);
	return r;
}

/* Assign a component to an id, in the catalogue and in the journal. */
static int place_component(struct collect_sink *sink, uint32_t id, uint32_t schema,
	const char *observer, const char *name, const char *labels, struct lp_err *err)
{
	struct journal *journal = sink_journal(sink);
	int r = journal ? journal_add(journal, id, schema, observer, name, labels) : 0;

	if (r < 0)
		return lp_err_sys(err, r, "cannot add component %s", name);
	return catalogue_place(sink->catalogue, id, schema, observer, name, labels, err);
}

static int add_new_component(struct collect_sink *sink, uint32_t schema, const char *observer,
	const char *name, const char *labels, uint32_t *ret_id, struct lp_err *err)
{
	uint32_t id = sink->catalogue->n_components;
	int r = sink->census ? census_take(sink->census, schema, &id) : 0;

	if (r < 0)
		return lp_err_sys(err, r, "cannot add component %s", name);
	r = place_component(sink, id, schema, observer, name, labels, err);
	if (r < 0) {
		if (sink->census)
			census_drop(sink->census, id);
		return r;
	}
	sink->n_added++;
	*ret_id = id;
	return 0;
}

static int add_component(struct collect_sink *sink, uint32_t schema, const char *observer,
	const char *name, const char *labels, uint32_t *ret_id, struct lp_err *err)
{
	uint32_t id;
	int r = catalogue_find(sink->catalogue, schema, observer, name, &id);

	if (r == -ENOENT)
		return add_new_component(sink, schema, observer, name, labels, ret_id, err);
	if (r < 0)
		return lp_err_sys(err, r, "cannot add component %s", name);
	if (strcmp(sink->catalogue->components[id].labels, labels) != 0)
		r = place_component(sink, id, schema, observer, name, labels, err);
	if (r == 0)
		*ret_id = id;
	return r;
}

int collect_add_component(struct collect_sink *sink, const struct lp_schema *schema,
	const char *observer, const char *name, const char *labels, struct collect_row *ret_row,
	struct lp_err *err)
{
	struct collect_row row = {.row = UINT32_MAX};
	int r = add_schema(sink, schema, &row.schema, err);

	if (r == 0)
		r = add_component(sink, row.schema, observer, name, labels, &row.id, err);
	if (r < 0)
		return r;
	row.tenancy = sink->census ? sink->census->slots[row.id].tenancy : 0;
	*ret_row = row;
	return 0;
}

bool collect_holds(const struct collect_sink *sink, const struct collect_row *row)
{
	return !sink->census ||
		(row->id < sink->census->n && sink->census->slots[row->id].tenancy == row->tenancy);
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

/* Find the index of the row in this batch: the same as last time, another one, or a new one. */
static int collect_place(
	struct lp_batch *batch, struct lp_batch_kind *kind, struct collect_row *row)
{
	uint32_t n = kind->n_components, from = row->row < n ? row->row + 1 : n;

	/* Search backwards: if others have left, later rows have moved up. */
	for (uint32_t i = from; i-- > 0;) {
		if (kind->ids[i] == row->id) {
			row->row = i;
			return 0;
		}
	}
	for (uint32_t i = from; i < n; i++) {
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
	int r = collect_holds(sink, row) ? 0 : -ESTALE;

	if (r == 0)
		r = lp_batch_kind_get(sink->batch, row->schema, schema->n_columns, NULL, &kind);
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
