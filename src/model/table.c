#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "model/identity.h"
#include "model/table_builder.h"
#include "model/table_view.h"
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limpet/table.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_MAX_DEFAULT (UINT64_C(4) << 30)
/* The maximum number of sources that are bound at the same time. With more, earlier ones must be
 * bound again. */
#define BINDINGS_MAX 16384
#define UNWANTED SIZE_MAX

void lp_table_free(struct lp_table *t)
{
	if (!t)
		return;
	lp_identities_free(t->components, t->n_components);
	table_lazy_free(t->lazy);
	free(t->values);
	free(t->cuts);
	free(t->metric);
	free(t->unit);
	free(t);
}

int64_t lp_table_skipped(const struct lp_table *t, int64_t slot)
{
	uint32_t low = 0, high = t->n_cuts;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->cuts[middle].slot <= slot)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? t->cuts[low - 1].skipped : 0;
}

int64_t lp_table_time(const struct lp_table *t, int64_t slot)
{
	return t->start_us + (slot + lp_table_skipped(t, slot)) * t->step_us;
}

int64_t lp_table_slot(const struct lp_table *t, int64_t time_us)
{
	int64_t slot = floor_div(time_us - t->start_us, t->step_us), skipped = 0;

	for (uint32_t i = 0; i < t->n_cuts && slot - skipped >= t->cuts[i].slot; i++) {
		if (slot - t->cuts[i].skipped < t->cuts[i].slot)
			return t->cuts[i].slot - 1;
		skipped = t->cuts[i].skipped;
	}
	return slot - skipped;
}

static void set_release(struct column_set *s)
{
	for (size_t i = 0; i < s->n_rows; i++)
		table_row_release(&s->rows[i]);
	free(s->rows);
	free(s->name);
	free(s->unit);
	free(s->row_of);
}

static void binding_release(struct binding *bi)
{
	free(bi->bound);
	free(bi->schemas);
	free(bi->rows);
	free(bi->components);
	*bi = (struct binding){0};
}

void table_bindings_forget(struct lp_table_builder *b)
{
	for (size_t i = 0; i < b->n_bindings; i++)
		binding_release(&b->bindings[i]);
	b->n_bindings = 0;
	b->binding = NULL;
}

void lp_table_builder_free(struct lp_table_builder *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n_sets; i++)
		set_release(&b->sets[i]);
	free(b->sets);
	strmap_release(&b->set_index);
	strmap_release(&b->numbers);
	strmap_release(&b->named);
	free(b->globs);
	table_bindings_forget(b);
	free(b->bindings);
	table_times_release(&b->times);
	free(b);
}

DEFINE_CLEANUP(struct lp_table_builder *, lp_table_builder_free);

/* Is its name listed, or does it match a glob? */
static bool component_listed(const struct lp_table_builder *b, const char *name)
{
	uint32_t ignored;

	if (!b->opt->components || strmap_get(&b->named, name, &ignored))
		return true;
	for (size_t i = 0; i < b->n_globs; i++) {
		if (fnmatch(b->globs[i], name, 0) == 0)
			return true;
	}
	return false;
}

static bool component_wanted(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	const struct lp_table_builder *b = ctx;
	const struct lp_identity *component = c->components[id].identity;

	return component_listed(b, component->text) &&
		(!b->opt->wanted || b->opt->wanted(b->opt->wanted_ctx, component));
}

/* Globs are tried one by one. There may be thousands of names, so these are looked up. */
static int components_sort(struct lp_table_builder *b)
{
	for (uint32_t i = 0; b->opt->components && i < b->opt->n_components; i++) {
		const char *text = b->opt->components[i];

		if (!strpbrk(text, "*?[\\")) {
			if (strmap_put(&b->named, text, i) < 0)
				return -ENOMEM;
			continue;
		}
		if (array_reserve(&b->globs, &b->cap_globs, b->n_globs + 1, sizeof(*b->globs)) < 0)
			return -ENOMEM;
		b->globs[b->n_globs++] = text;
	}
	return 0;
}

/* The unit of a metric with this name: from the catalogue, or from the column. */
static const char *unit_of(const struct lp_schema *s, const struct bind *b)
{
	return b->metric ? b->metric->unit : s->columns[b->column].unit;
}

int table_set_get(struct lp_table_builder *b, const char *name, uint32_t *ret)
{
	struct column_set set = {0};

	if (strmap_get(&b->set_index, name, ret))
		return 0;
	set = (struct column_set){.name = strdup(name), .unit = strdup("")};
	if (!set.name || !set.unit ||
		array_reserve(&b->sets, &b->cap_sets, b->n_sets + 1, sizeof(*b->sets)) < 0) {
		set_release(&set);
		return -ENOMEM;
	}
	*ret = (uint32_t)b->n_sets;
	b->sets[b->n_sets++] = set;
	return strmap_put(&b->set_index, name, *ret);
}

/* Bind a metric to a schema, if it has it. */
static int schema_bind(
	struct lp_table_builder *b, const struct lp_schema *s, const char *name, bool raw)
{
	struct binding *bi = b->binding;
	struct bound bound;

	if (!bind_metric(s, name, raw, &bound.bind))
		return 0;
	if (table_set_get(b, name, &bound.set) < 0 ||
		array_reserve(&bi->bound, &bi->cap_bound, bi->n_bound + 1, sizeof(bound)) < 0)
		return -ENOMEM;
	bi->bound[bi->n_bound++] = bound;
	return 0;
}

/* Is a metric of the catalogue selected if there is no list? */
static bool metric_offered(const struct lp_table_builder *b, const struct lp_metric *m)
{
	return m && !b->opt->raw && (!b->opt->headline || m->headline) &&
		(!b->opt->judged || m->judged || lp_metric_is_weight(m));
}

/* Without a list, bind every metric that a schema offers: those of the catalogue in its order, then
 * the other columns. */
static int schema_bind_all(struct lp_table_builder *b, const struct lp_schema *s)
{
	int r = 0;

	for (const struct lp_metric *const *m = lp_metric_all(); r == 0 && *m; m++) {
		if (!strcmp((*m)->kind, s->kind) && metric_offered(b, *m))
			r = schema_bind(b, s, (*m)->name, false);
	}
	for (uint32_t c = 0; r == 0 && c < s->n_columns; c++) {
		const struct lp_column *col = &s->columns[c];

		if ((b->opt->raw || col->type == LP_REAL) &&
			!metric_offered(b, lp_metric_find(s->kind, col->name)))
			r = schema_bind(b, s, col->name, b->opt->raw);
	}
	return r;
}

/* The metrics of the list that a schema has. */
static int schema_bind_listed(struct lp_table_builder *b, const struct lp_schema *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->n_sets; i++)
		r = schema_bind(b, s, b->sets[i].name, b->opt->raw);
	return r;
}

static bool column_wanted(void *ctx, const struct lp_schema *s, uint32_t column)
{
	const struct lp_table_builder *b = ctx;
	const struct lp_table_options *opt = b->opt;
	struct bind bind;

	if (!opt->metrics && opt->raw)
		return true;
	if (!opt->metrics && s->columns[column].type == LP_REAL)
		return true;
	for (size_t i = 0; opt->metrics && i < b->n_sets; i++) {
		if (bind_metric(s, b->sets[i].name, opt->raw, &bind) && bind_uses(&bind, column))
			return true;
	}
	for (const struct lp_metric *const *m = lp_metric_all(); !opt->metrics && *m; m++) {
		if (!strcmp((*m)->kind, s->kind) && metric_offered(b, *m) &&
			bind_metric(s, (*m)->name, false, &bind) && bind_uses(&bind, column))
			return true;
	}
	return false;
}

uint64_t table_bytes_half(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : UINT64_MAX;
}

/* The default limit; callers that need more must set it. */
static uint64_t bytes_max_default(void)
{
	uint64_t half = table_bytes_half();

	return half < BYTES_MAX_DEFAULT ? half : BYTES_MAX_DEFAULT;
}

/* The set of a metric that another one needs, unless it was selected itself. */
static int set_beside(struct lp_table_builder *b, const char *name)
{
	uint32_t at;
	int r = 0;

	if (strmap_get(&b->set_index, name, &at))
		return 0;
	r = table_set_get(b, name, &at);
	if (r == 0 && b->sets)
		b->sets[at].beside = true;
	return r;
}

/* The metrics of the list and, for comparisons, their weights and selectors.
 */
static int sets_list(struct lp_table_builder *b)
{
	const struct lp_table_options *opt = b->opt;
	uint32_t ignored;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < opt->n_metrics; i++)
		r = table_set_get(b, opt->metrics[i], &ignored);
	for (const struct lp_metric *const *m = lp_metric_all(); r == 0 && opt->judged && *m; m++) {
		if ((*m)->weight && strmap_get(&b->set_index, (*m)->name, &ignored))
			r = table_set_get(b, (*m)->weight, &ignored);
		if (r == 0 && (*m)->selector && strmap_get(&b->set_index, (*m)->name, &ignored))
			r = set_beside(b, (*m)->selector);
	}
	return r;
}

int lp_table_builder_new(
	const struct lp_table_options *options, struct lp_table_builder **ret, struct lp_err *err)
{
	_cleanup_(lp_table_builder_freep) struct lp_table_builder *b = calloc(1, sizeof(*b));

	if (!b)
		return lp_err_sys(err, -ENOMEM, "cannot build a table");
	if (options->step_us <= 0)
		return lp_err_set(err, -EINVAL, "a table needs a time step");
	b->opt = options;
	b->budget.max = options->bytes_max ? options->bytes_max : bytes_max_default();
	b->select = (struct lp_select){.from_us = options->from_us,
		.to_us = options->to_us,
		.component = component_wanted,
		.column = column_wanted,
		.ctx = b};
	if (components_sort(b) < 0 || sets_list(b) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot build a table");
	*ret = TAKE_PTR(b);
	return 0;
}

const struct lp_select *lp_table_builder_select(const struct lp_table_builder *b)
{
	return &b->select;
}

/* The number of a component, the same in all sets. */
static int component_number(struct lp_table_builder *b, const char *text, uint32_t *ret)
{
	if (strmap_get(&b->numbers, text, ret))
		return 0;
	*ret = (uint32_t)b->numbers.n;
	return strmap_put(&b->numbers, text, *ret);
}

/* Make room in row_of for index `number`. */
static int set_extend(struct column_set *s, uint32_t number)
{
	if (array_reserve(&s->row_of, &s->cap_numbers, (size_t)number + 1, sizeof(*s->row_of)) < 0)
		return -ENOMEM;
	while (s->n_numbers <= number)
		s->row_of[s->n_numbers++] = NO_ROW;
	return 0;
}

static int rows_renumber(struct lp_table_builder *b)
{
	strmap_release(&b->numbers);
	table_bindings_forget(b);
	for (size_t s = 0; s < b->n_sets; s++) {
		struct column_set *set = &b->sets[s];

		set->n_numbers = 0;
		for (size_t i = 0; i < set->n_rows; i++) {
			uint32_t number;

			if (component_number(b, set->rows[i].component->text, &number) < 0 ||
				set_extend(set, number) < 0)
				return -ENOMEM;
			set->row_of[number] = (uint32_t)i;
		}
	}
	return 0;
}

/* The remaining rows keep their order. Components get new numbers, so that names that come and go
 * do not use memory forever. */
int table_rows_retire(struct lp_table_builder *b,
	bool (*gone)(const struct table_row *row, int64_t before), int64_t before)
{
	bool any = false;

	for (size_t s = 0; s < b->n_sets; s++) {
		struct column_set *set = &b->sets[s];
		size_t n = 0;

		for (size_t i = 0; i < set->n_rows; i++) {
			if (!gone(&set->rows[i], before)) {
				set->rows[n++] = set->rows[i];
				continue;
			}
			b->budget.used -= pages_bytes(&set->rows[i].pages);
			table_row_release(&set->rows[i]);
		}
		any |= n < set->n_rows;
		set->n_rows = n;
	}
	b->n_changes += any;
	return any ? rows_renumber(b) : 0;
}

static void row_relabel(struct table_row *row, const struct lp_identity *component)
{
	if (row->component == component || !strcmp(row->component->labels, component->labels))
		return;
	lp_identity_unref(row->component);
	row->component = lp_identity_ref(component);
}

int table_set_row(struct lp_table_builder *b, struct column_set *s,
	const struct lp_identity *component, uint32_t *ret_row)
{
	uint32_t number;

	if (component_number(b, component->text, &number) < 0 || set_extend(s, number) < 0)
		return -ENOMEM;
	*ret_row = s->row_of[number];
	if (*ret_row != NO_ROW) {
		row_relabel(&s->rows[*ret_row], component);
		return 0;
	}
	if (array_reserve(&s->rows, &s->cap_rows, s->n_rows + 1, sizeof(*s->rows)) < 0)
		return -ENOMEM;
	s->rows[s->n_rows] = (struct table_row){.last_wall = INT64_MIN,
		.gaps = b->opt->gaps,
		.pages = {.narrow = b->opt->narrow},
		.component = lp_identity_ref(component)};
	*ret_row = s->row_of[number] = (uint32_t)s->n_rows++;
	s->remade |= kind_find(component->kind)->remade;
	b->n_changes++;
	return 0;
}

/* Bind new entries of the source's catalogue since the last batch. */
static int binding_extend_schemas(struct lp_table_builder *b, const struct lp_catalogue *c)
{
	struct binding *bi = b->binding;
	int r = array_reserve(
		&bi->schemas, &bi->cap_schemas, (size_t)c->n_schemas + 1, sizeof(*bi->schemas));

	for (; r == 0 && bi->n_schemas < c->n_schemas; bi->n_schemas++) {
		const struct lp_schema *s = &c->schemas[bi->n_schemas];

		bi->schemas[bi->n_schemas] = bi->n_bound;
		r = b->opt->metrics ? schema_bind_listed(b, s) : schema_bind_all(b, s);
		bi->schemas[bi->n_schemas + 1] = bi->n_bound;
	}
	return r;
}

static int binding_extend_components(struct lp_table_builder *b, const struct lp_catalogue *c)
{
	struct binding *bi = b->binding;
	int r = array_reserve(
		&bi->components, &bi->cap_components, c->n_components, sizeof(*bi->components));

	for (; r == 0 && bi->n_components < c->n_components; bi->n_components++) {
		uint32_t id = (uint32_t)bi->n_components, schema = c->components[id].schema;
		size_t n = bi->schemas[schema + 1] - bi->schemas[schema];

		bi->components[id] = UNWANTED;
		if (!component_wanted(b, c, id))
			continue;
		r = array_reserve(&bi->rows, &bi->cap_rows, bi->n_rows + n, sizeof(*bi->rows));
		if (r < 0)
			break;
		bi->components[id] = bi->n_rows;
		for (size_t i = 0; i < n; i++)
			bi->rows[bi->n_rows++] = NO_ROW;
	}
	return r;
}

/* The binding of a catalogue. Batches may come from different sources in turn. */
static int binding_choose(struct lp_table_builder *b, const struct lp_catalogue *c)
{
	if (b->binding && b->binding->catalogue == c->serial)
		return 0;
	for (size_t i = 0; i < b->n_bindings; i++) {
		b->binding = &b->bindings[i];
		if (b->binding->catalogue == c->serial)
			return 0;
	}
	if (b->n_bindings == BINDINGS_MAX)
		table_bindings_forget(b);
	if (array_reserve(&b->bindings, &b->cap_bindings, b->n_bindings + 1, sizeof(*b->bindings)) <
		0)
		return -ENOMEM;
	b->binding = &b->bindings[b->n_bindings++];
	*b->binding = (struct binding){.catalogue = c->serial};
	return 0;
}

static int binding_extend(struct lp_table_builder *b, const struct lp_catalogue *c)
{
	int r = binding_choose(b, c);

	if (r == 0)
		r = binding_extend_schemas(b, c);
	return r < 0 ? r : binding_extend_components(b, c);
}

/* The row of component `id` in the table of metric number `at` of its schema. */
static int binding_row(struct lp_table_builder *b, const struct lp_catalogue *c, uint32_t id,
	size_t at, struct table_row **ret)
{
	const struct lp_schema *schema = &c->schemas[c->components[id].schema];
	const struct bound *bound =
		&b->binding->bound[b->binding->schemas[c->components[id].schema] + at];
	uint32_t *row = &b->binding->rows[b->binding->components[id] + at];
	struct column_set *s = &b->sets[bound->set];

	if (*row != NO_ROW) {
		row_relabel(&s->rows[*row], c->components[id].identity);
	} else {
		if (table_set_row(b, s, c->components[id].identity, row) < 0)
			return -ENOMEM;
		if (!s->unit[0]) {
			free(s->unit);
			s->unit = strdup(unit_of(schema, &bound->bind));
			if (!s->unit)
				return -ENOMEM;
		}
	}
	*ret = &s->rows[*row];
	return 0;
}

/* Count impossible values of a component. */
static void count_absurd(struct lp_table_builder *b, const struct bind *bind,
	const struct lp_batch_kind *kind, uint32_t component)
{
	size_t base = (size_t)component * b->times.batch->cap_samples;

	for (uint32_t s = 0; bind->checked && s < b->times.batch->n_samples; s++)
		b->n_absurd += kind->state[base + s] & LP_PRESENT && b->times.wanted[s] &&
			bind_is_absurd(
				bind, lp_cell_to_real(kind->columns[bind->column][base + s]));
}

static int add_kind(
	struct lp_table_builder *b, const struct lp_catalogue *c, const struct lp_batch_kind *kind)
{
	const struct binding *bi = b->binding;
	size_t first = bi->schemas[kind->schema], n = bi->schemas[kind->schema + 1] - first;

	for (size_t at = 0; at < n; at++) {
		for (uint32_t i = 0; i < kind->n_components; i++) {
			struct table_row *row;
			int r;

			if (bi->components[kind->ids[i]] == UNWANTED)
				continue;
			r = binding_row(b, c, kind->ids[i], at, &row);
			if (r == 0)
				r = table_row_add(row, &b->times, &bi->bound[first + at].bind, kind,
					i, &b->budget);
			if (r == 0)
				count_absurd(b, &bi->bound[first + at].bind, kind, i);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int table_refuse(const struct lp_table_builder *b, int64_t first, int64_t last, const char *where,
	struct lp_err *err)
{
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX], step[TIME_TEXT_MAX];
	int64_t begin, end;

	if (table_builder_span(b, &begin, &end)) {
		first = begin < first ? begin : first;
		last = end - 1 > last ? end - 1 : last;
	}
	return lp_err_set(err, -EFBIG,
		"%s: a table from %s to %s in steps of %s would need too much memory (at most "
		"%" PRIu64
		" MiB, and most of it for values that are there); choose a time range, components "
		"or a longer interval (or is a clock far off?)",
		where, time_format(first * b->opt->step_us, from),
		time_format(last * b->opt->step_us, to), span_format(b->opt->step_us, step),
		b->budget.max >> 20);
}

int lp_table_builder_add(struct lp_table_builder *b, const struct lp_source *source,
	const struct lp_batch *batch, struct lp_err *err)
{
	int r;

	r = binding_extend(b, source->catalogue);
	if (r == 0)
		r = table_times_make(&b->times, b->opt, source->interval_us, batch);
	if (r == 0)
		b->n_beyond += b->times.n_beyond;
	for (uint32_t i = 0; r == 0 && i < batch->n_kinds; i++)
		r = add_kind(b, source->catalogue, &batch->kinds[i]);
	if (r == -EFBIG)
		return table_refuse(b, b->budget.slot, b->budget.slot, source->path, err);
	return r < 0 ? lp_err_sys(err, r, "cannot build a table") : 0;
}

/* Times without data are left out of whole tables if they are longer than this. The windows of the
 * published methods are shifted by 30 or 32 slots, so the omitted part is a multiple of both. */
#define FINISH_MARGIN 1024
#define FINISH_ALIGN 480

static void rows_count(const struct lp_table_builder *b, uint64_t *ret_rows, uint64_t *ret_values)
{
	*ret_rows = *ret_values = 0;
	for (size_t s = 0; s < b->n_sets; s++) {
		*ret_rows += b->sets[s].n_rows;
		for (size_t i = 0; i < b->sets[s].n_rows; i++)
			*ret_values += pages_count(&b->sets[s].rows[i].pages, INT64_MIN, INT64_MAX);
	}
}

/* Move the values of a row into the table. */
static void table_take_row(
	struct lp_table *t, uint32_t i, const struct table_grid *g, struct table_row *row)
{
	table_grid_copy(g, &row->pages, t->values + (size_t)i * t->n_slots);
	t->components[i] = TAKE_PTR(row->component);
	pages_release(&row->pages);
}

static struct lp_table *table_make(struct column_set *s, const struct table_grid *g)
{
	struct lp_table *t = calloc(1, sizeof(*t));
	int64_t span_us;

	if (!t)
		return NULL;
	t->metric = TAKE_PTR(s->name);
	t->unit = TAKE_PTR(s->unit);
	t->beside = s->beside;
	t->components = calloc(s->n_rows + 1, sizeof(struct lp_identity *));
	t->values = malloc((s->n_rows * g->n_slots + 1) * sizeof(*t->values));
	if (!t->components || !t->values || table_grid_apply(g, t) < 0) {
		lp_table_free(t);
		return NULL;
	}
	t->n_components = (uint32_t)s->n_rows;
	span_us = peak_span_us(t->metric);
	for (uint32_t i = 0; i < t->n_components; i++) {
		table_take_row(t, i, g, &s->rows[i]);
		if (span_us && s->rows[i].metric)
			peak_row(t, i, span_us);
	}
	return t;
}

/* The grid of all data, if tables of that size make sense. */
static int grid_choose(const struct lp_table_builder *b, struct table_grid *ret, struct lp_err *err)
{
	struct table_part part = {.align = FINISH_ALIGN, .margin = FINISH_MARGIN};
	uint64_t rows, values;

	if (!table_builder_span(b, &part.first, &part.end))
		part.first = part.end = 0;
	if (table_grid_make(b, &part, ret) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot build a table");
	rows_count(b, &rows, &values);
	if (!table_grid_fits(ret, b->budget.max, rows, values))
		return table_refuse(b, part.first, part.end - 1, "the data", err);
	return 0;
}

static void tables_free(struct lp_table **tables, uint32_t n)
{
	while (n)
		lp_table_free(tables[--n]);
	free(tables);
}

int lp_table_builder_finish(struct lp_table_builder *b, struct lp_table ***ret_tables,
	uint32_t *ret_n, struct lp_err *err)
{
	_cleanup_(table_grid_release) struct table_grid grid = {0};
	struct lp_table **tables;
	uint32_t n = 0;
	int r = grid_choose(b, &grid, err);

	if (r < 0)
		return r;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	tables = calloc(b->n_sets + 1, sizeof(*tables));
	r = tables ? 0 : -ENOMEM;
	for (size_t s = 0; r == 0 && s < b->n_sets; s++) {
		if (!b->sets[s].n_rows || !peak_fits(b->sets[s].name, b->opt->step_us))
			continue;
		tables[n] = table_make(&b->sets[s], &grid);
		r = tables[n] ? 0 : -ENOMEM;
		n += r == 0;
	}
	if (r < 0) {
		if (tables)
			tables_free(tables, n);
		return lp_err_sys(err, r, "cannot build a table");
	}
	*ret_tables = tables;
	*ret_n = n;
	return 0;
}

/* The first known unit stays. */
static void set_take_unit(struct column_set *s, struct column_set *later)
{
	char *unit = s->unit;

	if (unit[0])
		return;
	s->unit = later->unit;
	later->unit = unit;
}

static int set_join(struct lp_table_builder *b, struct column_set *s, struct column_set *later)
{
	bool forever = b->opt->step_us == LP_TABLE_FOREVER;
	int r = 0;

	for (size_t i = 0; r == 0 && i < later->n_rows; i++) {
		uint32_t row;

		r = table_set_row(b, s, later->rows[i].component, &row);
		if (r == 0)
			r = table_row_join(&s->rows[row], &later->rows[i], forever, &b->budget);
		table_row_release(&later->rows[i]);
	}
	if (later->n_rows)
		set_take_unit(s, later);
	return r;
}

int table_builder_join(struct lp_table_builder *b, struct lp_table_builder *later, const char *path,
	struct lp_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < later->n_sets; i++) {
		uint32_t set;

		r = table_set_get(b, later->sets[i].name, &set);
		if (r == 0)
			r = set_join(b, &b->sets[set], &later->sets[i]);
	}
	b->n_absurd += later->n_absurd;
	b->n_beyond += later->n_beyond;
	if (r == -EFBIG)
		return table_refuse(b, b->budget.slot, b->budget.slot, path, err);
	return r < 0 ? lp_err_sys(err, r, "cannot build a table") : 0;
}
