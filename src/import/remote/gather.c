#include "import/remote/gather.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/safe_text.h"
#include "import/importer.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define COMPONENTS_MAX 1000000
#define INTEGER_MAX 9e18
#define NAME_BYTES_MAX 255

void gather_release(struct gather *g)
{
	for (size_t i = 0; i < g->n_targets; i++) {
		free(g->targets[i].instance);
		free(g->targets[i].cells);
	}
	for (size_t i = 0; i < g->n_components; i++)
		free(g->components[i].owners);
	for (size_t i = 0; g->groups && i < g->mapping->n_groups; i++)
		free(g->groups[i].place);
	free(g->targets);
	free(g->components);
	free(g->groups);
	strmap_release(&g->targets_by_key);
	strmap_release(&g->components_by_key);
	strmap_release(&g->said);
	strmap_release(&g->groups_by_component);
	strbuf_release(&g->name);
	strbuf_release(&g->observer);
	strbuf_release(&g->key);
	lp_batch_free(g->batch);
	*g = (struct gather){0};
}

static int out_of_memory(const struct gather *g, struct lp_err *err)
{
	return lp_err_sys(err, -ENOMEM, "cannot read %s", g->path);
}

/* Warn once per key. */
static void say(struct gather *g, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct gather *g, const char *key, const char *fmt, ...)
{
	char text[400];
	uint32_t ignored;
	va_list ap;

	if (strmap_get(&g->said, key, &ignored) || strmap_put(&g->said, key, 0) < 0)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	safe_text_make(text);
	lp_warn_raise(g->warn, "%s: %s", g->path, text);
}

static bool metric_present(const struct strmap *present, const char *name)
{
	uint32_t ignored;

	return !name || !present || strmap_get(present, name, &ignored);
}

/* The column of a schema for a column of the mapping. */
static struct lp_column column_make(const struct mapping_column *c)
{
	if (c->own.name)
		return c->own;
	return (struct lp_column){c->column, c->unit ? c->unit : "", LP_REAL, 0};
}

/* Find the columns of a group that have existing metrics. A column that two metrics can fill
 * (exporters rename them) is added once. */
static int group_init(
	struct gather *g, size_t number, const struct strmap *present, struct lp_err *err)
{
	const struct mapping_group *m = &g->mapping->groups[number];
	struct gather_group *to = &g->groups[number];

	to->place = calloc(m->n_columns + 1, sizeof(*to->place));
	if (!to->place)
		return out_of_memory(g, err);
	to->certain = present != NULL;
	for (size_t i = 0; i < m->n_columns; i++) {
		const struct mapping_column *c = &m->columns[i];

		to->place[i] = -1;
		if (!metric_present(present, c->metric) || !metric_present(present, c->per))
			continue;
		for (size_t k = 0; k < i; k++) {
			if (!strcmp(m->columns[k].column, c->column))
				to->place[i] = to->place[k];
		}
		if (to->place[i] < 0 && to->n_columns < LP_COLUMNS_MAX)
			to->place[i] = (int)to->n_columns++;
	}
	return 0;
}

/* Add the schema of a group to the catalogue when its first component appears. */
static int group_publish(struct gather *g, size_t number, struct lp_err *err)
{
	const struct mapping_group *m = &g->mapping->groups[number];
	struct gather_group *to = &g->groups[number];
	struct lp_column columns[LP_COLUMNS_MAX];
	const struct lp_schema schema = {m->kind, columns, to->n_columns};
	int r = 0;

	if (to->published)
		return 0;
	for (size_t i = m->n_columns; i-- > 0;) {
		if (to->place[i] >= 0)
			columns[to->place[i]] = column_make(&m->columns[i]);
	}
	r = lp_catalogue_add_schema(g->catalogue, &schema, &to->schema, err);
	to->published = r == 0;
	return r;
}

int gather_init(struct gather *g, const struct mapping *mapping, struct lp_catalogue *catalogue,
	const struct strmap *present, struct lp_warn *warn, const char *path, struct lp_err *err)
{
	int r = 0;

	g->mapping = mapping;
	g->catalogue = catalogue;
	g->warn = warn;
	g->path = path;
	g->groups = calloc(mapping->n_groups + 1, sizeof(*g->groups));
	if (!g->groups)
		return out_of_memory(g, err);
	for (size_t i = 0; r == 0 && i < mapping->n_groups; i++)
		r = group_init(g, i, present, err);
	return r;
}

/* Append a name, unless it is already there. */
static void name_add(struct strmap *seen, const char *name, const char *behind, struct strbuf *to)
{
	uint32_t ignored;

	if (strmap_get(seen, name, &ignored))
		return;
	strbuf_printf(to, "%s%s%s", to->len ? "|" : "", name, behind);
	to->failed |= strmap_put(seen, name, 0) < 0;
}

void gather_names(const struct gather *g, struct strbuf *to)
{
	struct strmap seen = {0};

	for (size_t i = 0; i < g->mapping->n_groups; i++) {
		const struct mapping_group *m = &g->mapping->groups[i];
		bool all = m->prefix && !g->groups[i].certain;

		/* With hundreds of names the address would be too long for proxies. */
		if (all)
			name_add(&seen, m->prefix, ".+", to);
		for (size_t c = 0; !all && c < m->n_columns; c++) {
			const char *names[] = {m->columns[c].metric, m->columns[c].per};

			for (int k = 0; g->groups[i].place[c] >= 0 && k < 2 && names[k]; k++)
				name_add(&seen, names[k], "", to);
		}
	}
	strmap_release(&seen);
}

void gather_begin(struct gather *g, int64_t from_ms)
{
	g->from_ms = from_ms;
	g->n_samples = 0;
	g->next = 0;
}

void gather_drop(struct gather *g)
{
	for (size_t i = 0; i < g->n_targets; i++)
		g->targets[i].n = g->targets[i].n_carried;
}

static int target_find(
	struct gather *g, const struct gather_input *s, uint32_t *ret, struct lp_err *err)
{
	const char *job = s->label(s->series, "job"), *instance = s->label(s->series, "instance");

	strbuf_reset(&g->key);
	strbuf_printf(&g->key, "%s\x1f%s", job ? job : "", instance ? instance : "");
	if (!g->key.failed && strmap_get(&g->targets_by_key, g->key.text, ret))
		return 0;
	if (g->key.failed ||
		array_reserve(&g->targets, &g->cap_targets, g->n_targets + 1, sizeof(*g->targets)) <
			0 ||
		strmap_put(&g->targets_by_key, g->key.text, (uint32_t)g->n_targets) < 0)
		return out_of_memory(g, err);
	*ret = (uint32_t)g->n_targets;
	g->targets[g->n_targets].delivered_ms = INT64_MIN;
	g->targets[g->n_targets].instance = strdup(instance ? instance : "");
	return g->targets[g->n_targets++].instance ? 0 : out_of_memory(g, err);
}

/* "oss3:9100" is the host oss3. */
static void port_cut(struct strbuf *observer)
{
	char *colon = strrchr(observer->text, ':');

	if (!colon || colon == observer->text || !colon[1] ||
		colon[1 + strspn(colon + 1, "0123456789")])
		return;
	observer->len = (size_t)(colon - observer->text);
	*colon = '\0';
}

/* Names are parts of "observer/kind:name". */
static bool observer_clean(struct strbuf *observer)
{
	for (char *p = observer->text; *p; p++) {
		if (*p == '/')
			*p = '_';
	}
	return observer->len && observer->len <= NAME_BYTES_MAX;
}

static int component_add(struct gather *g, uint32_t group, uint32_t *ret, struct lp_err *err)
{
	struct gather_component c = {.group = group};
	int r;

	if (g->n_components == COMPONENTS_MAX)
		return lp_err_set(
			err, -E2BIG, "%s: more than %d components", g->path, COMPONENTS_MAX);
	r = group_publish(g, group, err);
	if (r < 0)
		return r;
	r = lp_catalogue_add_component(g->catalogue, g->groups[group].schema, g->observer.text,
		g->name.text, "", &c.id, err);
	if (r < 0)
		return r;
	c.owners = calloc(2 * g->mapping->groups[group].n_columns, sizeof(*c.owners));
	if (!c.owners ||
		array_reserve(&g->components, &g->cap_components, g->n_components + 1,
			sizeof(*g->components)) < 0 ||
		strmap_put(&g->components_by_key, g->key.text, (uint32_t)g->n_components) < 0) {
		free(c.owners);
		return out_of_memory(g, err);
	}
	*ret = (uint32_t)g->n_components;
	g->components[g->n_components++] = c;
	return 0;
}

/* Did both an exporter and limpet itself send this component? Their counters must not be mixed.
 */
static int component_is_twofold(struct gather *g, uint32_t group, bool *ret, struct lp_err *err)
{
	const struct mapping_group *m = &g->mapping->groups[group];
	_cleanup_(strbuf_release) struct strbuf key = {0};
	uint32_t first = group;

	strbuf_printf(&key, "%s\x1f%s\x1f%s", m->kind, g->observer.text, g->name.text);
	if (key.failed ||
		(!strmap_get(&g->groups_by_component, key.text, &first) &&
			strmap_put(&g->groups_by_component, key.text, group) < 0))
		return out_of_memory(g, err);
	*ret = !g->mapping->groups[first].prefix != !m->prefix;
	if (*ret)
		say(g, m->kind,
			"the %s of %s come both from an exporter and from limpet; the first count "
			"(choose with ?match=job=\"limpet\" or ?match=job!=\"limpet\")",
			m->kind, g->observer.text);
	return 0;
}

/* Find the component with the prepared name and observer. */
static int component_find(struct gather *g, uint32_t group, uint32_t *ret, struct lp_err *err)
{
	strbuf_reset(&g->key);
	strbuf_printf(&g->key, "%u\x1f%s\x1f%s", group, g->observer.text, g->name.text);
	if (g->key.failed)
		return out_of_memory(g, err);
	if (strmap_get(&g->components_by_key, g->key.text, ret))
		return 0;
	return component_add(g, group, ret, err);
}

/* The component of a series. 1, or 0 if there is none: a label is missing, or it belongs to another
 * target. */
static int series_component(struct gather *g, const struct gather_input *s, uint32_t group,
	uint32_t input, uint32_t target, uint32_t *ret, struct lp_err *err)
{
	const struct mapping_group *m = &g->mapping->groups[group];
	const char *observer = m->observer ? m->observer : "{instance}";
	bool twofold = false;
	uint32_t owner;
	int r;

	if (!mapping_expand(m->name, s->label, s->series, &g->name) ||
		g->name.len > NAME_BYTES_MAX ||
		!mapping_expand(observer, s->label, s->series, &g->observer))
		return 0;
	port_cut(&g->observer);
	if (!observer_clean(&g->observer))
		return 0;
	r = component_is_twofold(g, group, &twofold, err);
	if (r < 0 || twofold)
		return r;
	r = component_find(g, group, ret, err);
	if (r < 0)
		return r;
	owner = g->components[*ret].owners[input];
	if (owner && owner != target + 1 &&
		strcmp(g->targets[owner - 1].instance, g->targets[target].instance) != 0 &&
		!m->observer) {
		/* If one host has two targets, the port distinguishes them. */
		mapping_expand(observer, s->label, s->series, &g->observer);
		observer_clean(&g->observer);
		r = component_find(g, group, ret, err);
		if (r < 0)
			return r;
		owner = g->components[*ret].owners[input];
	}
	if (owner && owner != target + 1) {
		const char *metric = s->label(s->series, "__name__");

		say(g, metric ? metric : "",
			"%s of %s is scraped more than once; the first counts (choose with "
			"?match=job=\"NAME\")",
			metric ? metric : "", g->observer.text);
		return 0;
	}
	g->components[*ret].owners[input] = target + 1;
	return 1;
}

static int cells_add(struct gather *g, const struct gather_input *s, uint32_t target,
	uint32_t component, uint32_t input, struct lp_err *err)
{
	struct gather_target *t = &g->targets[target];
	size_t n = s->n;

	if (array_reserve(&t->cells, &t->cap, t->n + n, sizeof(*t->cells)) < 0)
		return out_of_memory(g, err);
	for (size_t i = 0; i < n; i++) {
		struct gather_cell *c = &t->cells[t->n];

		if (s->sample(s->series, i, &c->ms, &c->value) != 1)
			return lp_err_set(err, -EBADMSG,
				"%s: sample %zu of a series is not [seconds, \"value\"]", g->path,
				i);
		if (c->ms < g->from_ms || c->ms <= t->delivered_ms || isnan(c->value))
			continue;
		c->component = component;
		c->input = input;
		t->n++;
		g->n_samples++;
	}
	return 0;
}

/* Use a series for one input of a column. */
static int series_use(struct gather *g, const struct gather_input *s, uint32_t group,
	uint32_t input, struct lp_err *err)
{
	uint32_t target = 0, component = 0;
	int r = target_find(g, s, &target, err);

	if (r < 0)
		return r;
	r = series_component(g, s, group, input, target, &component, err);
	return r <= 0 ? r : cells_add(g, s, target, component, input, err);
}

int gather_take(struct gather *g, const struct gather_input *in, struct lp_err *err)
{
	const char *metric = in->label(in->series, "__name__");
	int r = 0;

	for (uint32_t i = 0; metric && r == 0 && i < g->mapping->n_groups; i++) {
		const struct mapping_group *m = &g->mapping->groups[i];
		int matches = -1; /* not checked yet */

		if (m->prefix && strncmp(metric, m->prefix, strlen(m->prefix)) != 0)
			continue;
		for (uint32_t c = 0; r == 0 && c < m->n_columns; c++) {
			const struct mapping_column *col = &m->columns[c];
			bool value = !strcmp(col->metric, metric);
			bool per = col->per && !strcmp(col->per, metric);

			if (g->groups[i].place[c] < 0 || (!value && !per))
				continue;
			if (matches < 0)
				matches = mapping_matches(&m->where, in->label, in->series);
			if (!matches || !mapping_matches(&col->where, in->label, in->series))
				continue;
			if (value)
				r = series_use(g, in, i, 2 * c, err);
			if (per && r == 0)
				r = series_use(g, in, i, 2 * c + 1, err);
		}
	}
	return r;
}

static int sample_of_answer(const void *series, size_t i, int64_t *ret_ms, double *ret_value)
{
	return answer_sample(series, i, ret_ms, ret_value);
}

int gather_series(struct gather *g, const struct answer_series *s, struct lp_err *err)
{
	const struct gather_input in = {.label = answer_label,
		.series = s,
		.sample = sample_of_answer,
		.n = json_array_size(s->values)};

	return gather_take(g, &in, err);
}

static int compare_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The distinct times of the cells of a target, in order. NULL: out of memory. */
static int64_t *target_times(const struct gather_target *t, size_t *ret_n)
{
	int64_t *times = malloc((t->n + 1) * sizeof(*times));
	size_t n = 0;

	for (size_t i = 0; times && i < t->n; i++)
		times[i] = t->cells[i].ms;
	if (times && t->n)
		qsort(times, t->n, sizeof(*times), compare_i64);
	for (size_t i = 0; times && i < t->n; i++) {
		if (!n || times[n - 1] != times[i])
			times[n++] = times[i];
	}
	*ret_n = n;
	return times;
}

/* The values of the inputs of all components of a target: [component][input][time]. */
struct matrix {
	const int64_t *times;
	size_t n_times;
	double *values;
	size_t *begins; /* [place] of a component's values */
	uint32_t *components;
	size_t n;
};

static void matrix_release(struct matrix *m)
{
	free(m->values);
	free(m->begins);
	free(m->components);
}

static size_t time_find(const struct matrix *m, int64_t ms)
{
	size_t low = 0, high = m->n_times;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (m->times[middle] <= ms)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Assign a place to each component of the cells. */
static int matrix_places(struct matrix *m, struct gather *g, const struct gather_target *t)
{
	size_t cap_begins = 0, cap_components = 0, total = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct gather_component *c = &g->components[t->cells[i].component];

		if (c->place)
			continue;
		if (array_reserve(&m->begins, &cap_begins, m->n + 1, sizeof(*m->begins)) < 0 ||
			array_reserve(&m->components, &cap_components, m->n + 1,
				sizeof(*m->components)) < 0)
			return -ENOMEM;
		m->begins[m->n] = total;
		m->components[m->n++] = t->cells[i].component;
		c->place = m->n;
		total += 2 * g->mapping->groups[c->group].n_columns * m->n_times;
	}
	m->values = malloc((total + 1) * sizeof(*m->values));
	for (size_t i = 0; m->values && i < total; i++)
		m->values[i] = NAN;
	return m->values ? 0 : -ENOMEM;
}

static int matrix_fill(struct matrix *m, struct gather *g, const struct gather_target *t)
{
	int r = matrix_places(m, g, t);

	for (size_t i = 0; r == 0 && i < t->n; i++) {
		const struct gather_cell *cell = &t->cells[i];
		const struct gather_component *c = &g->components[cell->component];
		const struct mapping_column *col =
			&g->mapping->groups[c->group].columns[cell->input / 2];
		double *to = &m->values[m->begins[c->place - 1] + cell->input * m->n_times +
			time_find(m, cell->ms)];

		if (isnan(*to) || col->sum)
			*to = isnan(*to) ? cell->value : *to + cell->value;
		else
			say(g, col->metric,
				"several series of %s are the same component; the first counts "
				"(a mapping with 'name', 'where' or 'sum' separates them)",
				col->metric);
	}
	for (size_t i = 0; i < m->n; i++)
		g->components[m->components[i]].place = 0;
	return r;
}

/* The growth of a counter at a time; NaN: unknown. */
static double growth(const double *values, size_t at)
{
	return at && values[at] >= values[at - 1] ? values[at] - values[at - 1] : NAN;
}

static int64_t cell_of(const struct mapping_column *c, const double *value, const double *per,
	size_t at, const struct matrix *m)
{
	double x;

	if (c->own.name) {
		x = value[at] * c->scale;
		return fabs(x) < INTEGER_MAX ? llround(x) : LP_MISSING;
	}
	if (c->type == MAPPING_GAUGE)
		return lp_cell_from_real(value[at] * c->scale);
	x = growth(value, at);
	if (c->per)
		x = growth(per, at) > 0 ? x / growth(per, at) : NAN;
	else
		x = at ? x * 1000 / (double)(m->times[at] - m->times[at - 1]) : NAN;
	return lp_cell_from_real(x * c->scale);
}

static bool cell_is_missing(const struct mapping_column *c, int64_t cell)
{
	return c->own.name ? cell == LP_MISSING : isnan(lp_cell_to_real(cell));
}

/* Write the columns of a component into the batch. */
static void component_put(
	struct gather *g, const struct matrix *m, size_t number, const struct lp_batch_kind *k)
{
	const struct gather_component *c = &g->components[m->components[number]];
	const struct mapping_group *group = &g->mapping->groups[c->group];
	size_t first = (size_t)c->row * g->batch->cap_samples;

	for (uint32_t i = 0; i < k->n_columns; i++) {
		for (size_t at = 0; at < m->n_times; at++)
			k->columns[i][first + at] =
				g->catalogue->schemas[k->schema].columns[i].type == LP_REAL
				? lp_cell_from_real((double)NAN)
				: LP_MISSING;
	}
	for (size_t i = 0; i < group->n_columns; i++) {
		const double *value = m->values + m->begins[number] + 2 * i * m->n_times;
		int place = g->groups[c->group].place[i];

		for (size_t at = 0; place >= 0 && at < m->n_times; at++) {
			int64_t cell =
				cell_of(&group->columns[i], value, value + m->n_times, at, m);

			if (!isnan(value[at]))
				k->state[first + at] = LP_PRESENT;
			if (!cell_is_missing(&group->columns[i], cell))
				k->columns[place][first + at] = cell;
		}
	}
}

static int batch_fill(struct gather *g, const struct matrix *m, bool carry)
{
	int r = 0;

	lp_batch_free(g->batch);
	g->batch = lp_batch_new((uint32_t)m->n_times);
	if (!g->batch)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < m->n; i++) {
		struct gather_component *c = &g->components[m->components[i]];
		struct lp_batch_kind *k;

		r = lp_batch_kind_get(g->batch, g->groups[c->group].schema,
			g->groups[c->group].n_columns, NULL, &k);
		if (r == 0)
			r = lp_batch_add_component(g->batch, k, c->id, &c->row);
	}
	for (size_t at = 0; r == 0 && at < m->n_times; at++)
		r = lp_batch_add_sample(g->batch, m->times[at] * 1000, m->times[at] * 1000);
	for (size_t i = 0; r == 0 && i < m->n; i++) {
		const struct gather_component *c = &g->components[m->components[i]];
		struct lp_batch_kind *k;

		r = lp_batch_kind_get(g->batch, g->groups[c->group].schema, 0, NULL, &k);
		if (r == 0)
			component_put(g, m, i, k);
	}
	g->batch->carry = carry;
	return r;
}

/* Move the cells up to a time before the later ones, which are held. Returns the number of the
 * former. */
static size_t target_split(struct gather_target *t, int64_t until_ms)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (t->cells[i].ms <= until_ms) {
			struct gather_cell c = t->cells[n];

			t->cells[n++] = t->cells[i];
			t->cells[i] = c;
		}
	}
	return n;
}

/* Keep the cells of the last time, for the first differences of the next batch, and those after the
 * first `used`. */
static void target_keep_last(struct gather_target *t, size_t used, int64_t last_ms)
{
	size_t n = 0;

	for (size_t i = 0; i < used; i++) {
		if (t->cells[i].ms == last_ms)
			t->cells[n++] = t->cells[i];
	}
	t->n_carried = n;
	t->delivered_ms = last_ms;
	for (size_t i = used; i < t->n; i++)
		t->cells[n++] = t->cells[i];
	t->n = n;
}

/* The last time of a target's samples that are not held. */
static int64_t target_until(const struct gather *g, const struct gather_target *t)
{
	int64_t newest = INT64_MIN;

	if (!g->hold_ms)
		return INT64_MAX;
	for (size_t i = 0; i < t->n; i++)
		newest = t->cells[i].ms > newest ? t->cells[i].ms : newest;
	return newest < INT64_MIN + g->hold_ms ? INT64_MIN : newest - g->hold_ms;
}

static int target_deliver(struct gather *g, struct gather_target *t, struct lp_err *err)
{
	size_t used = target_split(t, target_until(g, t));
	struct gather_target ready = *t;
	_cleanup_(matrix_release) struct matrix m = {0};
	_cleanup_free_ int64_t *times = NULL;
	int r;

	if (used <= t->n_carried)
		return 0;
	ready.n = used;
	times = target_times(&ready, &m.n_times);
	m.times = times;
	r = times ? 0 : -ENOMEM;
	if (r == 0)
		r = matrix_fill(&m, g, &ready);
	if (r == 0)
		r = batch_fill(g, &m, t->n_carried > 0);
	if (r < 0)
		return lp_err_sys(err, r, "cannot read %s", g->path);
	target_keep_last(t, used, times[m.n_times - 1]);
	return 1;
}

int gather_next(struct gather *g, struct lp_batch **ret, struct lp_err *err)
{
	int r = 0;

	while (r == 0 && g->next < g->n_targets) {
		struct gather_target *t = &g->targets[g->next++];

		if (t->n > t->n_carried)
			r = target_deliver(g, t, err);
	}
	if (r > 0)
		*ret = g->batch;
	return r;
}

/* The median time between the samples of a target; 0 if it has only one. */
static int64_t target_interval_ms(const struct gather_target *t)
{
	size_t n;
	_cleanup_free_ int64_t *times = target_times(t, &n);

	if (!times || n < 2)
		return 0;
	for (size_t i = 0; i + 1 < n; i++)
		times[i] = times[i + 1] - times[i];
	qsort(times, n - 1, sizeof(*times), compare_i64);
	return times[(n - 1) / 2];
}

int64_t gather_interval_us(const struct gather *g)
{
	int64_t best_ms = 0;
	size_t most = 0;

	for (size_t i = 0; i < g->n_targets; i++) {
		int64_t ms = g->targets[i].n > most ? target_interval_ms(&g->targets[i]) : 0;

		if (!ms)
			continue;
		best_ms = ms;
		most = g->targets[i].n;
	}
	return importer_interval(best_ms * 1000);
}
