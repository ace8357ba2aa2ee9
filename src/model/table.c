#include <limpet/table.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/time.h"
#include "model/bind.h"
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX_DEFAULT (UINT64_C(4) << 30)
#define NO_ROW UINT32_MAX
#define UNWANTED (UINT32_MAX - 1)
#define NO_SLOT INT64_MIN

/* One component of one table while it is being built. */
struct row {
	struct bind_acc acc; /* of the slot at hand */
	int64_t slot;	     /* which is that: NO_SLOT for none */
	int64_t last_wall;   /* of the last sample taken: time that does not move on is a repeat */
	double *values;	     /* of slots `first` .. `first + n - 1` */
	int64_t first;
	size_t n, cap;
	char *name;
};

/* One metric while it is being built. */
struct column_set {
	char *name;
	char *unit;
	struct row *rows;
	size_t n_rows, cap_rows;
	struct strmap by_name;
};

/* How the schemas of the source at hand bind to the metrics, and its components to rows. */
struct binding {
	uint64_t catalogue; /* its serial */
	struct bind *binds; /* [schema * n_sets + set] */
	bool *bound;
	size_t n_schemas, cap_binds, cap_bound;
	uint32_t *rows; /* [component * n_sets + set] */
	size_t n_components, cap_rows;
};

struct lp_table_builder {
	const struct lp_table_options *opt;
	struct lp_select select;
	struct column_set *sets;
	size_t n_sets, cap_sets;
	struct binding binding;
	uint64_t bytes, bytes_max;
};

void lp_table_free(struct lp_table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; t->components && i < t->n_components; i++)
		free(t->components[i]);
	free(t->components);
	free(t->values);
	free(t->metric);
	free(t->unit);
	free(t);
}

static void set_release(struct column_set *s)
{
	for (size_t i = 0; i < s->n_rows; i++) {
		free(s->rows[i].values);
		free(s->rows[i].name);
	}
	free(s->rows);
	free(s->name);
	free(s->unit);
	strmap_release(&s->by_name);
}

void lp_table_builder_free(struct lp_table_builder *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n_sets; i++)
		set_release(&b->sets[i]);
	free(b->sets);
	free(b->binding.binds);
	free(b->binding.bound);
	free(b->binding.rows);
	free(b);
}

DEFINE_CLEANUP(struct lp_table_builder *, lp_table_builder_free);

static bool component_wanted(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	const struct lp_table_options *opt = ((struct lp_table_builder *)ctx)->opt;
	char name[1024];

	if (!opt->components)
		return true;
	lp_component_name(c, id, name, sizeof(name));
	for (uint32_t i = 0; i < opt->n_components; i++) {
		if (fnmatch(opt->components[i], name, 0) == 0)
			return true;
	}
	return false;
}

/* The unit of a metric by that name: the catalogue's, or the column's own. */
static const char *unit_of(const struct lp_schema *s, const struct bind *b)
{
	return b->metric ? b->metric->unit : s->columns[b->column].unit;
}

static int set_add(struct lp_table_builder *b, const char *name)
{
	struct column_set set = {.name = strdup(name), .unit = strdup("")};

	if (!set.name || !set.unit ||
		array_reserve(&b->sets, &b->cap_sets, b->n_sets + 1, sizeof(*b->sets)) < 0) {
		set_release(&set);
		return -ENOMEM;
	}
	b->sets[b->n_sets++] = set;
	return 0;
}

static bool set_known(const struct lp_table_builder *b, const char *name)
{
	for (size_t i = 0; i < b->n_sets; i++) {
		if (!strcmp(b->sets[i].name, name))
			return true;
	}
	return false;
}

/* Without a list, every metric that a schema offers is wanted. */
static int sets_offer(struct lp_table_builder *b, const struct lp_schema *s)
{
	for (const struct lp_metric *const *m = lp_metric_all(); !b->opt->raw && *m; m++) {
		struct bind bind;

		if (strcmp((*m)->kind, s->kind) || (b->opt->headline && !(*m)->headline) ||
			set_known(b, (*m)->name) || !bind_metric(s, (*m)->name, false, &bind))
			continue;
		if (set_add(b, (*m)->name) < 0)
			return -ENOMEM;
	}
	for (uint32_t c = 0; c < s->n_columns; c++) {
		const struct lp_column *col = &s->columns[c];

		if ((b->opt->raw || col->type == LP_REAL) && !set_known(b, col->name) &&
			set_add(b, col->name) < 0)
			return -ENOMEM;
	}
	return 0;
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
	for (uint32_t i = 0; i < opt->n_metrics; i++) {
		if (bind_metric(s, opt->metrics[i], opt->raw, &bind) && bind_uses(&bind, column))
			return true;
	}
	for (const struct lp_metric *const *m = lp_metric_all(); !opt->metrics && *m; m++) {
		if (!strcmp((*m)->kind, s->kind) && (!opt->headline || (*m)->headline) &&
			bind_metric(s, (*m)->name, false, &bind) && bind_uses(&bind, column))
			return true;
	}
	return false;
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
	b->bytes_max = options->bytes_max ? options->bytes_max : BYTES_MAX_DEFAULT;
	b->select = (struct lp_select){.from_us = options->from_us,
		.to_us = options->to_us,
		.component = component_wanted,
		.column = column_wanted,
		.ctx = b};
	for (uint32_t i = 0; i < options->n_metrics; i++) {
		if (!set_known(b, options->metrics[i]) && set_add(b, options->metrics[i]) < 0)
			return lp_err_sys(err, -ENOMEM, "cannot build a table");
	}
	*ret = TAKE_PTR(b);
	return 0;
}

const struct lp_select *lp_table_builder_select(const struct lp_table_builder *b)
{
	return &b->select;
}

/* The row of a component in a set, added if it is new. */
static int set_row(struct column_set *s, const char *name, uint32_t *ret_row)
{
	struct row *row;

	if (strmap_get(&s->by_name, name, ret_row))
		return 0;
	if (array_reserve(&s->rows, &s->cap_rows, s->n_rows + 1, sizeof(*s->rows)) < 0)
		return -ENOMEM;
	row = &s->rows[s->n_rows];
	*row = (struct row){.slot = NO_SLOT, .last_wall = INT64_MIN, .name = strdup(name)};
	if (!row->name || strmap_put(&s->by_name, name, (uint32_t)s->n_rows) < 0) {
		free(row->name);
		return -ENOMEM;
	}
	*ret_row = (uint32_t)s->n_rows++;
	return 0;
}

/* Bind what the source's catalogue has gained since the last batch. */
static int binding_extend(struct lp_table_builder *b, const struct lp_catalogue *c)
{
	struct binding *bi = &b->binding;
	size_t sets_before = b->n_sets;

	for (uint32_t s = (uint32_t)bi->n_schemas; !b->opt->metrics && s < c->n_schemas; s++) {
		if (sets_offer(b, &c->schemas[s]) < 0)
			return -ENOMEM;
	}
	if (b->n_sets != sets_before)
		bi->n_schemas = bi->n_components = 0; /* positions depend on n_sets: bind anew */
	if (array_reserve(
		    &bi->binds, &bi->cap_binds, c->n_schemas * b->n_sets, sizeof(*bi->binds)) < 0 ||
		array_reserve(&bi->bound, &bi->cap_bound, c->n_schemas * b->n_sets,
			sizeof(*bi->bound)) < 0 ||
		array_reserve(&bi->rows, &bi->cap_rows, c->n_components * b->n_sets,
			sizeof(*bi->rows)) < 0)
		return -ENOMEM;
	for (size_t i = bi->n_schemas * b->n_sets; i < c->n_schemas * b->n_sets; i++)
		bi->bound[i] = bind_metric(&c->schemas[i / b->n_sets], b->sets[i % b->n_sets].name,
			b->opt->raw, &bi->binds[i]);
	for (uint32_t id = (uint32_t)bi->n_components; id < c->n_components; id++) {
		uint32_t row = component_wanted(b, c, id) ? NO_ROW : UNWANTED;

		for (size_t set = 0; set < b->n_sets; set++)
			bi->rows[id * b->n_sets + set] = row;
	}
	bi->n_schemas = c->n_schemas;
	bi->n_components = c->n_components;
	return 0;
}

static int binding_row(struct lp_table_builder *b, const struct lp_catalogue *c, uint32_t id,
	size_t set, struct row **ret)
{
	uint32_t *row = &b->binding.rows[id * b->n_sets + set];

	if (*row == NO_ROW) {
		const struct bind *bind =
			&b->binding.binds[c->components[id].schema * b->n_sets + set];
		struct column_set *s = &b->sets[set];
		char name[1024];

		lp_component_name(c, id, name, sizeof(name));
		if (set_row(s, name, row) < 0)
			return -ENOMEM;
		if (!s->unit[0]) {
			free(s->unit);
			s->unit = strdup(unit_of(&c->schemas[c->components[id].schema], bind));
			if (!s->unit)
				return -ENOMEM;
		}
	}
	*ret = &b->sets[set].rows[*row];
	return 0;
}

/* Room in a row for `slot`; slots that nothing is known of are NaN. */
static int row_reserve(struct lp_table_builder *b, struct row *row, int64_t slot)
{
	int64_t first = row->n && row->first < slot ? row->first : slot;
	int64_t last = row->n && row->first + (int64_t)row->n - 1 > slot
		? row->first + (int64_t)row->n - 1
		: slot;
	uint64_t need = (uint64_t)(last - first) + 1;
	size_t cap = row->cap, shift = row->n ? (size_t)(row->first - first) : 0;

	if (need > b->bytes_max / sizeof(double))
		return -EFBIG;
	if (array_reserve(&row->values, &row->cap, need, sizeof(double)) < 0)
		return -ENOMEM;
	b->bytes += (row->cap - cap) * sizeof(double);
	if (b->bytes > b->bytes_max)
		return -EFBIG;
	if (shift)
		memmove(row->values + shift, row->values, row->n * sizeof(double));
	for (size_t i = 0; i < shift; i++)
		row->values[i] = NAN;
	for (size_t i = row->n + shift; i < need; i++)
		row->values[i] = NAN;
	row->first = first;
	row->n = need;
	return 0;
}

/* The slot at hand is complete: put its value into the row. */
static int row_emit(struct lp_table_builder *b, struct row *row, const struct bind *bind,
	const struct lp_schema *schema)
{
	int r = 0;

	if (row->slot != NO_SLOT && row->acc.n) {
		r = row_reserve(b, row, row->slot);
		if (r == 0)
			row->values[row->slot - row->first] = bind_value(bind, schema, &row->acc);
	}
	row->acc = (struct bind_acc){0};
	row->slot = NO_SLOT;
	return r;
}

/* The slot whose step (slot - 1, slot] holds a sample of that time. Samples come a little late or
 * early: half an interval of tolerance puts each on the instant it was meant for. */
static int64_t slot_of(int64_t wall_us, int64_t step_us, int64_t tolerance_us)
{
	return -floor_div(-(wall_us - tolerance_us), step_us);
}

/* What add_row() needs to know of the batch. */
struct add {
	struct lp_table_builder *b;
	const struct lp_batch *batch;
	const struct lp_batch_kind *kind;
	const struct lp_schema *schema;
	int64_t tolerance_us;
};

/* Is there a difference to take between sample s and the one before it? */
static bool has_predecessor(const uint8_t *state, uint32_t s)
{
	return s > 0 && state[s - 1] & LP_PRESENT && !(state[s] & LP_FRESH);
}

static bool in_time(const struct lp_table_options *opt, int64_t wall_us)
{
	return wall_us >= opt->from_us && (!opt->to_us || wall_us < opt->to_us);
}

/* One component's samples of one metric. */
static int add_row(const struct add *a, struct row *row, const struct bind *bind, uint32_t at)
{
	const struct lp_batch *batch = a->batch;
	size_t base = (size_t)at * batch->cap_samples;
	const uint8_t *state = a->kind->state + base;
	int r;

	for (uint32_t s = batch->carry ? 1 : 0; s < batch->n_samples; s++) {
		int64_t wall = batch->wall_us[s], slot;
		double dt_s = s ? (double)(batch->mono_us[s] - batch->mono_us[s - 1]) / 1e6 : 0;

		if (!(state[s] & LP_PRESENT) || !in_time(a->b->opt, wall) ||
			(bind->has_counters && !has_predecessor(state, s)))
			continue;
		slot = slot_of(wall, a->b->opt->step_us, a->tolerance_us);
		if (slot != row->slot || wall <= row->last_wall) {
			/* A repeat begins its slot anew: the later wins. */
			if (slot == row->slot)
				row->acc = (struct bind_acc){0};
			r = row_emit(a->b, row, bind, a->schema);
			if (r < 0)
				return r;
			row->slot = slot;
		}
		row->last_wall = wall;
		bind_add(bind, a->schema, a->kind, base + s, dt_s, &row->acc);
	}
	/* The slot may go on in the next batch, unless that is of another schema or source: its
	 * value is put in place now and again when it has grown. */
	if (row->slot != NO_SLOT && row->acc.n) {
		r = row_reserve(a->b, row, row->slot);
		if (r < 0)
			return r;
		row->values[row->slot - row->first] = bind_value(bind, a->schema, &row->acc);
	}
	return 0;
}

static int add_kind(struct add *a, const struct lp_catalogue *c)
{
	struct lp_table_builder *b = a->b;

	a->schema = &c->schemas[a->kind->schema];
	for (size_t set = 0; set < b->n_sets; set++) {
		size_t at = a->kind->schema * b->n_sets + set;

		if (!b->binding.bound[at])
			continue;
		for (uint32_t i = 0; i < a->kind->n_components; i++) {
			struct row *row;
			int r = 0;

			if (b->binding.rows[a->kind->ids[i] * b->n_sets + set] == UNWANTED)
				continue;
			r = binding_row(b, c, a->kind->ids[i], set, &row);
			if (r == 0)
				r = add_row(a, row, &b->binding.binds[at], i);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int lp_table_builder_add(struct lp_table_builder *b, const struct lp_source *source,
	const struct lp_batch *batch, struct lp_err *err)
{
	int64_t interval = source->interval_us ? source->interval_us : b->opt->step_us;
	struct add a = {.b = b, .batch = batch};
	int r;

	a.tolerance_us = (interval < b->opt->step_us ? interval : b->opt->step_us) / 2;
	if (b->binding.catalogue != source->catalogue->serial) {
		b->binding.catalogue = source->catalogue->serial;
		b->binding.n_schemas = b->binding.n_components = 0;
	}
	r = binding_extend(b, source->catalogue);
	for (uint32_t i = 0; r == 0 && i < batch->n_kinds; i++) {
		a.kind = &batch->kinds[i];
		r = add_kind(&a, source->catalogue);
	}
	if (r == -EFBIG)
		return lp_err_set(err, r,
			"the table would need more than %" PRIu64
			" MiB; choose a time range or a longer interval (is a clock in %s far "
			"off?)",
			b->bytes_max >> 20, source->path);
	return r < 0 ? lp_err_sys(err, r, "cannot build a table") : 0;
}

/* The grid that all rows of all sets fit on. */
static bool grid_of(const struct lp_table_builder *b, int64_t *ret_first, int64_t *ret_last)
{
	bool any = false;

	for (size_t s = 0; s < b->n_sets; s++) {
		for (size_t i = 0; i < b->sets[s].n_rows; i++) {
			const struct row *row = &b->sets[s].rows[i];

			if (!row->n)
				continue;
			if (!any || row->first < *ret_first)
				*ret_first = row->first;
			if (!any || row->first + (int64_t)row->n - 1 > *ret_last)
				*ret_last = row->first + (int64_t)row->n - 1;
			any = true;
		}
	}
	return any;
}

/* Move a row's values into the table. */
static void table_take_row(struct lp_table *t, uint32_t i, int64_t first, struct row *row)
{
	double *values = t->values + (size_t)i * t->n_slots;

	for (uint32_t slot = 0; slot < t->n_slots; slot++)
		values[slot] = NAN;
	if (row->n)
		memcpy(values + (row->first - first), row->values, row->n * sizeof(double));
	t->components[i] = TAKE_PTR(row->name);
	free(row->values);
	row->values = NULL;
	row->n = 0;
}

static struct lp_table *table_make(
	struct lp_table_builder *b, struct column_set *s, int64_t first, uint32_t n_slots)
{
	struct lp_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->metric = TAKE_PTR(s->name);
	t->unit = TAKE_PTR(s->unit);
	t->step_us = b->opt->step_us;
	t->start_us = first * t->step_us;
	t->n_slots = n_slots;
	t->components = calloc(s->n_rows + 1, sizeof(*t->components));
	t->values = calloc(s->n_rows * n_slots + 1, sizeof(*t->values));
	if (!t->components || !t->values) {
		lp_table_free(t);
		return NULL;
	}
	t->n_components = (uint32_t)s->n_rows;
	for (uint32_t i = 0; i < t->n_components; i++)
		table_take_row(t, i, first, &s->rows[i]);
	return t;
}

int lp_table_builder_finish(struct lp_table_builder *b, struct lp_table ***ret_tables,
	uint32_t *ret_n, struct lp_err *err)
{
	int64_t first = 0, last = -1;
	struct lp_table **tables = calloc(b->n_sets + 1, sizeof(*tables));
	uint32_t n = 0;
	bool ok = tables != NULL;

	if (ok)
		grid_of(b, &first, &last);
	if (ok && last - first >= UINT32_MAX)
		ok = false;
	for (size_t s = 0; ok && s < b->n_sets; s++) {
		if (!b->sets[s].n_rows)
			continue;
		tables[n] = table_make(b, &b->sets[s], first, (uint32_t)(last - first + 1));
		ok = tables[n] != NULL;
		n += ok;
	}
	if (!ok) {
		while (n)
			lp_table_free(tables[--n]);
		free(tables);
		return lp_err_sys(err, -ENOMEM, "cannot build a table");
	}
	*ret_tables = tables;
	*ret_n = n;
	return 0;
}
