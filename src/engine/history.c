#include "engine/history.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/slices.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More windows than this without a result are a gap. */
#define GAP_LEAST 64

static const struct kept nothing = {NAN, NAN, NAN, 0, LP_MARK_NONE};

static void track_release(struct track *t)
{
	free(t->kept);
	free(t->gaps);
}

static void tracks_release(struct tracks *t)
{
	for (size_t i = 0; i < t->n; i++)
		track_release(&t->items[i]);
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

int tracks_get(struct tracks *t, const char *component, uint32_t *ret)
{
	if (strmap_get(&t->index, component, ret))
		return 0;
	if (array_reserve(&t->items, &t->cap, t->n + 1, sizeof(*t->items)) < 0 ||
		strmap_put(&t->index, component, (uint32_t)t->n) < 0)
		return -ENOMEM;
	t->items[t->n] = (struct track){.first_slot = INT64_MAX};
	*ret = (uint32_t)t->n++;
	return 0;
}

int64_t track_number(const struct track *t, uint32_t i)
{
	size_t low = 0, high = t->n_gaps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->gaps[middle].at <= i)
			low = middle + 1;
		else
			high = middle;
	}
	return t->begin + i + (low ? t->gaps[low - 1].skipped : 0);
}

/* The first window kept whose number is not less. */
static uint32_t track_search(const struct track *t, int64_t number)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (track_number(t, middle) < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Make room for `need` windows. There are hundreds of thousands of tracks in a large fleet, and
 * they stop growing after a span: twice as much as necessary would be a waste. */
static int kept_reserve(struct track *t, size_t need)
{
	size_t want = need + need / 8 + 3;
	struct kept *grown;

	if (need <= t->cap)
		return 0;
	grown = reallocarray(t->kept, want, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	t->kept = grown;
	t->cap = want;
	return 0;
}

/* Windows before `number` have no result. A long run of them takes no memory.
 */
static int track_extend(struct track *t, int64_t number)
{
	int64_t skipped = t->n_gaps ? t->gaps[t->n_gaps - 1].skipped : 0;
	int64_t missing = number - (t->begin + t->n + skipped);

	if (missing > GAP_LEAST) {
		if (array_reserve(&t->gaps, &t->cap_gaps, t->n_gaps + 1, sizeof(*t->gaps)) < 0)
			return -ENOMEM;
		t->gaps[t->n_gaps++] = (struct track_gap){t->n, skipped + missing};
		missing = 0;
	}
	if (missing < 0)
		missing = 0;
	if (kept_reserve(t, t->n + (size_t)missing + 1) < 0)
		return -ENOMEM;
	while (missing--)
		t->kept[t->n++] = nothing;
	return 0;
}

int track_put(struct track *t, int64_t number, const struct kept *k)
{
	uint32_t at;

	if (!t->n) {
		t->begin = number;
		t->n_gaps = 0;
	}
	if (track_extend(t, number) < 0)
		return -ENOMEM;
	at = t->n_gaps ? track_search(t, number) : (uint32_t)(number - t->begin);
	t->kept[at] = *k;
	if (at == t->n)
		t->n++;
	return 0;
}

struct kept track_get(const struct track *t, int64_t number)
{
	uint32_t at;

	if (!t || number < t->begin || !t->n || number > track_number(t, t->n - 1))
		return nothing;
	at = t->n_gaps ? track_search(t, number) : (uint32_t)(number - t->begin);
	return track_number(t, at) == number ? t->kept[at] : nothing;
}

/* Gaps before kept[drop] become part of the new beginning of the track. */
static void gaps_trim(struct track *t, uint32_t drop)
{
	int64_t skipped = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->n_gaps; i++) {
		if (t->gaps[i].at <= drop)
			skipped = t->gaps[i].skipped;
		else
			t->gaps[n++] = (struct track_gap){
				t->gaps[i].at - drop, t->gaps[i].skipped - skipped};
	}
	t->n_gaps = n;
}

static void track_trim(struct track *t, int64_t number)
{
	uint32_t drop = track_search(t, number);

	if (!drop)
		return;
	t->begin = drop < t->n ? track_number(t, drop) : number;
	gaps_trim(t, drop);
	t->n -= drop;
	memmove(t->kept, t->kept + drop, t->n * sizeof(*t->kept));
}

/* Forget empty tracks. */
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
			track_release(&t->items[i]);
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

		for (size_t i = 0; i < t->n; i++) {
			slices_rest_at((uint32_t)i);
			track_trim(&t->items[i], t->by_sample ? slot : window);
		}
		r = tracks_retire(t);
	}
	return r;
}
