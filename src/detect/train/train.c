#include "detect/train/train.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "detect/compare/compare.h"
#include "detect/compare/marks.h"
#include "detect/compare/timeseries.h"
#include "detect/compare/vector_group.h"
#include "detect/group/verdict_tables.h"
#include "detect/train/train_check.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The final threshold is the required one times this. */
#define CUSHION 2

#define HOUR_US (3600 * US_PER_SEC)

/* The facts that are known about a component in a metric. */
struct limit_record {
	char *metric, *component;
	double limit;
	bool shared; /* one for all of its direction, and not doubled: congestion windows */
};

struct trainer {
	const struct detect_options *opt;
	struct limit_record *records;
	size_t n, cap;
	struct strmap index; /* "metric\ncomponent" */
	struct train_result result;
	uint32_t longest; /* windows of the longest run */
	bool service;	  /* there were service times in the data */
};

double train_tenth(double limit)
{
	double i = fmax(1, ceil(limit * 10));

	/* Doubles this large have no tenths, and adding 1 does not change them. */
	if (i >= 0x1p53)
		return limit;
	/* The product may have been rounded over a whole number, in either direction. */
	while (i > 1 && (i - 1) / 10 >= limit)
		i--;
	while (i / 10 < limit)
		i++;
	return i / 10;
}

int trainer_new(const struct detect_options *opt, struct trainer **ret, struct lp_err *err)
{
	struct trainer *t = calloc(1, sizeof(*t));

	if (!t)
		return lp_err_sys(err, -ENOMEM, "cannot train");
	t->opt = opt;
	*ret = t;
	return 0;
}

void trainer_free(struct trainer *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++) {
		free(t->records[i].metric);
		free(t->records[i].component);
	}
	free(t->records);
	strmap_release(&t->index);
	train_result_release(&t->result);
	free(t);
}

void train_asymmetry_release(struct train_asymmetry *a)
{
	free(a->metric);
	free(a->unit);
	free(a->component);
	free(a->group);
	*a = (struct train_asymmetry){0};
}

void train_result_release(struct train_result *r)
{
	thresholds_free(r->thresholds);
	for (size_t i = 0; i < r->n_asymmetries; i++)
		train_asymmetry_release(&r->asymmetries[i]);
	free(r->asymmetries);
	for (size_t i = 0; i < r->n_warnings; i++)
		free(r->warnings[i]);
	free(r->warnings);
	*r = (struct train_result){0};
}

static struct limit_record *record_add(struct trainer *t, const char *metric, const char *component)
{
	struct limit_record *rec;

	if (t->n >= UINT32_MAX ||
		array_reserve(&t->records, &t->cap, t->n + 1, sizeof(*t->records)) < 0)
		return NULL;
	rec = &t->records[t->n];
	*rec = (struct limit_record){.metric = strdup(metric), .component = strdup(component)};
	if (!rec->metric || !rec->component) {
		free(rec->metric);
		free(rec->component);
		return NULL;
	}
	t->n++;
	return rec;
}

/* Congestion windows have one threshold for all connections of a direction: a glob for all names
 * that end in ":in", if the component is "oss3/tcp:10.0.0.3:in". If names have no direction, the
 * glob covers the whole kind. */
static void direction_glob(const struct lp_identity *component, char *glob, size_t size)
{
	const char *end = strrchr(component->text, ':');

	snprintf(glob, size, "*/%s:*%s", component->kind,
		end && (!strcmp(end, ":in") || !strcmp(end, ":out")) ? end : "");
}

/* Note that a component needs at least this threshold in a metric. */
static int record_limit(struct trainer *t, const char *metric, const struct lp_identity *member,
	double limit, bool shared)
{
	const char *component = member->text;
	_cleanup_(strbuf_release) struct strbuf key = {0};
	char glob[THRESHOLDS_NAME_MAX + 1];
	struct limit_record *rec;
	uint32_t i;

	if (shared) {
		direction_glob(member, glob, sizeof(glob));
		component = glob;
	}
	strbuf_printf(&key, "%s\n%s", metric, component);
	if (key.failed)
		return -ENOMEM;
	if (strmap_get(&t->index, key.text, &i)) {
		rec = &t->records[i];
	} else {
		rec = record_add(t, metric, component);
		if (!rec || strmap_put(&t->index, key.text, (uint32_t)(t->n - 1)) < 0)
			return -ENOMEM;
	}
	rec->limit = fmax(rec->limit, limit);
	rec->shared = shared;
	return 0;
}

/* Votes, limits, and warnings about the data. */
struct pair {
	struct train_pair p;
	const double **rows;
	double *votes, *limits;
	bool *data;
	struct lp_params params;
	enum lp_role role;
	double floor;
	bool timeseries;
	bool vectors;
};

static void pair_release(struct pair *x)
{
	free(x->rows);
	free(x->votes);
	free(x->limits);
	free(x->data);
}

/* The limit of one member, NaN if it has fewer votes than step 6 examines. */
static double member_limit(const struct pair *x, uint32_t member)
{
	uint32_t n = x->p.n_windows, k = x->params.k, known = 0;
	const double *votes = x->votes + (size_t)member * n;

	for (uint32_t w = 0; w < n; w++)
		known += !isnan(votes[w]);
	if (known < 2 * k - 1)
		return NAN;
	return x->vectors ? vector_limit(votes, n) : persist_limit(votes, n, k);
}

static int pair_vectors(struct pair *x, const struct function_weights *weights)
{
	_cleanup_(vector_group_release) struct vector_group g = {0};
	_cleanup_free_ uint32_t *first = calloc((size_t)x->p.n_windows + 1, sizeof(*first));
	int r = group_vectors(x->p.v, x->p.group, x->p.metric, &x->params, weights, &g);

	if (!first)
		return -ENOMEM;
	for (uint32_t w = 0; w < x->p.n_windows; w++)
		first[w] = w * x->params.win_shift;
	if (r == 0)
		r = vector_group_select_whole(&g, first, x->p.n_windows);
	if (r == 0)
		r = vector_group_compare(&g, 0, x->p.n_windows);
	for (size_t i = 0; r == 0 && i < (size_t)g.n_members * g.n_windows; i++) {
		x->votes[i] = g.places[i].vote;
		x->data[i] = !isnan(g.places[i].own);
	}
	return r;
}

static int pair_votes(struct pair *x, const struct detect_options *opt, const struct group_data *g)
{
	_cleanup_(smoothed_release) struct smoothed s = {0};
	int r;

	if (x->vectors)
		return pair_vectors(x, detect_weights(opt));
	if (x->timeseries)
		return timeseries_votes(g,
			&(struct timeseries_how){
				.width = x->params.smooth, .role = x->role, .floor = x->floor},
			x->votes);
	r = smooth_group(g, x->params.smooth,
		x->role == LP_ROLE_SERVICE ? timeseries_width(x->params.step_us) : 0, &s);
	return r < 0
		? r
		: votes_all(opt->measure, &x->params, &s, NULL, g->n_members, x->votes, x->data);
}

static int pair_alloc(struct pair *x, uint32_t n_members)
{
	size_t n = (size_t)n_members * x->p.n_windows;

	x->votes = calloc(n + 1, sizeof(*x->votes));
	x->limits = calloc(n_members, sizeof(*x->limits));
	x->data = calloc(n + 1, sizeof(*x->data));
	x->p.rows = x->rows;
	x->p.votes = x->votes;
	x->p.data = x->data;
	x->p.limits = x->limits;
	return x->votes && x->limits && x->data ? 0 : -ENOMEM;
}

static int pair_learn(struct trainer *t, struct pair *x)
{
	const struct lp_verdict *v = x->p.v;
	const struct lp_peer_group *g = &v->groups[x->p.group];
	const struct lp_table *table = v->tables[x->p.metric];
	struct group_data data = {x->rows, g->n_members, table->n_slots};
	int r = pair_alloc(x, g->n_members);

	if (r == 0)
		r = pair_votes(x, t->opt, &data);
	for (uint32_t i = 0; i < g->n_members && r == 0; i++) {
		x->limits[i] = member_limit(x, i);
		if (!isnan(x->limits[i]))
			r = record_limit(t, table->metric, v->components[g->members[i]],
				x->limits[i], x->role == LP_ROLE_WINDOW);
	}
	return r == 0 && !x->timeseries ? train_check_pair(&x->p, &t->result) : r;
}

/* Is this the group of one function on all observers? There are thousands of these groups. Single
 * functions accuse no server, so they need no thresholds. */
static bool is_function(const struct lp_verdict *v, uint32_t group)
{
	const struct lp_peer_group *g = &v->groups[group];

	return g->n_members && !strcmp(v->components[g->members[0]]->kind, FUNCTION_KIND);
}

/* Learn one metric of one group. */
static int learn(struct trainer *t, const struct lp_verdict *v, uint32_t group, uint32_t metric)
{
	const char *name = v->tables[metric]->metric;
	const struct lp_metric *m = group_metric(v, group, name);
	_cleanup_(pair_release) struct pair x = {
		.p = {.v = v, .group = group, .metric = metric}, .params = t->opt->params};

	if (is_function(v, group) && lp_metric_find(FUNCTION_KIND, name))
		return 0;
	x.rows = calloc(v->groups[group].n_members, sizeof(*x.rows));
	if (!x.rows)
		return -ENOMEM;
	x.role = lp_metric_role(m ? m->kind : NULL, name);
	x.floor = m ? m->floor : 0;
	x.vectors = group_has_vectors(v, group);
	if (x.vectors)
		x.role = LP_ROLE_OTHER;
	x.timeseries = timeseries_applies(t->opt, x.role);
	if (x.timeseries)
		timeseries_params(&x.params);
	t->service |= x.role == LP_ROLE_SERVICE;
	x.p.n_windows = window_count(&x.params, v->tables[metric]->n_slots);
	if (group_rows(v, group, metric, x.rows) < 3 || !x.p.n_windows ||
		group_weighs(v, group, metric))
		return 0;
	return pair_learn(t, &x);
}

static void count_run(struct trainer *t, const struct lp_verdict *v)
{
	const struct lp_table *first = v->n_tables ? v->tables[0] : NULL;
	uint32_t n = first ? window_count(&t->opt->params, first->n_slots) : 0;

	t->result.n_runs++;
	t->result.n_windows += n;
	t->result.span_us += first ? (int64_t)first->n_slots * first->step_us : 0;
	t->longest = n > t->longest ? n : t->longest;
}

static int learn_run(struct trainer *t, struct lp_verdict *v, struct lp_err *err)
{
	int r = verdict_group(v, t->opt, err);

	if (r < 0)
		return r;
	count_run(t, v);
	for (uint32_t g = 0; g < v->n_groups && r == 0; g++) {
		if (v->groups[g].refused && !is_function(v, g))
			lp_warn_raise(t->opt->warn, "nothing can be learnt from group %s: %s",
				v->groups[g].name, v->groups[g].refused);
		if (v->groups[g].refused)
			continue;
		for (uint32_t m = 0; m < v->n_tables && r == 0; m++)
			r = learn(t, v, g, m);
		if (r == 0 && !is_function(v, g))
			r = train_check_load(v, g, &t->result);
	}
	return r < 0 ? lp_err_sys(err, r, "cannot train") : 0;
}

DEFINE_CLEANUP(struct lp_verdict *, lp_verdict_free);

int trainer_add(struct trainer *t, struct lp_table **tables, uint32_t n_tables, struct lp_err *err)
{
	_cleanup_(lp_verdict_freep) struct lp_verdict *v = NULL;
	int r = verdict_of_tables(tables, n_tables, t->opt->hosts, &v, err);

	if (r < 0)
		return r;
	v->method = t->opt->measure->name;
	v->params = t->opt->params;
	return learn_run(t, v, err);
}

/* docs/thresholds.md says how long the data must be. */
static int warn_length(struct trainer *t)
{
	uint32_t wanted = 2 * t->opt->params.k - 1;
	char span[TIME_TEXT_MAX];

	span_format(t->result.span_us, span);
	if (t->longest < wanted)
		return train_warn(&t->result,
			"the longest run has %" PRIu32
			" windows, and a suspect is decided over %" PRIu32
			": nothing can be learnt from less",
			t->longest, wanted);
	if (t->result.span_us < HOUR_US)
		return train_warn(&t->result,
			"%s is very short: what peers do in an hour of full load was not seen",
			span);
	if (t->result.span_us < US_PER_DAY)
		return train_warn(&t->result,
			"%s is less than a day: what only happens at other times was not seen",
			span);
	return 0;
}

/* The ratio of the larger value to the smaller one. */
static double severity(const struct train_asymmetry *a)
{
	double low = fmin(fabs(a->own), fabs(a->peers)), high = fmax(fabs(a->own), fabs(a->peers));

	return low > 0 ? high / low : INFINITY;
}

static int asymmetry_compare(const void *a, const void *b)
{
	double x = severity(a), y = severity(b);

	return (x < y) - (x > y);
}

int trainer_finish(struct trainer *t, struct train_result *ret, struct lp_err *err)
{
	struct thresholds *out = thresholds_new(t->opt->measure->name, &t->opt->params);
	int r = out ? warn_length(t) : -ENOMEM;

	t->result.thresholds = out;
	if (r == 0 && t->service)
		r = thresholds_set_service(
			out, service_method_name(t->opt->service, t->opt->measure));
	for (size_t i = 0; i < t->n && r == 0; i++) {
		const struct limit_record *rec = &t->records[i];

		r = thresholds_add(out, rec->metric, rec->component,
			(rec->shared ? 1 : CUSHION) * train_tenth(rec->limit));
		if (r == -EINVAL)
			return lp_err_set(err, r, "%.200s has too long a name", rec->component);
	}
	if (r == 0)
		r = thresholds_finish(out);
	if (r < 0)
		return lp_err_sys(err, r, "cannot train");
	if (!t->n)
		return lp_err_set(err, -ENODATA,
			"nothing was learnt: no peer group of 3 or more has %" PRIu32 " windows of "
			"%" PRIu32 " samples of a metric",
			2 * t->opt->params.k - 1, t->opt->params.win_size);
	if (t->result.n_asymmetries)
		qsort(t->result.asymmetries, t->result.n_asymmetries,
			sizeof(*t->result.asymmetries), asymmetry_compare);
	*ret = t->result;
	t->result = (struct train_result){0};
	return 0;
}
