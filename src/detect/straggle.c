#include "detect/straggle.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include "base/slices.h"
#include "base/time.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MEMBERS_LEAST 4
/* Less than this share of the usual work counts as no work. */
#define NOTHING 1e-3
/* It works alone for at least this long, and this multiple of the time that its peers worked
 * before. */
#define ALONE_US (60 * US_PER_SEC)
#define ALONE_TIMES 2
/* A member is alone if at most this share of the others works. */
#define ALONE_OTHERS 0.1
/* It had as much work as its peers, within this factor, and does it at half their pace at most. */
#define SAME_JOB 2.0
#define SLOW_PACE 0.5

/* The work of one group. */
struct work {
	const struct lp_table *t;
	const struct lp_peer_group *g;
	const double **rows; /* [member] NULL: it has none */
	uint32_t n_rows;
	uint32_t *n_active; /* [slot] members at work */
	double least;	    /* less work than this does not count */
	double *values;	    /* room for one number per member */
};

static void work_release(struct work *w)
{
	free(w->rows);
	free(w->n_active);
	free(w->values);
}

static bool is_active(const struct work *w, uint32_t member, uint32_t slot)
{
	return w->rows[member] && w->rows[member][slot] > w->least;
}

/* The usual work: the mean of all samples with work. */
static double usual_work(const struct work *w)
{
	double sum = 0;
	uint64_t n = 0;

	for (uint32_t i = 0; i < w->g->n_members; i++) {
		slices_rest_at(i);
		for (uint32_t s = 0; w->rows[i] && s < w->t->n_slots; s++) {
			if (!(w->rows[i][s] > 0))
				continue;
			sum += w->rows[i][s];
			n++;
		}
	}
	return n ? sum / (double)n : 0;
}

static int work_init(struct work *w, const struct lp_verdict *v, uint32_t group, uint32_t metric)
{
	uint32_t n = v->groups[group].n_members, n_slots = v->tables[metric]->n_slots;

	*w = (struct work){.t = v->tables[metric], .g = &v->groups[group]};
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	w->rows = calloc((size_t)n + 1, sizeof(*w->rows));
	w->n_active = calloc((size_t)n_slots + 1, sizeof(*w->n_active));
	w->values = calloc((size_t)n + 1, sizeof(*w->values));
	if (!w->rows || !w->n_active || !w->values)
		return -ENOMEM;
	w->n_rows = group_rows(v, group, metric, w->rows);
	w->least = NOTHING * usual_work(w);
	for (uint32_t i = 0; i < n; i++) {
		slices_rest_at(i);
		for (uint32_t s = 0; s < n_slots; s++)
			w->n_active[s] += is_active(w, i, s);
	}
	return 0;
}

/* Is a member at work, and hardly any other? */
static bool is_alone(const struct work *w, uint32_t member, uint32_t slot)
{
	return is_active(w, member, slot) &&
		w->n_active[slot] - 1 <= ALONE_OTHERS * (w->n_rows - 1);
}

/* A job: all members work on it from slot `burst` on, and one member continues alone in the slots
 * from .. end - 1. */
struct job {
	uint32_t burst, from, end;
	double pace, peers; /* of the straggler, and of its peers before that */
};

static double work_in(const struct work *w, uint32_t member, uint32_t from, uint32_t end)
{
	double sum = 0;

	for (uint32_t s = from; w->rows[member] && s < end; s++)
		sum += isnan(w->rows[member][s]) ? 0 : w->rows[member][s];
	return sum;
}

/* The burst before the slots in which a member works alone. In a burst most members work, including
 * this one. */
static uint32_t burst_begin(const struct work *w, uint32_t member, uint32_t from)
{
	uint32_t begin = from, own = 0;

	/* While the others finish one after the other, the number of working members is in
	 * between. */
	while (begin > 0 && 2 * w->n_active[begin - 1] < w->n_rows &&
		is_active(w, member, begin - 1))
		begin--;
	from = begin;
	while (begin > 0 && 2 * w->n_active[begin - 1] >= w->n_rows) {
		begin--;
		own += is_active(w, member, begin);
	}
	return 2 * own >= from - begin ? begin : from;
}

/* Does a member straggle in the slots in which it is alone? */
static bool straggles(const struct work *w, uint32_t member, struct job *j)
{
	uint32_t n = 0, alone = j->end - j->from, busy = 0;
	double usual, own;

	j->burst = burst_begin(w, member, j->from);
	for (uint32_t s = j->burst; s < j->from; s++)
		busy += 2 * w->n_active[s] >= w->n_rows;
	if (!busy || alone < ALONE_TIMES * busy || alone * w->t->step_us < ALONE_US)
		return false;
	for (uint32_t i = 0; i < w->g->n_members; i++) {
		if (i != member && w->rows[i])
			w->values[n++] = work_in(w, i, j->burst, j->from);
	}
	usual = median_of(w->values, n);
	own = work_in(w, member, j->burst, j->end);
	j->pace = work_in(w, member, j->from, j->end) / alone;
	j->peers = usual / busy;
	return own >= usual / SAME_JOB && own <= usual * SAME_JOB &&
		j->pace <= SLOW_PACE * j->peers;
}

/* The last job in which a member straggled. */
static bool last_job(const struct work *w, uint32_t member, struct job *ret)
{
	for (uint32_t end = w->t->n_slots; w->rows[member] && end > 0; end--) {
		struct job j = {.from = end, .end = end};

		while (j.from > 0 && is_alone(w, member, j.from - 1))
			j.from--;
		if (j.from == end)
			continue;
		if (straggles(w, member, &j)) {
			*ret = j;
			return true;
		}
		end = j.from + 1;
	}
	return false;
}

static int finding_add(const struct work *w, const struct lp_verdict *v, uint32_t series,
	uint32_t member, const struct job *j, struct findings *f)
{
	const struct lp_series *s = &v->series[series];
	int64_t step_us = w->t->step_us, shift_us = v->params.win_shift * v->params.step_us;
	uint32_t n = (uint32_t)((j->end - j->from) * step_us / (shift_us > 0 ? shift_us : step_us));

	if (array_reserve(&f->items, &f->cap, f->n + 1, sizeof(*f->items)) < 0)
		return -ENOMEM;
	n = n ? n : 1;
	f->items[f->n] = (struct lp_finding){.component = w->g->members[member],
		.group = s->group,
		.metric = s->metric,
		.series = series,
		.member = member,
		.role = LP_ROLE_YIELD,
		.direction = LP_MARK_BELOW,
		.straggler = true,
		.n_windows = n,
		.n_anomalous = n,
		.persistence = j->end == w->t->n_slots ? n : 0,
		.peak = n,
		.own = j->pace,
		.peers = j->peers,
		.ratio = j->pace / j->peers,
		.distance = (double)(j->end - j->burst) / (j->from - j->burst),
		.threshold = 1 + ALONE_TIMES,
		.weight = 1,
		.load_ratio = NAN,
		.culprit = true,
		.first_us = lp_table_time(w->t, j->burst) - step_us,
		.last_us = lp_table_time(w->t, j->end - 1),
		.ended = j->end < w->t->n_slots};
	f->items[f->n].indicted_us = lp_table_time(w->t, j->from) - step_us + ALONE_US;
	f->n++;
	return 0;
}

/* Find stragglers among the members of one series. */
static int series_find(const struct lp_verdict *v, uint32_t series, struct findings *f)
{
	const struct lp_series *s = &v->series[series];
	_cleanup_(work_release) struct work w = {0};
	struct job j;
	int r = work_init(&w, v, s->group, s->metric);

	for (uint32_t i = 0; r == 0 && w.n_rows >= MEMBERS_LEAST && i < w.g->n_members; i++) {
		slices_rest_at(i);
		if (last_job(&w, i, &j))
			r = finding_add(&w, v, series, i, &j, f);
	}
	return r;
}

int straggle_find(const struct lp_verdict *v, struct findings *f)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < v->n_series; i++) {
		const struct lp_series *s = &v->series[i];
		const struct lp_table *t = v->tables[s->metric];
		const char *kind = v->components[v->groups[s->group].members[0]]->kind;

		if (t->step_us > 0 && t->n_slots && !group_has_vectors(v, s->group) &&
			lp_metric_role(kind, t->metric) == LP_ROLE_WORK)
			r = series_find(v, i, f);
	}
	return r;
}
