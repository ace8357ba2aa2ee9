#include "detect/compare/vector_group.h"

#include "base/cleanup.h"
#include "detect/compare/vector_spread.h"
#include "detect/group/verdict_tables.h"
#include <errno.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_METRIC "fcalls"
#define SAMPLES_METRIC "samples"

void vector_group_release(struct vector_group *g)
{
	if (g->selector)
		vector_group_release(g->selector);
	free(g->selector);
	free(g->selected);
	free(g->kept);
	free(g->weights);
	free(g->sums);
	vector_view_release(&g->view);
	free(g->view_of);
	free(g->names);
	free(g->places);
	*g = (struct vector_group){0};
}

/* The index of an observer among the members of the view, which are sorted. */
static uint32_t view_find(const struct vector_view *v, const char *name)
{
	uint32_t low = 0, high = v->n_members;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int c = strcmp(v->members[middle], name);

		if (c == 0)
			return middle;
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return UINT32_MAX;
}

/* The vectors of one window, for one thread. */
struct vector_worker {
	struct vector *vectors;
	struct vector **present; /* NULL: no data */
	struct vector_place *places;
	bool *kept; /* [dimension] those that count in this window */
	uint32_t n;
};

static void worker_release(struct vector_worker *k)
{
	for (uint32_t i = 0; k->vectors && i < k->n; i++)
		vector_release(&k->vectors[i]);
	free(k->vectors);
	free(k->present);
	free(k->places);
	free(k->kept);
}

static int worker_init(struct vector_worker *k, const struct vector_group *g)
{
	k->n = g->n_members;
	k->vectors = calloc((size_t)k->n + 1, sizeof(*k->vectors));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	k->present = calloc((size_t)k->n + 1, sizeof(*k->present));
	k->places = calloc((size_t)k->n + 1, sizeof(*k->places));
	k->kept = calloc((size_t)g->view.dimensions.n + 1, sizeof(*k->kept));
	return k->vectors && k->present && k->places && k->kept ? 0 : -ENOMEM;
}

/* Mark the dimensions that count according to a window of the selector. */
static int window_select(const struct vector_group *g, uint32_t first, bool *kept)
{
	const struct vector_group *by = g->selector ? g->selector : g;
	_cleanup_(vector_release) struct vector v = {0};
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < by->n_members; i++) {
		if (by->view_of[i] == UINT32_MAX)
			continue;
		r = vector_view_window(&by->view, by->view_of[i], first, by->win_size, &v);
		for (size_t e = 0; r > 0 && e < v.n; e++) {
			uint32_t d = v.entries[e].dimension;

			d = g->selector ? g->selected[d] : d;
			if (d != UINT32_MAX && fabs(v.entries[e].value) >= by->least)
				kept[d] = true;
		}
	}
	return r < 0 ? r : 0;
}

/* Keep the dimensions that count. */
static int window_reduce(const struct vector_group *g, uint32_t first, struct vector_worker *k)
{
	int r = 0;

	if (g->kept) {
		vectors_keep(k->present, g->n_members, g->kept);
		return 0;
	}
	if (!g->selector)
		return g->least > 0 ? vectors_reduce(k->present, g->n_members, g->least) : 0;
	memset(k->kept, 0, g->view.dimensions.n * sizeof(*k->kept));
	r = window_select(g, first, k->kept);
	vectors_keep(k->present, g->n_members, k->kept);
	return r;
}

/* The vectors of the window that begins in slot `first`, compared. */
static int window_compare(const struct vector_group *g, uint32_t first, struct vector_worker *k)
{
	struct vector_window w = {
		(const struct vector *const *)k->present, g->names, g->n_members, g->weights};
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < g->n_members; i++) {
		r = 0;
		if (g->view_of[i] != UINT32_MAX)
			r = vector_view_window(
				&g->view, g->view_of[i], first, g->win_size, &k->vectors[i]);
		k->present[i] = r > 0 ? &k->vectors[i] : NULL;
	}
	if (r >= 0)
		r = window_reduce(g, first, k);
	return r < 0 ? r : vectors_compare_window(&w, k->places);
}

static int window_places(const struct vector_group *g, uint32_t first, struct vector_worker *k)
{
	return g->by_spread ? vector_spread_window(g, first, k->places)
			    : window_compare(g, first, k);
}

/* Windows are independent, and each is written by one thread. */
int vector_group_compare(struct vector_group *g, uint32_t first, uint32_t n_windows)
{
	int failed = 0;

	g->n_windows = n_windows;
	free(g->places);
	g->places = calloc((size_t)g->n_members * n_windows + 1, sizeof(*g->places));
	if (!g->places)
		return -ENOMEM;
#pragma omp parallel reduction(min : failed)
	{
		_cleanup_(worker_release) struct vector_worker k = {0};

		failed = worker_init(&k, g);
#pragma omp for schedule(dynamic)
		for (uint32_t w = 0; w < n_windows; w++) {
			int r = failed < 0 ? failed
					   : window_places(g, first + w * g->win_shift, &k);

			for (uint32_t i = 0; r == 0 && i < g->n_members; i++)
				g->places[(size_t)i * n_windows + w] = k.places[i];
			failed = r < failed ? r : failed;
		}
	}
	return failed;
}

static void members_find(struct vector_group *g, struct lp_identity *const *components)
{
	for (uint32_t i = 0; i < g->n_members; i++) {
		g->names[i] = components[i]->text;
		g->view_of[i] = functions_joined(components[i])
			? view_find(&g->view, components[i]->observer)
			: UINT32_MAX;
	}
}

int vector_group_make(const struct lp_table *t, struct lp_identity *const *components, uint32_t n,
	const struct lp_params *params, struct vector_group *ret)
{
	const struct lp_metric *m = lp_metric_find(FUNCTION_KIND, t->metric);
	struct vector_group *g = ret;

	*g = (struct vector_group){.metric = t->metric,
		.n_members = n,
		.win_size = params->win_size,
		.win_shift = params->win_shift};
	if (vector_view_of_table(t, FUNCTION_KIND, &g->view) < 0)
		return -ENOMEM;
	g->amount = g->view.factor * params->win_size;
	g->least = m ? m->floor * g->amount : 0;
	g->view_of = calloc((size_t)n + 1, sizeof(*g->view_of));
	g->names = calloc((size_t)n + 1, sizeof(*g->names));
	if (!g->view_of || !g->names)
		return -ENOMEM;
	members_find(g, components);
	return 0;
}

int vector_group_weigh(struct vector_group *g, const struct function_weights *weights)
{
	free(g->weights);
	return function_weights_of(weights, g->metric, &g->view.dimensions, &g->weights);
}

/* The number of the dimension "program:image:*" for a function of that image; UINT32_MAX: the name
 * has no image. */
static int image_intern(struct dimensions *d, const char *name, uint32_t *ret)
{
	size_t program = strcspn(name, ":"), image = 0;
	_cleanup_free_ char *sum = NULL;

	*ret = UINT32_MAX;
	if (name[program])
		image = strcspn(name + program + 1, ":");
	if (!name[program] || !name[program + 1 + image])
		return 0;
	if (asprintf(&sum, "%.*s:*", (int)(program + 1 + image), name) < 0) {
		sum = NULL;
		return -ENOMEM;
	}
	return dimensions_intern(d, sum, ret);
}

int vector_group_by_spread(struct vector_group *g)
{
	int r = 0;

	g->by_spread = g->least > 0;
	g->counts_calls = !strcmp(g->metric, CALLS_METRIC);
	g->n_plain = g->view.dimensions.n;
	if (!g->by_spread || strcmp(g->metric, SAMPLES_METRIC) != 0)
		return 0;
	/* Also room for the sums, which have no image themselves. */
	g->sums = malloc((2 * (size_t)g->n_plain + 1) * sizeof(*g->sums));
	if (!g->sums)
		return -ENOMEM;
	memset(g->sums, 0xff, (2 * (size_t)g->n_plain + 1) * sizeof(*g->sums));
	for (uint32_t i = 0; r == 0 && i < g->n_plain; i++)
		r = image_intern(&g->view.dimensions, g->view.dimensions.names[i], &g->sums[i]);
	return r;
}

int vector_group_select_by(struct vector_group *g, const struct lp_table *t,
	struct lp_identity *const *components, const struct lp_params *params)
{
	uint32_t n;

	g->selector = calloc(1, sizeof(*g->selector));
	if (!g->selector || vector_group_make(t, components, g->n_members, params, g->selector) < 0)
		return -ENOMEM;
	n = g->selector->view.dimensions.n;
	g->selected = calloc((size_t)n + 1, sizeof(*g->selected));
	if (!g->selected)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		g->selected[i] = UINT32_MAX;
		dimensions_find(&g->view.dimensions, g->selector->view.dimensions.names[i],
			&g->selected[i]);
	}
	return 0;
}

int vector_group_select_whole(struct vector_group *g, const uint32_t *first, uint32_t n_windows)
{
	int r = 0;

	free(g->kept);
	g->kept = calloc((size_t)g->view.dimensions.n + 1, sizeof(*g->kept));
	if (!g->kept)
		return -ENOMEM;
	for (uint32_t w = 0; r == 0 && w < n_windows; w++)
		r = window_select(g, first[w], g->kept);
	return r;
}

int vector_group_blame(
	const struct vector_group *g, uint32_t member, uint32_t first, struct vector_blame *blame)
{
	_cleanup_(worker_release) struct vector_worker k = {0};
	uint32_t peer;
	int r;

	if (g->by_spread)
		return vector_spread_blame(g, member, first, blame);
	r = worker_init(&k, g);
	if (r == 0)
		r = window_compare(g, first, &k);
	if (r < 0)
		return r;
	peer = k.places[member].peer;
	return peer == VECTOR_NOBODY
		? 0
		: vector_blame_add(blame, &k.vectors[member], &k.vectors[peer], g->weights);
}

double vector_limit(const double *votes, uint32_t n)
{
	double limit = NAN;

	for (uint32_t i = 0; i < n; i++)
		limit = fmax(limit, votes[i]);
	return isnan(limit) ? NAN : fmax(1, ceil(limit));
}
