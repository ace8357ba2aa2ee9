#include "detect/compare/vector_blame.h"

#include "base/cleanup.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void vector_blame_release(struct vector_blame *b)
{
	vector_release(&b->own);
	vector_release(&b->peer);
	vector_release(&b->distance);
	*b = (struct vector_blame){0};
}

int vector_blame_add(struct vector_blame *b, const struct vector *own, const struct vector *peer,
	const double *weights)
{
	_cleanup_(vector_release) struct vector distance = {0};
	struct vector_walk at = {0};
	struct vector_pair pair;
	int r = 0;

	while (r == 0 && vector_next(own, peer, &at, &pair))
		r = vector_add(&distance, pair.dimension,
			fabs(pair.a - pair.b) * (weights ? weights[pair.dimension] : 1));
	vector_finish(&distance);
	if (r == 0)
		r = vector_merge(&b->distance, &distance);
	if (r == 0)
		r = vector_merge(&b->own, own);
	if (r == 0)
		r = vector_merge(&b->peer, peer);
	b->n_windows++;
	return r;
}

/* A dimension with its sort key. */
struct ranked_culprit {
	struct vector_entry entry;
	const char *name;
};

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked_culprit *x = a, *y = b;

	if (x->entry.value != y->entry.value)
		return x->entry.value > y->entry.value ? -1 : 1;
	return strcmp(x->name, y->name);
}

int vector_blame_top(const struct vector_blame *b, const struct dimensions *names,
	struct vector_culprit *ret, uint32_t max)
{
	size_t n = b->distance.n;
	_cleanup_free_ struct ranked_culprit *ranked = calloc(n + 1, sizeof(*ranked));
	double all = 0;
	uint32_t i;

	if (!ranked)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++) {
		ranked[k] = (struct ranked_culprit){
			b->distance.entries[k], names->names[b->distance.entries[k].dimension]};
		all += b->distance.entries[k].value;
	}
	if (n)
		qsort(ranked, n, sizeof(*ranked), ranked_compare);
	for (i = 0; i < max && i < n; i++) {
		uint32_t d = ranked[i].entry.dimension;

		ret[i] = (struct vector_culprit){.dimension = d,
			.distance = ranked[i].entry.value,
			.own = vector_get(&b->own, d) / b->n_windows,
			.peer = vector_get(&b->peer, d) / b->n_windows,
			.share = all > 0 ? ranked[i].entry.value / all : 0};
	}
	return (int)i;
}
