#include "detect/compare/vectors.h"

#include "base/cleanup.h"
#include "base/median.h"
#include "detect/compare/measure.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A distance, and the other member. */
struct distance {
	double value;
	uint32_t to;
	const char *name;
};

static int distance_compare(const void *a, const void *b)
{
	const struct distance *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Find the peer that gives a member's vote: more than half of the distances reach that far.
 * `distances` has room for all. */
static void member_vote(const struct vector_window *w, uint32_t member, struct distance *distances,
	struct vector_place *ret)
{
	const struct vector *own = w->members[member];
	uint32_t n = 0, at;

	ret->vote = ret->apart = NAN;
	ret->more = 0;
	ret->peer = VECTOR_NOBODY;
	for (uint32_t i = 0; own && i < w->n_members; i++) {
		if (i != member && w->members[i])
			distances[n++] = (struct distance){
				vector_distance_weighted(own, w->members[i], w->weights, NULL), i,
				w->names[i]};
	}
	if (!n)
		return;
	qsort(distances, n, sizeof(*distances), distance_compare);
	/* If several have the same distance, choose the first by name. */
	for (at = n - (n / 2 + 1); at > 0 && distances[at - 1].value == distances[at].value; at--)
		continue;
	ret->peer = distances[at].to;
	ret->vote = vector_distance_weighted(own, w->members[ret->peer], w->weights, &ret->more);
	ret->apart = ret->vote;
}

static int votes(const struct vector_window *w, struct vector_place *ret)
{
	int failed = 0;

	/* Each place is written by one thread. */
#pragma omp parallel reduction(min : failed)
	{
		_cleanup_free_ struct distance *distances =
			calloc((size_t)w->n_members + 1, sizeof(*distances));

		failed = distances ? 0 : -ENOMEM;
#pragma omp for schedule(dynamic)
		for (uint32_t i = 0; i < w->n_members; i++) {
			if (failed == 0)
				member_vote(w, i, distances, &ret[i]);
		}
	}
	return failed;
}

/* Compute the totals of all members, and for each the median of the others. */
static int totals(const struct vector_window *w, struct vector_place *ret)
{
	_cleanup_free_ double *values = calloc((size_t)w->n_members + 1, sizeof(*values));
	struct median_split split;
	uint32_t n = 0;

	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->n_members; i++) {
		ret[i].own = w->members[i] ? vector_total(w->members[i]) : NAN;
		if (w->members[i])
			values[n++] = ret[i].own;
	}
	split = median_split(values, n);
	/* Members without data have peers, too. */
	for (uint32_t i = 0; i < w->n_members; i++)
		ret[i].peers = w->members[i] ? median_of_others(&split, ret[i].own)
					     : median_of_all(&split);
	return 0;
}

int vectors_compare_window(const struct vector_window *w, struct vector_place *ret)
{
	int r = votes(w, ret);

	return r < 0 ? r : totals(w, ret);
}

static uint32_t dimensions_end(struct vector *const *vectors, uint32_t n)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct vector *v = vectors[i];

		if (v && v->n && v->entries[v->n - 1].dimension >= end)
			end = v->entries[v->n - 1].dimension + 1;
	}
	return end;
}

static void vector_keep(struct vector *v, const bool *kept)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (kept[v->entries[i].dimension])
			v->entries[n++] = v->entries[i];
	}
	v->n = n;
	vector_finish(v);
}

void vectors_keep(struct vector *const *vectors, uint32_t n, const bool *kept)
{
	for (uint32_t i = 0; i < n; i++) {
		if (vectors[i])
			vector_keep(vectors[i], kept);
	}
}

int vectors_reduce(struct vector *const *vectors, uint32_t n, double least)
{
	uint32_t end = dimensions_end(vectors, n);
	_cleanup_free_ bool *kept = calloc((size_t)end + 1, sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		for (size_t k = 0; vectors[i] && k < vectors[i]->n; k++) {
			const struct vector_entry *e = &vectors[i]->entries[k];

			kept[e->dimension] |= fabs(e->value) >= least;
		}
	}
	vectors_keep(vectors, n, kept);
	return 0;
}
