#include "report/listing.h"

#include "archive/trace_log.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "import/dataset.h"
#include "model/bind.h"
#include <errno.h>
#include <fnmatch.h>
#include <limpet/archive.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A gap is longer than this multiple of the nominal interval. */
#define GAP_FACTOR 1.5

void listing_release(struct listing *l)
{
	for (size_t i = 0; i < l->n_observers; i++) {
		for (size_t k = 0; k < l->observers[i].n_events; k++)
			free(l->observers[i].events[k].text);
		free(l->observers[i].events);
		free(l->observers[i].name);
	}
	for (size_t i = 0; i < l->n_components; i++) {
		free(l->components[i].name);
		free(l->components[i].stable);
		free(l->components[i].labels);
	}
	for (size_t i = 0; i < l->n_metrics; i++)
		free(l->metrics[i].name);
	for (size_t i = 0; i < l->n_kinds; i++)
		free(l->kinds[i]);
	for (uint32_t i = 0; i < l->n_means; i++)
		lp_table_free(l->means[i]);
	free(l->observers);
	free(l->components);
	free(l->metrics);
	free(l->means);
	free(l->kinds);
	free(l->mean_values);
	free(l->kind_means);
	free(l->kind_first);
	free(l->mean_first);
	strmap_release(&l->observer_index);
	strmap_release(&l->component_index);
	strmap_release(&l->kind_index);
	strmap_release(&l->metric_index);
	*l = (struct listing){0};
}

/* The pass over the data. */
struct pass {
	struct listing *l;
	const struct lp_table_options *range;
	struct lp_table_builder *means;
	const struct lp_source *source;
	uint32_t *
		components; /* [id] of the current source: index in the listing, UINT32_MAX: none */
	size_t n_known, cap_components;
	size_t n_schemas;
};

static int observer_get(struct listing *l, const char *name, uint32_t *ret)
{
	struct listing_observer *o;

	if (strmap_get(&l->observer_index, name, ret))
		return 0;
	if (array_reserve(&l->observers, &l->cap_observers, l->n_observers + 1, sizeof(*o)) < 0)
		return -ENOMEM;
	o = &l->observers[l->n_observers];
	o->name = strdup(name);
	o->last_seen_us = INT64_MIN;
	*ret = (uint32_t)l->n_observers++;
	return o->name ? strmap_put(&l->observer_index, name, *ret) : -ENOMEM;
}

static int kind_get(struct listing *l, const char *name, uint32_t *ret)
{
	char *copy;

	if (strmap_get(&l->kind_index, name, ret))
		return 0;
	copy = strdup(name);
	if (!copy || array_reserve(&l->kinds, &l->cap_kinds, l->n_kinds + 1, sizeof(copy)) < 0) {
		free(copy);
		return -ENOMEM;
	}
	*ret = (uint32_t)l->n_kinds;
	l->kinds[l->n_kinds++] = copy;
	return strmap_put(&l->kind_index, name, *ret);
}

static bool component_listed(const struct pass *p, const char *name)
{
	for (uint32_t i = 0; p->range->components && i < p->range->n_components; i++) {
		if (fnmatch(p->range->components[i], name, 0) == 0)
			return true;
	}
	return !p->range->components;
}

static int component_get(struct pass *p, const struct lp_catalogue *c, uint32_t id, uint32_t *ret)
{
	struct listing *l = p->l;
	const struct lp_component *comp = &c->components[id];
	struct listing_component *new;
	char name[1024], stable[256] = "";
	uint32_t observer, kind;

	lp_component_name(c, id, name, sizeof(name));
	*ret = UINT32_MAX;
	if (!component_listed(p, name) || strmap_get(&l->component_index, name, ret))
		return 0;
	if (observer_get(l, comp->observer, &observer) < 0 ||
		kind_get(l, c->schemas[comp->schema].kind, &kind) < 0 ||
		array_reserve(
			&l->components, &l->cap_components, l->n_components + 1, sizeof(*new)) < 0)
		return -ENOMEM;
	lp_component_label(comp, "stable", stable, sizeof(stable));
	new = &l->components[l->n_components];
	*new = (struct listing_component){.name = strdup(name),
		.kind = kind,
		.stable = strdup(stable),
		.labels = strdup(comp->labels),
		.observer = observer};
	*ret = (uint32_t)l->n_components++;
	if (!new->name || !new->stable || !new->labels)
		return -ENOMEM;
	return strmap_put(&l->component_index, name, *ret);
}

static int metric_note(struct listing *l, uint32_t kind, const char *name)
{
	_cleanup_free_ char *key = NULL;
	char *copy;
	uint32_t known;

	if (asprintf(&key, "%u %s", kind, name) < 0) {
		key = NULL;
		return -ENOMEM;
	}
	if (strmap_get(&l->metric_index, key, &known))
		return 0;
	copy = strdup(name);
	if (!copy ||
		array_reserve(&l->metrics, &l->cap_metrics, l->n_metrics + 1, sizeof(*l->metrics)) <
			0) {
		free(copy);
		return -ENOMEM;
	}
	l->metrics[l->n_metrics++] = (struct listing_metric){copy, kind};
	return strmap_put(&l->metric_index, key, 0);
}

/* The metrics that a schema offers. */
static int metrics_note(struct listing *l, const struct lp_schema *s)
{
	struct bind ignored;
	uint32_t kind;
	int r = kind_get(l, s->kind, &kind);

	for (const struct lp_metric *const *m = lp_metric_all(); r == 0 && *m; m++) {
		if (!strcmp((*m)->kind, s->kind) && bind_metric(s, (*m)->name, false, &ignored))
			r = metric_note(l, kind, (*m)->name);
	}
	for (uint32_t i = 0; r == 0 && i < s->n_columns; i++) {
		if (s->columns[i].type == LP_REAL)
			r = metric_note(l, kind, s->columns[i].name);
	}
	return r;
}

/* Process new entries of the source's catalogue. */
static int pass_extend(struct pass *p)
{
	const struct lp_catalogue *c = p->source->catalogue;
	int r = 0;

	for (; r == 0 && p->n_schemas < c->n_schemas; p->n_schemas++)
		r = metrics_note(p->l, &c->schemas[p->n_schemas]);
	if (r == 0)
		r = array_reserve(&p->components, &p->cap_components, c->n_components,
			sizeof(*p->components));
	for (; r == 0 && p->n_known < c->n_components; p->n_known++)
		r = component_get(p, c, (uint32_t)p->n_known, &p->components[p->n_known]);
	return r;
}

static bool pass_in_time(const struct pass *p, int64_t wall_us)
{
	return (!p->range->from_us || wall_us >= p->range->from_us) &&
		(!p->range->to_us || wall_us < p->range->to_us);
}

/* Note that an observer has data at this time; `back`: of a component that already has later data.
 * Earlier data of other components is that of another file, which covers the same time. */
static void observer_see(
	struct listing_observer *o, int64_t wall_us, int64_t interval_us, bool back)
{
	int64_t last = o->last_seen_us;

	if (wall_us == last || (o->n_samples && wall_us < last && !back))
		return;
	if (!o->n_samples || wall_us < o->first_us)
		o->first_us = wall_us;
	if (!o->n_samples || wall_us > o->last_us)
		o->last_us = wall_us;
	if (o->n_samples && wall_us < last)
		o->n_back++;
	if (o->n_samples && interval_us &&
		(double)(wall_us - last) > GAP_FACTOR * (double)interval_us) {
		if (o->n_gaps < LISTING_GAPS_MAX)
			o->gaps[o->n_gaps] = (struct listing_gap){last, wall_us};
		o->n_gaps++;
	}
	o->interval_us = interval_us;
	o->last_seen_us = wall_us;
	o->n_samples++;
}

static void component_see(struct listing_component *c, int64_t wall_us)
{
	if (!c->n_samples || wall_us < c->first_us)
		c->first_us = wall_us;
	if (!c->n_samples || wall_us > c->last_us)
		c->last_us = wall_us;
	c->seen_us = wall_us;
	c->n_samples++;
}

/* Count one sample of one kind. */
static void pass_sample(
	struct pass *p, const struct lp_batch *b, const struct lp_batch_kind *k, uint32_t s)
{
	for (uint32_t i = 0; i < k->n_components; i++) {
		uint32_t at = p->components[k->ids[i]];
		struct listing_component *c;

		if (at == UINT32_MAX || !(k->state[(size_t)i * b->cap_samples + s] & LP_PRESENT))
			continue;
		c = &p->l->components[at];
		observer_see(&p->l->observers[c->observer], b->wall_us[s], p->source->interval_us,
			c->n_samples && b->wall_us[s] < c->seen_us);
		component_see(c, b->wall_us[s]);
	}
}

static int note_event(void *ctx, int64_t wall_us, const char *text)
{
	struct listing_observer *o = ctx;

	if (array_reserve(&o->events, &o->cap_events, o->n_events + 1, sizeof(*o->events)) < 0)
		return -ENOMEM;
	o->events[o->n_events] = (struct listing_event){wall_us, strdup(text)};
	if (!o->events[o->n_events].text)
		return -ENOMEM;
	o->n_events++;
	return 0;
}

/* The recorder's remarks and logs belong to its observer. */
static int pass_events(struct pass *p, struct lp_err *err)
{
	const char *observer = lp_archive_meta_get(p->source, "observer");
	uint32_t at;

	if (!observer || !observer[0])
		return 0;
	if (observer_get(p->l, observer, &at) < 0)
		return -ENOMEM;
	p->l->observers[at].traced |= trace_log_present(p->source);
	return lp_archive_events(p->source, note_event, &p->l->observers[at], err);
}

static int pass_batch(
	void *ctx, struct lp_source *source, const struct lp_batch *b, struct lp_err *err)
{
	struct pass *p = ctx;
	int r;

	p->source = source;
	if (!b) {
		p->n_known = p->n_schemas = 0;
		r = pass_extend(p);
		return r < 0 ? lp_err_sys(err, r, "cannot list") : pass_events(p, err);
	}
	r = pass_extend(p);
	if (r < 0)
		return lp_err_sys(err, r, "cannot list");
	for (uint32_t s = b->carry ? 1 : 0; s < b->n_samples; s++) {
		for (uint32_t i = 0; pass_in_time(p, b->wall_us[s]) && i < b->n_kinds; i++)
			pass_sample(p, b, &b->kinds[i], s);
	}
	return lp_table_builder_add(p->means, source, b, err);
}

static void files_measure(const struct lp_dataset *ds, struct listing *l)
{
	struct stat st;

	l->n_files = lp_dataset_n_files(ds);
	for (size_t i = 0; i < l->n_files; i++) {
		if (ds->files[i].remote)
			l->n_remote++;
		else if (stat(lp_dataset_path(ds, i), &st) == 0)
			l->bytes += (uint64_t)st.st_size;
	}
}

/* Find the means of each kind: number `m` once per kind in table m. `seen` has room for all kinds.
 * If `place` is NULL, it only counts the means of each kind. */
static void kinds_scan(struct listing *l, uint32_t *seen, size_t *count, uint32_t *place)
{
	memset(seen, 0xff, l->n_kinds * sizeof(*seen));
	for (uint32_t m = 0; m < l->n_means; m++) {
		const struct lp_table *t = l->means[m];

		for (uint32_t i = 0; t->n_slots && i < t->n_components; i++) {
			uint32_t at, kind;

			if (!strmap_get(&l->component_index, t->components[i]->text, &at))
				continue;
			kind = l->components[at].kind;
			if (seen[kind] == m)
				continue;
			seen[kind] = m;
			if (place)
				place[l->kind_first[kind] + count[kind]] = m;
			count[kind]++;
		}
	}
}

static int kinds_place(struct listing *l)
{
	_cleanup_free_ uint32_t *seen = calloc(l->n_kinds + 1, sizeof(*seen));
	_cleanup_free_ size_t *count = calloc(l->n_kinds + 1, sizeof(*count));

	l->kind_first = calloc(l->n_kinds + 1, sizeof(*l->kind_first));
	if (!seen || !count || !l->kind_first)
		return -ENOMEM;
	kinds_scan(l, seen, count, NULL);
	for (size_t k = 0; k < l->n_kinds; k++) {
		l->kind_first[k + 1] = l->kind_first[k] + count[k];
		count[k] = 0;
	}
	l->kind_means = calloc(l->kind_first[l->n_kinds] + 1, sizeof(*l->kind_means));
	if (!l->kind_means)
		return -ENOMEM;
	kinds_scan(l, seen, count, l->kind_means);
	return 0;
}

/* Store the means with the components. */
static int means_place(struct listing *l)
{
	_cleanup_free_ size_t *next = calloc(l->n_components + 1, sizeof(*next));
	int r = kinds_place(l);

	l->mean_first = calloc(l->n_components + 1, sizeof(*l->mean_first));
	if (r < 0 || !next || !l->mean_first)
		return -ENOMEM;
	for (size_t i = 0; i < l->n_components; i++) {
		uint32_t kind = l->components[i].kind;

		l->mean_first[i + 1] =
			l->mean_first[i] + l->kind_first[kind + 1] - l->kind_first[kind];
		next[i] = l->kind_first[kind];
	}
	l->mean_values = calloc(l->mean_first[l->n_components] + 1, sizeof(*l->mean_values));
	if (!l->mean_values)
		return -ENOMEM;
	for (size_t i = 0; i < l->mean_first[l->n_components]; i++)
		l->mean_values[i] = NAN;
	for (uint32_t m = 0; m < l->n_means; m++) {
		const struct lp_table *t = l->means[m];

		for (uint32_t i = 0; t->n_slots && i < t->n_components; i++) {
			uint32_t at;
			size_t first;

			if (!strmap_get(&l->component_index, t->components[i]->text, &at))
				continue;
			first = l->kind_first[l->components[at].kind];
			while (l->kind_means[next[at]] != m) /* both are sorted */
				next[at]++;
			l->mean_values[l->mean_first[at] + next[at] - first] = t->values[i];
		}
	}
	return 0;
}

int listing_make(struct lp_dataset *ds, const struct lp_table_options *range, struct listing *ret,
	struct lp_err *err)
{
	struct listing l = {.asked = range->components != NULL};
	struct lp_table_options opt = *range;
	struct pass p = {.l = &l, .range = range};
	struct lp_err means_err = {0};
	int r, means;

	opt.metrics = NULL;
	opt.n_metrics = 0;
	opt.headline = true;
	opt.step_us = LP_TABLE_FOREVER;
	r = lp_table_builder_new(&opt, &p.means, err);
	if (r < 0)
		return r;
	files_measure(ds, &l);
	r = lp_dataset_read(ds, lp_table_builder_select(p.means), pass_batch, &p, err);
	free(p.components);
	means = lp_table_builder_finish(p.means, &l.means, &l.n_means, &means_err);
	lp_table_builder_free(p.means);
	if (means == 0 && means_place(&l) < 0)
		means = lp_err_sys(&means_err, -ENOMEM, "cannot list");
	if (r == -ENOMEM || means < 0) {
		if (means < 0)
			*err = means_err;
		listing_release(&l);
		return r == -ENOMEM ? r : means;
	}
	*ret = l;
	return r < 0 ? -EBADMSG : 0;
}
