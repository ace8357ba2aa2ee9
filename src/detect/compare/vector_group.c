#include "detect/compare/vector_group.h"

#include "base/cleanup.h"
#include "detect/compare/votes.h"
#include "detect/group/functions.h"
#include <errno.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void vector_group_release(struct vector_group *g)
{
	vector_view_release(&g->view);
	free(g->view_of);
	free(g->names);
	free(g->places);
	*g = (struct vector_group){0};
}

/* The position of an observer among the members of the view, which are sorted. */
static uint32_t view_find(const struct vector_view *v, const char *name, size_t len)
{
	uint32_t low = 0, high = v->n_members;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int c = strncmp(v->members[middle], name, len);

		if (c == 0 && !v->members[middle][len])
			return middle;
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return UINT32_MAX;
}

/* The vectors of one window, as one thread has them. */
struct worker {
	struct vector *vectors;
	struct vector **present; /* NULL: no data */
	struct vector_place *places;
	uint32_t n;
};

static void worker_release(struct worker *k)
{
	for (uint32_t i = 0; k->vectors && i < k->n; i++)
		vector_release(&k->vectors[i]);
	free(k->vectors);
	free(k->present);
	free(k->places);
}

static int worker_init(struct worker *k, const struct vector_group *g)
{
	k->n = g->n_members;
	k->vectors = calloc((size_t)k->n + 1, sizeof(*k->vectors));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	k->present = calloc((size_t)k->n + 1, sizeof(*k->present));
	k->places = calloc((size_t)k->n + 1, sizeof(*k->places));
	return k->vectors && k->present && k->places ? 0 : -ENOMEM;
}

static int window_read(const struct vector_group *g, uint32_t window, struct worker *k)
{
	for (uint32_t i = 0; i < g->n_members; i++) {
		int r = 0;

		if (g->view_of[i] != UINT32_MAX)
			r = vector_view_window(&g->view, g->view_of[i],
				window * g->params.win_shift, g->params.win_size, &k->vectors[i]);
		if (r < 0)
			return r;
		k->present[i] = r ? &k->vectors[i] : NULL;
	}
	return g->least > 0 ? vectors_reduce(k->present, g->n_members, g->least) : 0;
}

static int window_compare(struct vector_group *g, uint32_t window, struct worker *k)
{
	struct vector_window w = {(const struct vector *const *)k->present, g->names, g->n_members};
	int r = window_read(g, window, k);

	if (r == 0)
		r = vectors_compare_window(&w, k->places);
	for (uint32_t i = 0; r == 0 && i < g->n_members; i++)
		g->places[(size_t)i * g->n_windows + window] = k->places[i];
	return r;
}

/* Windows are independent, and each is written by one thread. */
static int windows_compare(struct vector_group *g)
{
	int failed = 0;

#pragma omp parallel reduction(min : failed)
	{
		_cleanup_(worker_release) struct worker k = {0};

		failed = worker_init(&k, g);
#pragma omp for schedule(dynamic)
		for (uint32_t w = 0; w < g->n_windows; w++) {
			int r = failed < 0 ? failed : window_compare(g, w, &k);

			failed = r < failed ? r : failed;
		}
	}
	return failed;
}

static void members_find(struct vector_group *g, const char *const *components)
{
	for (uint32_t i = 0; i < g->n_members; i++) {
		size_t len;

		g->names[i] = components[i];
		g->view_of[i] = functions_joined(components[i], &len)
			? view_find(&g->view, components[i], len)
			: UINT32_MAX;
	}
}

int vector_group_make(const struct lp_table *t, const char *const *components, uint32_t n,
	const struct lp_params *params, struct vector_group *ret)
{
	const struct lp_metric *m = lp_metric_find(FUNCTION_KIND, t->metric);
	struct vector_group *g = ret;

	*g = (struct vector_group){.params = *params, .n_members = n};
	g->n_windows = window_count(params, t->n_slots);
	if (vector_view_of_table(t, FUNCTION_KIND, &g->view) < 0)
		return -ENOMEM;
	g->amount = g->view.factor * params->win_size;
	g->least = m ? m->floor * g->amount : 0;
	g->view_of = calloc((size_t)n + 1, sizeof(*g->view_of));
	g->names = calloc((size_t)n + 1, sizeof(*g->names));
	g->places = calloc((size_t)n * g->n_windows + 1, sizeof(*g->places));
	if (!g->view_of || !g->names || !g->places)
		return -ENOMEM;
	members_find(g, components);
	return windows_compare(g);
}

int vector_group_blame(
	const struct vector_group *g, uint32_t member, uint32_t window, struct vector_blame *blame)
{
	uint32_t peer = g->places[(size_t)member * g->n_windows + window].peer;
	_cleanup_(worker_release) struct worker k = {0};
	int r = worker_init(&k, g);

	if (r == 0)
		r = window_read(g, window, &k);
	if (r < 0 || peer == VECTOR_NOBODY)
		return r;
	return vector_blame_add(blame, &k.vectors[member], &k.vectors[peer]);
}

double vector_limit(const double *votes, uint32_t n)
{
	double limit = NAN;

	for (uint32_t i = 0; i < n; i++)
		limit = fmax(limit, votes[i]);
	return isnan(limit) ? NAN : fmax(1, ceil(limit));
}
