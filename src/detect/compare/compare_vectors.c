/* Peer groups that are compared by vectors: the parts that differ. */
#include "base/cleanup.h"
#include "detect/compare/compare.h"
#include "detect/compare/vector_group.h"
#include "detect/group/verdict_tables.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A member does less if its reduction is at least this multiple of its increase. Time that is not
 * spent in one function is spent in another, so a lot of both proves nothing. */
#define LESS_LEAST 2.0

/* The table that decides which functions of another one count; NULL: that table itself. As in the
 * paper, calls are counted for functions that take time, not for those that are called often: some
 * functions are called all the time and do nothing. */
static const struct lp_table *selecting_table(const struct lp_verdict *v, uint32_t metric)
{
	const struct lp_metric *m = lp_metric_find(FUNCTION_KIND, v->tables[metric]->metric);

	for (uint32_t i = 0; m && m->selector && i < v->n_tables; i++) {
		if (!strcmp(v->tables[i]->metric, m->selector))
			return v->tables[i];
	}
	return NULL;
}

int group_vectors(const struct lp_verdict *v, uint32_t group, uint32_t metric,
	const struct lp_params *params, const struct function_weights *weights,
	struct vector_group *ret)
{
	const struct lp_peer_group *g = &v->groups[group];
	_cleanup_free_ struct lp_identity **components =
		calloc((size_t)g->n_members + 1, sizeof(struct lp_identity *));
	const struct lp_table *by = selecting_table(v, metric);
	int r;

	if (!components)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_members; i++)
		components[i] = v->components[g->members[i]];
	r = vector_group_make(v->tables[metric], components, g->n_members, params, ret);
	if (r == 0)
		r = vector_group_weigh(ret, weights);
	return r == 0 && by ? vector_group_select_by(ret, by, components, params) : r;
}

int detect_vectors(const struct detect_options *opt, const struct lp_verdict *v, uint32_t group,
	uint32_t metric, const struct lp_params *params, struct vector_group *ret)
{
	int r = group_vectors(v, group, metric, params, detect_weights(opt), ret);

	return r == 0 && opt->by_spread ? vector_group_by_spread(ret) : r;
}

static int select_whole(const struct comparison *c)
{
	uint32_t n = c->series->n_windows;
	_cleanup_free_ uint32_t *first = calloc((size_t)n + 1, sizeof(*first));

	if (!first)
		return -ENOMEM;
	for (uint32_t w = 0; w < n; w++)
		first[w] = c->context + w * c->params.win_shift;
	return vector_group_select_whole(c->vectors, first, n);
}

int comparison_vectors(struct comparison *c)
{
	const struct lp_series *s = c->series;
	size_t n = (size_t)c->v->groups[s->group].n_members * s->n_windows;
	int r;

	c->vectors = calloc(1, sizeof(*c->vectors));
	if (!c->vectors)
		return -ENOMEM;
	r = detect_vectors(c->opt, c->v, s->group, s->metric, &c->params, c->vectors);
	/* An engine sees one window after the other and must not change earlier decisions. */
	if (r == 0 && !c->past)
		r = select_whole(c);
	if (r == 0)
		r = vector_group_compare(c->vectors, c->context, s->n_windows);
	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct vector_place *p = &c->vectors->places[i];

		c->votes[i] = p->vote;
		c->data[i] = !isnan(p->own);
		/* In the metric's unit, as the table has it. */
		c->own[i] = (float)(p->own / c->vectors->amount);
		c->peers[i] = (float)(p->peers / c->vectors->amount);
	}
	return r < 0 ? r : comparison_thresholds(c);
}

enum lp_mark comparison_vector_mark(struct comparison *c, size_t at, double ratio_least)
{
	const struct vector_place *p = &c->vectors->places[at];
	double size = 1 + p->apart / (p->peers + c->floor * c->vectors->amount);
	bool below = p->vote - p->more > LESS_LEAST * p->more;

	c->series->ratios[at] = (float)(below ? 1 / size : size);
	if (p->own <= 0 && c->peers[at] > c->floor)
		return LP_MARK_ABSENT;
	if (c->calibrated && !c->vectors->by_spread && size < ratio_least)
		return LP_MARK_NORMAL;
	return below ? LP_MARK_BELOW : LP_MARK_ABOVE;
}
