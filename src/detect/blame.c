#include "detect/blame.h"

#include "base/cleanup.h"
#include "detect/compare/compare.h"
#include "detect/compare/marks.h"
#include "detect/compare/vector_group.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int finding_name(struct lp_verdict *v, const struct vector_group *g,
	const struct vector_culprit *top, uint32_t n, struct lp_finding *f)
{
	struct lp_dimension *all =
		reallocarray(v->dimensions, (size_t)v->n_dimensions + n, sizeof(*v->dimensions));

	if (!all)
		return -ENOMEM;
	v->dimensions = all;
	f->first_dimension = v->n_dimensions;
	for (uint32_t i = 0; i < n; i++) {
		char *name = strdup(g->view.dimensions.names[top[i].dimension]);

		if (!name)
			return -ENOMEM;
		all[v->n_dimensions++] = (struct lp_dimension){.name = name,
			.own = top[i].own / g->amount,
			.peers = top[i].peer / g->amount,
			.distance = top[i].distance,
			.share = top[i].share};
		f->n_dimensions++;
	}
	return 0;
}

static int finding_blame(
	struct lp_verdict *v, const struct detect_options *opt, bool whole, struct lp_finding *f)
{
	const struct lp_series *s = &v->series[f->series];
	const uint8_t *marks = s->marks + (size_t)f->member * s->n_windows;
	/* All windows of a series have the same length. */
	struct lp_params params = {.win_size = s->last[0] - s->first[0] + 1};
	_cleanup_(vector_group_release) struct vector_group g = {0};
	_cleanup_(vector_blame_release) struct vector_blame blame = {0};
	struct vector_culprit top[LP_FINDING_DIMENSIONS_MAX];
	int n, r = detect_vectors(opt, v, f->group, f->metric, &params, &g);

	if (r == 0 && whole)
		r = vector_group_select_whole(&g, s->first, s->n_windows);
	for (uint32_t w = 0; r == 0 && w < s->n_windows; w++) {
		if (marks[w] == f->direction)
			r = vector_group_blame(&g, f->member, s->first[w], &blame);
	}
	if (r < 0)
		return r;
	n = vector_blame_top(&blame, &g.view.dimensions, top, LP_FINDING_DIMENSIONS_MAX);
	return n <= 0 ? n : finding_name(v, &g, top, (uint32_t)n, f);
}

int blame_functions(struct lp_verdict *v, const struct detect_options *opt, bool whole)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < v->n_findings; i++) {
		struct lp_finding *f = &v->findings[i];

		if (group_has_vectors(v, f->group))
			r = finding_blame(v, opt, whole, f);
	}
	return r;
}
