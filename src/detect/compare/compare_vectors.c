/* A peer group that is compared by vectors: what is different about it. */
#include "base/cleanup.h"
#include "detect/compare/compare.h"
#include "detect/compare/vector_group.h"
#include "detect/group/verdict_tables.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* What does less is different in this: what it has less of is so many times what it has more of.
 * Time that is not spent in one function is spent in another, so that much of both says nothing. */
#define LESS_LEAST 2.0

bool group_has_vectors(const struct lp_verdict *v, uint32_t group)
{
	const struct lp_peer_group *g = &v->groups[group];

	return g->n_members && functions_joined(v->components[g->members[0]]);
}

int group_vectors(const struct lp_verdict *v, uint32_t group, uint32_t metric,
	const struct lp_params *params, struct vector_group *ret)
{
	const struct lp_peer_group *g = &v->groups[group];
	_cleanup_free_ struct lp_identity **components =
		calloc((size_t)g->n_members + 1, sizeof(struct lp_identity *));

	if (!components)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_members; i++)
		components[i] = v->components[g->members[i]];
	return vector_group_make(v->tables[metric], components, g->n_members, params, ret);
}

int comparison_vectors(struct comparison *c)
{
	const struct lp_series *s = c->series;
	size_t n = (size_t)c->v->groups[s->group].n_members * s->n_windows;
	int r;

	c->vectors = calloc(1, sizeof(*c->vectors));
	if (!c->vectors)
		return -ENOMEM;
	r = group_vectors(c->v, s->group, s->metric, &c->params, c->vectors);
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
	double size = 1 + p->vote / (p->peers + c->floor * c->vectors->amount);
	bool below = p->vote - p->more > LESS_LEAST * p->more;

	c->series->ratios[at] = (float)(below ? 1 / size : size);
	if (p->own <= 0 && c->peers[at] > c->floor)
		return LP_MARK_ABSENT;
	if (c->calibrated && size < ratio_least)
		return LP_MARK_NORMAL;
	return below ? LP_MARK_BELOW : LP_MARK_ABOVE;
}
