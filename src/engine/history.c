#include "engine/history.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct kept nothing = {NAN, NAN, NAN, 0, LP_MARK_NONE};

static void tracks_release(struct tracks *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->items[i].kept);
	free(t->items);
	free(t->metric);
	strmap_release(&t->index);
}

void history_release(struct history *h)
{
	for (size_t i = 0; i < h->n; i++)
		tracks_release(&h->metrics[i]);
	free(h->metrics);
	*h = (struct history){0};
}

const struct tracks *history_find(const struct history *h, const char *metric)
{
	for (size_t i = 0; i < h->n; i++) {
		if (!strcmp(h->metrics[i].metric, metric))
			return &h->metrics[i];
	}
	return NULL;
}

struct tracks *history_metric(struct history *h, const char *metric)
{
	const struct tracks *known = history_find(h, metric);
	char *copy;

	if (known)
		return &h->metrics[known - h->metrics];
	copy = strdup(metric);
	if (!copy || array_reserve(&h->metrics, &h->cap, h->n + 1, sizeof(*h->metrics)) < 0) {
		free(copy);
		return NULL;
	}
	h->metrics[h->n] = (struct tracks){.metric = copy};
	return &h->metrics[h->n++];
}

const struct track *tracks_find(const struct tracks *t, const char *component)
{
	uint32_t at;

	return t && strmap_get(&t->index, component, &at) ? &t->items[at] : NULL;
}

struct track *tracks_get(struct tracks *t, const char *component)
{
	uint32_t at;

	if (strmap_get(&t->index, component, &at))
		return &t->items[at];
	if (array_reserve(&t->items, &t->cap, t->n + 1, sizeof(*t->items)) < 0 ||
		strmap_put(&t->index, component, (uint32_t)t->n) < 0)
		return NULL;
	t->items[t->n] = (struct track){.first_slot = INT64_MAX};
	return &t->items[t->n++];
}

int track_put(struct track *t, int64_t number, const struct kept *k)
{
	if (!t->n)
		t->begin = number;
	if (array_reserve(&t->kept, &t->cap, (size_t)(number - t->begin) + 1, sizeof(*t->kept)) < 0)
		return -ENOMEM;
	while (t->begin + t->n < number)
		t->kept[t->n++] = nothing;
	t->kept[number - t->begin] = *k;
	if (t->begin + t->n == number)
		t->n++;
	return 0;
}

struct kept track_get(const struct track *t, int64_t number)
{
	if (!t || number < t->begin || number >= t->begin + t->n)
		return nothing;
	return t->kept[number - t->begin];
}

static void track_trim(struct track *t, int64_t number)
{
	int64_t drop = number - t->begin;

	if (drop <= 0 || !t->n)
		return;
	drop = drop > t->n ? t->n : drop;
	t->n -= (uint32_t)drop;
	t->begin += drop;
	memmove(t->kept, t->kept + drop, t->n * sizeof(*t->kept));
}

/* Forget the tracks that have nothing left. */
static int tracks_retire(struct tracks *t)
{
	_cleanup_(strmap_release) struct strmap index = {0};
	_cleanup_free_ uint32_t *moved = calloc(t->n + 1, sizeof(*moved));
	size_t n = 0;
	const char *key;
	uint32_t at;

	if (!moved)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		moved[i] = t->items[i].n ? (uint32_t)n++ : UINT32_MAX;
	}
	if (n == t->n)
		return 0;
	for (size_t i = 0; strmap_next(&t->index, &i, &key, &at);) {
		if (moved[at] != UINT32_MAX && strmap_put(&index, key, moved[at]) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < t->n; i++) {
		if (moved[i] == UINT32_MAX)
			free(t->items[i].kept);
		else
			t->items[moved[i]] = t->items[i];
	}
	t->n = n;
	strmap_release(&t->index);
	t->index = index;
	index = (struct strmap){0};
	return 0;
}

int history_trim(struct history *h, int64_t window, int64_t slot)
{
	int r = 0;

	for (size_t m = 0; r == 0 && m < h->n; m++) {
		struct tracks *t = &h->metrics[m];

		for (size_t i = 0; i < t->n; i++)
			track_trim(&t->items[i], t->by_sample ? slot : window);
		r = tracks_retire(t);
	}
	return r;
}
