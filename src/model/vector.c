#include "model/vector.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/fixed_sum.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void dimensions_release(struct dimensions *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		free(d->names[i]);
	free(d->names);
	strmap_release(&d->index);
	*d = (struct dimensions){0};
}

bool dimensions_find(const struct dimensions *d, const char *name, uint32_t *ret)
{
	return strmap_get(&d->index, name, ret);
}

int dimensions_intern(struct dimensions *d, const char *name, uint32_t *ret)
{
	_cleanup_free_ char *copy = NULL;

	if (dimensions_find(d, name, ret))
		return 0;
	copy = strdup(name);
	if (!copy || d->n == UINT32_MAX ||
		array_reserve(&d->names, &d->cap, (size_t)d->n + 1, sizeof(*d->names)) < 0 ||
		strmap_put(&d->index, name, d->n) < 0)
		return -ENOMEM;
	d->names[d->n] = TAKE_PTR(copy);
	*ret = d->n++;
	return 0;
}

void vector_release(struct vector *v)
{
	free(v->entries);
	*v = (struct vector){0};
}

void vector_clear(struct vector *v)
{
	v->n = 0;
	v->largest = 0;
}

int vector_add(struct vector *v, uint32_t dimension, double value)
{
	/* This form also rejects NaN. */
	if (!(fabs(value) <= VECTOR_VALUE_MAX) || value == 0)
		return 0;
	if (v->n >= UINT32_MAX ||
		array_reserve(&v->entries, &v->cap, v->n + 1, sizeof(*v->entries)) < 0)
		return -ENOMEM;
	v->entries[v->n] = (struct vector_entry){dimension, (uint32_t)v->n, value};
	v->n++;
	return 0;
}

static bool is_sorted(const struct vector *v)
{
	for (size_t i = 1; i < v->n; i++) {
		if (v->entries[i - 1].dimension >= v->entries[i].dimension)
			return false;
	}
	return true;
}

/* Sort by dimension, then by the order of addition. */
static int entry_compare(const void *a, const void *b)
{
	const struct vector_entry *x = a, *y = b;

	if (x->dimension != y->dimension)
		return x->dimension < y->dimension ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Add up repeated dimensions, and drop those with the sum 0. */
static void squeeze(struct vector *v)
{
	size_t n = 0;

	for (size_t i = 0, next; i < v->n; i = next) {
		struct vector_entry e = v->entries[i];

		for (next = i + 1; next < v->n && v->entries[next].dimension == e.dimension; next++)
			e.value += v->entries[next].value;
		if (e.value != 0)
			v->entries[n++] = e;
	}
	v->n = n;
}

static void find_largest(struct vector *v)
{
	v->largest = 0;
	for (size_t i = 0; i < v->n; i++)
		v->largest = fmax(v->largest, fabs(v->entries[i].value));
}

void vector_finish(struct vector *v)
{
	if (!is_sorted(v))
		qsort(v->entries, v->n, sizeof(*v->entries), entry_compare);
	squeeze(v);
	for (size_t i = 0; i < v->n; i++)
		v->entries[i].order = (uint32_t)i;
	find_largest(v);
}

/* Go backwards, so that it works in place. */
int vector_merge(struct vector *v, const struct vector *other)
{
	size_t a = v->n, b = other->n, room = a + b, at = room;

	if (array_reserve(&v->entries, &v->cap, room, sizeof(*v->entries)) < 0)
		return -ENOMEM;
	while (b > 0) {
		const struct vector_entry *theirs = &other->entries[b - 1];

		if (a > 0 && v->entries[a - 1].dimension > theirs->dimension) {
			v->entries[--at] = v->entries[--a];
			continue;
		}
		v->entries[--at] = *theirs;
		b--;
		if (a > 0 && v->entries[a - 1].dimension == theirs->dimension)
			v->entries[at].value = v->entries[--a].value + theirs->value;
	}
	/* The entries below were not moved; common dimensions leave a gap. */
	if (at > a)
		memmove(v->entries + a, v->entries + at, (room - at) * sizeof(*v->entries));
	v->n = a + room - at;
	squeeze(v);
	find_largest(v);
	return 0;
}

void vector_scale(struct vector *v, double factor)
{
	for (size_t i = 0; i < v->n; i++)
		v->entries[i].value *= factor;
	squeeze(v);
	find_largest(v);
}

double vector_get(const struct vector *v, uint32_t dimension)
{
	size_t low = 0, high = v->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (v->entries[middle].dimension < dimension)
			low = middle + 1;
		else
			high = middle;
	}
	return low < v->n && v->entries[low].dimension == dimension ? v->entries[low].value : 0;
}

double vector_total(const struct vector *v)
{
	struct fixed_sum sum = fixed_sum_for(v->largest);

	for (size_t i = 0; i < v->n; i++)
		fixed_sum_add(&sum, v->entries[i].value);
	return fixed_sum_value(&sum);
}

bool vector_next(const struct vector *a, const struct vector *b, struct vector_walk *at,
	struct vector_pair *ret)
{
	const struct vector_entry *x = at->a < a->n ? &a->entries[at->a] : NULL;
	const struct vector_entry *y = at->b < b->n ? &b->entries[at->b] : NULL;

	if (!x && !y)
		return false;
	if (x && y && x->dimension != y->dimension) {
		if (x->dimension < y->dimension)
			y = NULL;
		else
			x = NULL;
	}
	*ret = (struct vector_pair){
		x ? x->dimension : y->dimension, x ? x->value : 0, y ? y->value : 0};
	at->a += x != NULL;
	at->b += y != NULL;
	return true;
}

/* The largest weight of any dimension of the two. */
static double weight_largest(const struct vector *a, const struct vector *b, const double *weights)
{
	double largest = 0;

	if (!weights)
		return 1;
	for (size_t i = 0; i < a->n; i++)
		largest = fmax(largest, weights[a->entries[i].dimension]);
	for (size_t i = 0; i < b->n; i++)
		largest = fmax(largest, weights[b->entries[i].dimension]);
	return largest;
}

double vector_distance(const struct vector *a, const struct vector *b, double *ret_more)
{
	return vector_distance_weighted(a, b, NULL, ret_more);
}

double vector_distance_weighted(
	const struct vector *a, const struct vector *b, const double *weights, double *ret_more)
{
	/* Differences are up to twice as large as values. */
	struct fixed_sum all = fixed_sum_for(
				 2 * fmax(a->largest, b->largest) * weight_largest(a, b, weights)),
			 more = all;
	struct vector_walk at = {0};
	struct vector_pair pair;

	while (vector_next(a, b, &at, &pair)) {
		double apart = fabs(pair.a - pair.b) * (weights ? weights[pair.dimension] : 1);

		fixed_sum_add(&all, apart);
		if (pair.a > pair.b)
			fixed_sum_add(&more, apart);
	}
	if (ret_more)
		*ret_more = fixed_sum_value(&more);
	return fixed_sum_value(&all);
}
