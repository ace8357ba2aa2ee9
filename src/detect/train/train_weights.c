#include "detect/train/train_weights.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include "detect/compare/compare.h"
#include "detect/compare/vector_group.h"
#include "detect/compare/votes.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The lower limit of a function's variation, as a fraction of the amount that a function needs to
 * count: a function that happened to be the same everywhere must not outweigh all others. */
#define SPREAD_LEAST 0.25
/* If the difference of the culprit is at least this multiple of the largest difference of a healthy
 * server, the function showed the fault. In the opposite case it accused others. */
#define CLEARLY 2.0
#define TOLD_FACTOR 2.0
#define ACCUSED_FACTOR 0.5

/* The statistics of a function in a metric. */
struct function_record {
	char *metric;	      /* its own, */
	const char *function; /* stored after it */
	double squares;	      /* sum of squared differences of healthy servers from the median */
	uint64_t n;	      /* of these */
	double least;	      /* the limit of precision */
	uint32_t told, accused;
};

struct weight_learner {
	const struct detect_options *opt;
	struct function_record *records;
	size_t n, cap;
	struct strmap index; /* "metric\nfunction" */
};

struct weight_learner *weight_learner_new(const struct detect_options *opt)
{
	struct weight_learner *l = calloc(1, sizeof(*l));

	if (l)
		l->opt = opt;
	return l;
}

void weight_learner_free(struct weight_learner *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		free(l->records[i].metric);
	free(l->records);
	strmap_release(&l->index);
	free(l);
}

static int record_get(struct weight_learner *l, const char *metric, const char *function,
	struct function_record **ret)
{
	char key[2 * FUNCTION_NAME_MAX + 2];
	struct function_record fresh = {0};
	uint32_t i;

	snprintf(key, sizeof(key), "%s\n%s", metric, function);
	if (strmap_get(&l->index, key, &i)) {
		*ret = &l->records[i];
		return 0;
	}
	if (asprintf(&fresh.metric, "%s%c%s", metric, '\0', function) < 0)
		return -ENOMEM;
	fresh.function = fresh.metric + strlen(metric) + 1;
	if (array_reserve(&l->records, &l->cap, l->n + 1, sizeof(fresh)) < 0 ||
		strmap_put(&l->index, key, (uint32_t)l->n) < 0) {
		free(fresh.metric);
		return -ENOMEM;
	}
	l->records[l->n] = fresh;
	*ret = &l->records[l->n++];
	return 0;
}

/* One metric of one group of a run. */
struct weight_pair {
	const struct lp_verdict *v;
	const struct lp_peer_group *group;
	const struct lp_table *table;
	const struct lp_params *params;
	const struct weight_label *labels;
	unsigned n_labels;
	struct vector_group g;
	uint32_t n_windows;
	uint32_t *first;	  /* [window] its first slot */
	struct vector *vectors;	  /* [member] of the current window */
	bool *present;		  /* [member] */
	double *values, *scratch; /* [member] */
	double *squares;	  /* [dimension] */
	uint64_t *n;		  /* [dimension] */
	double *apart;		  /* [dimension * members + member] differences in windows with a
				   * fault */
	bool *faulty;		  /* [member] it had a fault in this run */
	uint32_t n_faulty_windows;
};

static void pair_release(struct weight_pair *p)
{
	for (uint32_t i = 0; p->vectors && i < p->g.n_members; i++)
		vector_release(&p->vectors[i]);
	free(p->vectors);
	vector_group_release(&p->g);
	free(p->first);
	free(p->present);
	free(p->values);
	free(p->scratch);
	free(p->squares);
	free(p->n);
	free(p->apart);
	free(p->faulty);
}

static int pair_alloc(struct weight_pair *p)
{
	size_t members = p->g.n_members, dimensions = p->g.view.dimensions.n;

	p->first = calloc((size_t)p->n_windows + 1, sizeof(*p->first));
	p->vectors = calloc(members + 1, sizeof(*p->vectors));
	p->present = calloc(members + 1, sizeof(*p->present));
	p->values = calloc(members + 1, sizeof(*p->values));
	p->scratch = calloc(members + 1, sizeof(*p->scratch));
	p->squares = calloc(dimensions + 1, sizeof(*p->squares));
	p->n = calloc(dimensions + 1, sizeof(*p->n));
	p->apart = calloc(dimensions * members + 1, sizeof(*p->apart));
	p->faulty = calloc(members + 1, sizeof(*p->faulty));
	if (!p->first || !p->vectors || !p->present || !p->values || !p->scratch || !p->squares ||
		!p->n || !p->apart || !p->faulty)
		return -ENOMEM;
	for (uint32_t w = 0; w < p->n_windows; w++)
		p->first[w] = w * p->params->win_shift;
	return 0;
}

static const char *member_observer(const struct weight_pair *p, uint32_t member)
{
	return p->v->components[p->group->members[member]]->observer;
}

static void pair_label(struct weight_pair *p)
{
	for (uint32_t i = 0; i < p->g.n_members; i++) {
		for (unsigned k = 0; k < p->n_labels; k++)
			p->faulty[i] |= !strcmp(p->labels[k].observer, member_observer(p, i));
	}
}

/* Is the window within a fault? */
static bool window_is_faulty(const struct weight_pair *p, uint32_t w)
{
	int64_t end = lp_table_time(p->table, p->first[w] + p->params->win_size - 1);
	int64_t start = lp_table_time(p->table, p->first[w]) - p->table->step_us;

	for (unsigned k = 0; k < p->n_labels; k++) {
		if (start >= p->labels[k].start_us && end <= p->labels[k].end_us)
			return true;
	}
	return false;
}

/* The median of the members that have data. */
static double median_present(struct weight_pair *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->g.n_members; i++) {
		if (p->present[i])
			p->scratch[n++] = p->values[i];
	}
	return n ? median_of(p->scratch, n) : NAN;
}

/* Learn from one function in one window: how far each server is from the median. */
static void dimension_learn(struct weight_pair *p, uint32_t d, bool fault)
{
	double median;

	for (uint32_t i = 0; i < p->g.n_members; i++)
		p->values[i] = p->present[i] ? vector_get(&p->vectors[i], d) : 0;
	median = median_present(p);
	for (uint32_t i = 0; i < p->g.n_members; i++) {
		double apart = fabs(p->values[i] - median);

		if (!p->present[i] || isnan(median))
			continue;
		if (fault)
			p->apart[(size_t)d * p->g.n_members + i] += apart;
		/* A server that has a fault at any time is never counted as healthy. */
		if (!p->faulty[i]) {
			p->squares[d] += apart * apart;
			p->n[d]++;
		}
	}
}

static int window_learn(struct weight_pair *p, uint32_t w)
{
	bool fault = window_is_faulty(p, w);
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < p->g.n_members; i++) {
		r = 0;
		if (p->g.view_of[i] != UINT32_MAX)
			r = vector_view_window(&p->g.view, p->g.view_of[i], p->first[w],
				p->params->win_size, &p->vectors[i]);
		p->present[i] = r > 0;
	}
	for (uint32_t d = 0; r >= 0 && d < p->g.view.dimensions.n; d++) {
		if (p->g.kept[d])
			dimension_learn(p, d, fault);
	}
	p->n_faulty_windows += fault;
	return r < 0 ? r : 0;
}

/* Did the function show the culprit, or accuse another server? */
static void record_judge(const struct weight_pair *p, uint32_t d, struct function_record *rec)
{
	double culprit = 0, sound = 0;

	for (uint32_t i = 0; i < p->g.n_members; i++) {
		double apart = p->apart[(size_t)d * p->g.n_members + i] / p->n_faulty_windows;

		if (p->faulty[i])
			culprit = fmax(culprit, apart);
		else
			sound = fmax(sound, apart);
	}
	rec->told += culprit >= CLEARLY * fmax(sound, rec->least);
	rec->accused += sound >= CLEARLY * fmax(culprit, rec->least);
}

static int pair_keep(struct weight_learner *l, const struct weight_pair *p)
{
	int r = 0;

	for (uint32_t d = 0; r == 0 && d < p->g.view.dimensions.n; d++) {
		struct function_record *rec;

		if (!p->g.kept[d])
			continue;
		r = record_get(l, p->table->metric, p->g.view.dimensions.names[d], &rec);
		if (r < 0)
			return r;
		rec->squares += p->squares[d];
		rec->n += p->n[d];
		rec->least = SPREAD_LEAST * p->g.least;
		if (p->n_faulty_windows)
			record_judge(p, d, rec);
	}
	return r;
}

static int pair_learn(
	struct weight_learner *l, struct weight_pair *p, uint32_t group, uint32_t metric)
{
	int r;

	p->n_windows = window_count(p->params, p->table->n_slots);
	if (!p->n_windows)
		return 0;
	r = group_vectors(p->v, group, metric, p->params, NULL, &p->g);
	if (r == 0)
		r = pair_alloc(p);
	if (r == 0)
		r = vector_group_select_whole(&p->g, p->first, p->n_windows);
	if (r < 0)
		return r;
	pair_label(p);
	for (uint32_t w = 0; r == 0 && w < p->n_windows; w++)
		r = window_learn(p, w);
	return r < 0 ? r : pair_keep(l, p);
}

DEFINE_CLEANUP(struct lp_verdict *, lp_verdict_free);

int weight_learner_add(struct weight_learner *l, struct lp_table **tables, uint32_t n_tables,
	const struct weight_label *labels, unsigned n_labels, struct lp_err *err)
{
	_cleanup_(lp_verdict_freep) struct lp_verdict *v = NULL;
	int r = verdict_of_tables(tables, n_tables, l->opt->hosts, &v, err);

	if (r == 0)
		r = verdict_group(v, l->opt, err);
	if (r < 0)
		return r;
	for (uint32_t g = 0; r == 0 && g < v->n_groups; g++) {
		for (uint32_t m = 0; r == 0 && m < v->n_tables && group_has_vectors(v, g); m++) {
			_cleanup_(pair_release) struct weight_pair p = {.v = v,
				.group = &v->groups[g],
				.table = v->tables[m],
				.params = &l->opt->params,
				.labels = labels,
				.n_labels = n_labels};

			r = pair_learn(l, &p, g, m);
		}
	}
	return r < 0 ? lp_err_sys(err, r, "cannot train") : 0;
}

/* Three digits are enough for the precision of the data. */
static double rounded(double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3g", value);
	return strtod(text, NULL);
}

static double record_spread(const struct function_record *rec)
{
	double spread = rec->n ? sqrt(rec->squares / (double)rec->n) : 0;

	return fmax(spread, rec->least);
}

/* The median spread of a metric; the other functions are weighted relative to it. */
static double metric_spread(const struct weight_learner *l, const char *metric, double *scratch)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (!strcmp(l->records[i].metric, metric))
			scratch[n++] = record_spread(&l->records[i]);
	}
	return n ? median_of(scratch, n) : 0;
}

int weight_learner_finish(const struct weight_learner *l, struct function_weights *ret)
{
	_cleanup_free_ double *scratch = calloc(l->n + 1, sizeof(*scratch));
	const char *metric = NULL;
	double usual = 0;
	int r = 0;

	if (!scratch)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < l->n; i++) {
		const struct function_record *rec = &l->records[i];
		double weight = 1, spread = record_spread(rec);

		if (!metric || strcmp(metric, rec->metric) != 0)
			usual = metric_spread(l, rec->metric, scratch);
		metric = rec->metric;
		if (spread > 0)
			weight = usual / spread;
		if (rec->told)
			weight *= TOLD_FACTOR;
		else if (rec->accused)
			weight *= ACCUSED_FACTOR;
		r = function_weights_add(ret, rec->metric, rec->function,
			fmin(rounded(weight), FUNCTION_WEIGHT_MAX));
	}
	return r < 0 ? r : function_weights_sort(ret);
}
