#include "detect/detect.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/meant.h"
#include "base/slices.h"
#include "detect/blame.h"
#include "detect/compare/compare.h"
#include "detect/crowd.h"
#include "detect/group/discover.h"
#include "detect/group/verdict_tables.h"
#include "detect/load.h"
#include "detect/params.h"
#include "detect/straggle.h"
#include "detect/weigh.h"
#include "detect/wholes.h"
#include "model/identity.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <fnmatch.h>
#include <limpet/metric.h>
#include <stdlib.h>
#include <string.h>

DEFINE_CLEANUP(struct lp_verdict *, lp_verdict_free);

static int no_memory(struct lp_err *err)
{
	return lp_err_sys(err, -ENOMEM, "cannot compare");
}

bool detect_group_wanted(const struct detect_options *opt, const char *name)
{
	for (uint32_t i = 0; i < opt->n_groups; i++) {
		if (fnmatch(opt->groups[i], name, 0) == 0)
			return true;
	}
	return !opt->n_groups;
}

/* "; did you mean 'disk of servers'?" for "disk", and for a mistyped name. */
static const char *group_question(
	struct meant *m, const struct lp_verdict *v, uint32_t n, char *buf, size_t size)
{
	for (uint32_t i = 0; i < n; i++)
		meant_consider(m, v->groups[i].name);
	for (uint32_t i = 0; !m->edits && i < n; i++) {
		if (strncmp(v->groups[i].name, m->word, strlen(m->word)) != 0)
			continue;
		snprintf(buf, size, "; did you mean '%.64s'?", v->groups[i].name);
		return buf;
	}
	return meant_question(m);
}

/* Keep the groups that the user selected. */
static int groups_choose(struct lp_verdict *v, const struct detect_options *opt, struct lp_err *err)
{
	struct meant m = {.word = opt->n_groups ? opt->groups[0] : ""};
	uint32_t n = 0, n_all = v->n_groups;
	char question[MEANT_MAX + 32];

	for (uint32_t i = 0; i < n_all; i++) {
		struct lp_peer_group kept = v->groups[i];

		if (detect_group_wanted(opt, kept.name)) {
			v->groups[i] = v->groups[n];
			v->groups[n++] = kept;
		}
	}
	if (!n && opt->n_groups)
		lp_err_set(err, -ENOENT,
			"no peer group is called '%s'%s ('limpet topology DATA' lists them)",
			opt->groups[0], group_question(&m, v, n_all, question, sizeof(question)));
	for (uint32_t i = n; i < n_all; i++)
		peer_group_release(&v->groups[i]);
	v->n_groups = n;
	return !n && opt->n_groups ? -ENOENT : 0;
}

/* Does a component belong to a kind with rearranged tables? Most neighbours have the same kind. */
static bool tables_remade(struct lp_table *const *tables, uint32_t n_tables)
{
	const char *last = "";

	for (uint32_t t = 0; t < n_tables; t++) {
		for (uint32_t i = 0; i < tables[t]->n_components; i++) {
			const char *kind = tables[t]->components[i]->kind;

			if (!strcmp(kind, last))
				continue;
			if (kind_find(kind)->remade)
				return true;
			last = kind;
		}
	}
	return false;
}

static int tables_remake(
	struct lp_table **tables, uint32_t n_tables, const struct hosts *hosts, struct lp_err *err)
{
	int r = hosts ? clients_drop(tables, n_tables, hosts, err) : 0;

	if (r == 0 && hosts)
		r = pool_connections(tables, n_tables, hosts, err);
	return r < 0 ? r : functions_join(tables, n_tables, err);
}

int verdict_take_tables(struct lp_verdict *v, struct lp_table **tables, uint32_t n_tables,
	const struct hosts *hosts, struct lp_err *err)
{
	struct lp_err pool_err = {0};
	int r = 0, taken;

	if (tables_remade(tables, n_tables))
		r = tables_remake(tables, n_tables, hosts, &pool_err);
	taken = verdict_own_tables(v, tables, n_tables, err);
	if (r < 0)
		*err = pool_err;
	return r < 0 ? r : taken;
}

int verdict_of_tables(struct lp_table **tables, uint32_t n_tables, const struct hosts *hosts,
	struct lp_verdict **ret, struct lp_err *err)
{
	_cleanup_(lp_verdict_freep) struct lp_verdict *v = calloc(1, sizeof(*v));
	int r;

	if (!v) {
		for (uint32_t i = 0; i < n_tables; i++)
			lp_table_free(tables[i]);
		free(tables);
		return no_memory(err);
	}
	r = verdict_take_tables(v, tables, n_tables, hosts, err);
	if (r == 0)
		*ret = TAKE_PTR(v);
	return r;
}

int verdict_group(struct lp_verdict *v, const struct detect_options *opt, struct lp_err *err)
{
	int r = topology_groups(opt->topology, v->components, v->n_components, opt->split_by,
		opt->n_split, opt->warn, &v->groups, &v->n_groups, err);

	if (r == 0 && !opt->topology && !opt->n_split)
		r = discover_groups(v, opt->memory, err);
	return r < 0 ? r : groups_choose(v, opt, err);
}

int verdict_add_series(struct lp_verdict *v, const struct lp_series *s)
{
	size_t n = v->n_series;
	struct lp_series *series = v->series;

	/* The array doubles at powers of two. */
	if ((n & (n - 1)) == 0)
		series = reallocarray(series, n ? 2 * n : 1, sizeof(*series));
	if (!series)
		return -ENOMEM;
	v->series = series;
	v->series[v->n_series++] = *s;
	return 0;
}

/* Compare one metric of one group. */
static int pair_compare(struct lp_verdict *v, const struct detect_options *opt,
	const struct comparison_past *past, uint32_t span, uint32_t group, uint32_t metric,
	struct findings *fs, struct lp_err *err)
{
	_cleanup_(comparison_release) struct comparison c = {0};
	struct lp_series series;
	int r = comparison_make(opt, v, &v->params, group, metric, past, &c, &series, err);

	if (r <= 0) {
		series_release(&series);
		return r;
	}
	if (verdict_add_series(v, &series) < 0) {
		series_release(&series);
		return no_memory(err);
	}
	c.series = &v->series[v->n_series - 1];
	c.span = c.timeseries ? span * v->params.win_shift : span;
	return weigh_comparison(&c, v->n_series - 1, fs) < 0 ? no_memory(err) : 0;
}

static void progress_tell(const struct detect_options *opt, const char *what, double done)
{
	if (opt->progress)
		opt->progress(opt->progress_ctx, what, done);
}

int detect_compare(struct lp_verdict *v, const struct detect_options *opt,
	const struct comparison_past *past, uint32_t span, struct findings *fs, struct lp_err *err)
{
	double n_pairs = (double)v->n_groups * v->n_tables;
	int r = 0;

	for (uint32_t g = 0; r == 0 && g < v->n_groups; g++) {
		for (uint32_t t = 0; r == 0 && t < v->n_tables && !v->groups[g].refused; t++) {
			progress_tell(opt, "comparing", ((double)g * v->n_tables + t) / n_pairs);
			r = pair_compare(v, opt, past, span, g, t, fs, err);
		}
	}
	return r;
}

static int anomaly_compare(const void *a, const void *b)
{
	const struct lp_anomaly *x = a, *y = b;

	if (x->start_us != y->start_us)
		return x->start_us < y->start_us ? -1 : 1;
	if (x->component != y->component)
		return x->component < y->component ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

/* Windows are counted from the beginning of the tables, including the time that tables leave
 * out. */
static uint32_t window_number(const struct lp_verdict *v, const struct lp_series *s, uint32_t w)
{
	int64_t skipped = lp_table_skipped(v->tables[s->metric], s->first[w]);
	int64_t shift = s->n_windows > 1 ? (int64_t)s->first[1] - s->first[0] : 1;

	return w + (uint32_t)(shift > 0 ? skipped / shift : 0);
}

static void series_anomalies(
	const struct lp_verdict *v, const struct lp_series *s, struct lp_anomaly *ret, size_t *n)
{
	const struct lp_peer_group *g = &v->groups[s->group];
	const struct lp_table *t = v->tables[s->metric];

	for (uint32_t i = 0; i < g->n_members; i++) {
		slices_rest_at(i);
		for (uint32_t w = 0; w < s->n_windows; w++) {
			size_t at = (size_t)i * s->n_windows + w;

			if (s->marks[at] <= LP_MARK_NORMAL)
				continue;
			if (ret)
				ret[*n] = (struct lp_anomaly){.window = window_number(v, s, w),
					.component = g->members[i],
					.metric = s->metric,
					.start_us = lp_table_time(t, s->first[w]) - t->step_us,
					.end_us = lp_table_time(t, s->last[w]),
					.direction = s->marks[at],
					.distance = s->distances[at],
					.threshold = s->thresholds[i]};
			++*n;
		}
	}
}

static int verdict_anomalies(struct lp_verdict *v, struct lp_err *err)
{
	size_t n = 0;

	for (uint32_t i = 0; i < v->n_series; i++)
		series_anomalies(v, &v->series[i], NULL, &n);
	v->anomalies = calloc(n + 1, sizeof(*v->anomalies));
	if (!v->anomalies)
		return no_memory(err);
	for (uint32_t i = 0; i < v->n_series; i++)
		series_anomalies(v, &v->series[i], v->anomalies, &v->n_anomalies);
	qsort(v->anomalies, v->n_anomalies, sizeof(*v->anomalies), anomaly_compare);
	return 0;
}

/* Is it a connection whose name does not show which end opened it? */
static bool lacks_end(const struct lp_identity *c)
{
	size_t len = strlen(c->name);

	return kind_find(c->kind)->peers_by == PEERS_BY_END && !strcmp(c->kind, "tcp") &&
		!(len > 3 && !strcmp(c->name + len - 3, ":in")) &&
		!(len > 4 && !strcmp(c->name + len - 4, ":out"));
}

/* Connections of different directions behave differently, and are peers only by mistake. */
static int note_ends(struct lp_verdict *v)
{
	uint32_t n = 0, first = 0;

	for (uint32_t i = v->n_components; i-- > 0;) {
		if (!lacks_end(v->components[i]))
			continue;
		n++;
		first = i;
	}
	if (!n)
		return 0;
	return lp_verdict_note(v,
		"%u connection%s of unknown direction, such as %s: those that observers open and "
		"those that they accept are peers of each other then; end names with :out and :in "
		"to distinguish them",
		n, n == 1 ? " is" : "s are", v->components[first]->text);
}

static const char *hourly_lists(uint32_t n)
{
	return n == 1 ? "--hourly lists it" : "--hourly lists them";
}

static int verdict_notes(struct lp_verdict *v, const struct findings *fs, struct lp_err *err)
{
	int r = 0;

	if (fs->n_passed)
		r = verdict_note_hint(v, hourly_lists(fs->n_passed),
			"%u passing difference%s too short or too small to count", fs->n_passed,
			fs->n_passed == 1 ? " was" : "s were");
	if (r == 0 && fs->n_slight)
		r = verdict_note_hint(v, hourly_lists(fs->n_slight),
			"%u difference%s at the end of the data %s too small or too new to count",
			fs->n_slight, fs->n_slight == 1 ? "" : "s",
			fs->n_slight == 1 ? "is" : "are");
	if (r == 0)
		r = note_ends(v);
	return r < 0 ? no_memory(err) : 0;
}

const struct function_weights *detect_weights(const struct detect_options *opt)
{
	if (opt->weights)
		return opt->weights;
	return opt->trained ? thresholds_weighted(opt->trained) : NULL;
}

int detect_conclude(struct lp_verdict *v, const struct detect_options *opt, bool whole,
	struct findings *fs, struct lp_err *err)
{
	int r = 0;

	if (!whole && (straggle_find(v, fs) < 0 || crowd_find(v, fs) < 0 || wholes_find(v, fs) < 0))
		r = no_memory(err);
	v->findings = fs->items;
	v->n_findings = (uint32_t)fs->n;
	if (r == 0)
		r = load_judge(v);
	if (r == 0 && !v->trained && !v->fixed && crowd_judge(v) < 0)
		r = no_memory(err);
	if (r == 0 && blame_functions(v, opt, whole) < 0)
		r = no_memory(err);
	if (r == 0)
		r = verdict_anomalies(v, err);
	return r < 0 ? r : verdict_notes(v, fs, err);
}

static int verdict_fill(struct lp_verdict *v, const struct detect_options *opt, struct lp_err *err)
{
	struct findings fs = {0};
	int r = verdict_group(v, opt, err);

	if (r == 0)
		r = params_resolve(
			opt, v->n_tables ? v->tables[0]->n_slots : 0, v, &v->params, err);
	if (r == 0)
		r = detect_compare(v, opt, NULL, 0, &fs, err);
	if (r < 0) {
		free(fs.items);
		return r;
	}
	return detect_conclude(v, opt, true, &fs, err);
}

int detect_methods(struct detect_options *opt, struct lp_err *err)
{
	if (!opt->measure)
		opt->measure = measure_find(opt->trained ? thresholds_method(opt->trained) : "cdf");
	if (opt->service || !opt->trained)
		return 0;
	return service_method_parse(
		thresholds_service(opt->trained), opt->measure, &opt->service, err);
}

int detect_verdict(struct lp_verdict *v, const struct detect_options *opt, struct lp_err *err)
{
	struct detect_options o = *opt;
	int r = detect_methods(&o, err);

	if (r < 0)
		return r;
	v->method = o.measure->name;
	v->trained = o.trained != NULL;
	v->fixed = o.fixed && o.fixed->n;
	return verdict_fill(v, &o, err);
}

int detect_run(struct lp_table **tables, uint32_t n_tables, const struct detect_options *opt,
	struct lp_verdict **ret, struct lp_err *err)
{
	_cleanup_(lp_verdict_freep) struct lp_verdict *v = NULL;
	int r = verdict_of_tables(tables, n_tables, opt->hosts, &v, err);

	if (r == 0)
		r = detect_verdict(v, opt, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(v);
	return 0;
}
