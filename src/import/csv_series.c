#include "import/csv_series.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_COMPONENT UINT32_MAX

int csv_series_init(struct csv_series *s, struct lp_catalogue *catalogue,
	const struct lp_select *select, const struct csv_layout *layout, struct lp_err *err)
{
	*s = (struct csv_series){.catalogue = catalogue, .select = select, .layout = layout};
	s->keys.max = s->names.max = CSV_COMPONENTS_MAX;
	s->kind_names.max = CSV_KINDS_MAX;
	s->metrics.max = CSV_METRICS_MAX;
	for (size_t i = 0; layout->wide && i < layout->n_values; i++) {
		const char *metric = layout->values[i].metric;
		uint32_t number;

		if (csv_intern_get(&s->metrics, metric, strlen(metric), &number) < 0)
			return lp_err_sys(err, -ENOMEM, "cannot add metric %s", metric);
	}
	return 0;
}

void csv_series_release(struct csv_series *s)
{
	for (size_t i = 0; i < s->kind_names.n; i++)
		free(s->kinds[i].column_of);
	free(s->kinds);
	free(s->components);
	free(s->component_of);
	csv_intern_release(&s->keys);
	csv_intern_release(&s->names);
	csv_intern_release(&s->kind_names);
	csv_intern_release(&s->metrics);
	strbuf_release(&s->key);
	strbuf_release(&s->name);
	*s = (struct csv_series){0};
}

/* No control characters: names are printed. */
static bool text_is_clean(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	}
	return true;
}

/* Find the kind in "observer/kind:name"; false if it is not such a name. */
static bool name_split(const char *name, size_t len, const char **ret_kind, size_t *ret_len)
{
	const char *slash = memchr(name, '/', len);
	const char *kind = slash ? slash + 1 : NULL;
	const char *colon = kind ? memchr(kind, ':', len - (size_t)(kind - name)) : NULL;

	if (!colon || slash == name || colon == kind || colon + 1 == name + len ||
		memchr(kind, '/', (size_t)(colon - kind)))
		return false;
	*ret_kind = kind;
	*ret_len = (size_t)(colon - kind);
	return true;
}

/* Add a column to a kind. */
static int kind_add_column(struct csv_kind *k, uint32_t metric)
{
	if (array_reserve(&k->column_of, &k->cap_column_of, (size_t)metric + 1,
		    sizeof(*k->column_of)) < 0)
		return -ENOMEM;
	k->metrics[k->n_columns] = metric;
	k->column_of[metric] = (uint16_t)++k->n_columns;
	k->published = false;
	return 0;
}

static int series_kind(
	struct csv_series *s, const char *name, size_t len, uint32_t *ret_kind, struct lp_err *err)
{
	int r = array_reserve(&s->kinds, &s->cap_kinds, s->kind_names.n + 1, sizeof(*s->kinds));

	if (r == 0)
		r = csv_intern_get(&s->kind_names, name, len, ret_kind);
	if (r == 1 && s->layout->wide) {
		for (uint32_t i = 0; r >= 0 && i < s->metrics.n; i++)
			r = kind_add_column(&s->kinds[*ret_kind], i);
	}
	if (r == -E2BIG)
		return lp_err_set(err, r, "kind '%.*s' is one too many (at most %d)", (int)len,
			name, CSV_KINDS_MAX);
	return r < 0 ? lp_err_sys(err, r, "cannot add kind %.*s", (int)len, name) : 0;
}

static int component_check(const char *name, size_t len, const char **ret_kind,
	size_t *ret_kind_len, struct lp_err *err)
{
	if (len > CSV_NAME_MAX || !text_is_clean(name, len))
		return lp_err_set(err, -EBADMSG,
			"the component's name is longer than %d bytes or has control characters",
			CSV_NAME_MAX);
	if (!name_split(name, len, ret_kind, ret_kind_len))
		return lp_err_set(err, -EBADMSG,
			"component '%.64s' is not of the form observer/kind:name (for instance "
			"oss3/disk:sdb)",
			name);
	return 0;
}

/* limpet writes a guard before names that a spreadsheet would treat as formulas. It is not part of
 * the name.
 */
static size_t guard_length(const char *name, size_t len)
{
	return len > 1 && name[0] == '\'' && strchr("=+-@", name[1]) ? 1 : 0;
}

/* Add the component with the name in `s->name`, if it is new. */
static int series_define(struct csv_series *s, uint32_t *ret_component, struct lp_err *err)
{
	size_t guard = guard_length(s->name.text, s->name.len), len = s->name.len - guard;
	const char *name = s->name.text ? s->name.text + guard : "", *kind_name = NULL;
	size_t kind_len = 0;
	uint32_t kind = 0, component = 0;
	int r = component_check(name, len, &kind_name, &kind_len, err);

	if (r == 0)
		r = series_kind(s, kind_name, kind_len, &kind, err);
	if (r < 0)
		return r;
	r = array_reserve(
		&s->components, &s->cap_components, s->names.n + 1, sizeof(*s->components));
	if (r == 0)
		r = csv_intern_get(&s->names, name, len, &component);
	if (r < 0)
		return lp_err_sys(err, r, "cannot add component %.64s", name);
	if (r == 1)
		s->components[component] = (struct csv_component){.kind = kind, .wanted = true};
	*ret_component = component;
	/* In the wide form the columns are known, so the selection can be checked before parsing
	 * values. */
	return s->layout->wide ? csv_series_resolve(s, component, err) : 0;
}

/* The number of the key of a row. Its component is NO_COMPONENT if it is new. */
static int series_key(
	struct csv_series *s, const struct csv_field *fields, uint32_t *ret_key, struct lp_err *err)
{
	struct csv_field key = csv_template_key(&s->layout->component, fields, &s->key);
	int r;

	if (key.len > CSV_NAME_MAX)
		return lp_err_set(err, -EBADMSG, "the component's name is longer than %d bytes",
			CSV_NAME_MAX);
	r = array_reserve(
		&s->component_of, &s->cap_component_of, s->keys.n + 1, sizeof(*s->component_of));
	if (r == 0)
		r = csv_intern_get(&s->keys, key.text, key.len, ret_key);
	if (r == -E2BIG)
		return lp_err_set(
			err, r, "the component is one too many (at most %d)", CSV_COMPONENTS_MAX);
	if (r < 0)
		return lp_err_sys(err, r, "cannot add a component");
	if (r == 1)
		s->component_of[*ret_key] = NO_COMPONENT;
	return 0;
}

int csv_series_component(struct csv_series *s, const struct csv_field *fields,
	uint32_t *ret_component, struct lp_err *err)
{
	uint32_t key = 0;
	int r = series_key(s, fields, &key, err);

	if (r < 0)
		return r;
	if (s->component_of[key] == NO_COMPONENT) {
		csv_template_expand(&s->layout->component, fields, &s->name);
		if (s->name.failed)
			return lp_err_sys(err, -ENOMEM, "cannot add a component");
		r = series_define(s, &s->component_of[key], err);
	}
	if (r == 0)
		*ret_component = s->component_of[key];
	return r;
}

int csv_series_column(struct csv_series *s, uint32_t component, const struct csv_field *metric,
	uint16_t *ret_column, struct lp_err *err)
{
	struct csv_kind *k = &s->kinds[s->components[component].kind];
	size_t guard = guard_length(metric->text, metric->len);
	uint32_t number;
	int r;

	if (!metric->len || metric->len > CSV_NAME_MAX || !text_is_clean(metric->text, metric->len))
		return lp_err_set(err, -EBADMSG,
			"the metric's name is empty, longer than %d bytes or has control "
			"characters",
			CSV_NAME_MAX);
	r = csv_intern_get(&s->metrics, metric->text + guard, metric->len - guard, &number);
	if (r == -E2BIG)
		return lp_err_set(err, r, "more than %d metrics", CSV_METRICS_MAX);
	if (r < 0)
		return lp_err_sys(err, r, "cannot add a metric");
	if (number >= k->cap_column_of || !k->column_of[number]) {
		if (k->n_columns >= LP_COLUMNS_MAX)
			return lp_err_set(err, -E2BIG,
				"metric '%.64s' is one too many (at most %d per %s)",
				csv_intern_text(&s->metrics, number), LP_COLUMNS_MAX,
				csv_intern_text(&s->kind_names, s->components[component].kind));
		if (kind_add_column(k, number) < 0)
			return lp_err_sys(err, -ENOMEM, "cannot add a metric");
	}
	*ret_column = (uint16_t)(k->column_of[number] - 1);
	return 0;
}

/* Add a kind with its current columns to the catalogue. */
static int kind_publish(struct csv_series *s, uint32_t kind, struct lp_err *err)
{
	struct csv_kind *k = &s->kinds[kind];
	struct lp_column columns[LP_COLUMNS_MAX];
	struct lp_schema schema = {.kind = csv_intern_text(&s->kind_names, kind),
		.columns = columns,
		.n_columns = k->n_columns};
	int r;

	for (uint32_t i = 0; i < k->n_columns; i++) {
		const char *metric = csv_intern_text(&s->metrics, k->metrics[i]);

		columns[i] = (struct lp_column){.name = metric,
			.unit = csv_layout_unit(s->layout, metric),
			.type = LP_REAL};
	}
	r = lp_catalogue_add_schema(s->catalogue, &schema, &k->schema, err);
	if (r < 0)
		return r;
	memset(k->wanted, 0, sizeof(k->wanted));
	for (uint32_t i = 0; i < k->n_columns; i++) {
		if (!s->select || !s->select->column ||
			s->select->column(s->select->ctx, &s->catalogue->schemas[k->schema], i))
			k->wanted[i / 64] |= UINT64_C(1) << (i % 64);
	}
	k->published = true;
	return 0;
}

/* Add a component to the catalogue, with the current schema of its kind. */
static int component_publish(struct csv_series *s, uint32_t component, struct lp_err *err)
{
	struct csv_component *c = &s->components[component];
	struct lp_identity *identity = lp_identity_parse(csv_intern_text(&s->names, component));
	int r;

	if (!identity)
		return lp_err_sys(err, -ENOMEM, "cannot add a component");
	c->schema = s->kinds[c->kind].schema;
	r = lp_catalogue_add_component(
		s->catalogue, c->schema, identity->observer, identity->name, NULL, &c->id, err);
	lp_identity_unref(identity);
	return r;
}

int csv_series_resolve(struct csv_series *s, uint32_t component, struct lp_err *err)
{
	struct csv_component *c = &s->components[component];
	struct csv_kind *k = &s->kinds[c->kind];
	int r = k->published ? 0 : kind_publish(s, c->kind, err);

	if (r < 0 || (c->resolved && (c->schema == k->schema || !c->wanted)))
		return r;
	r = component_publish(s, component, err);
	if (r < 0)
		return r;
	if (!c->resolved && s->select && s->select->component)
		c->wanted = s->select->component(s->select->ctx, s->catalogue, c->id);
	c->resolved = true;
	return 0;
}
