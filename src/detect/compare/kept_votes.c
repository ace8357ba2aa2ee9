#include "detect/compare/kept_votes.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Votes beyond this size are not kept but computed again at every epoch: the collector of a large
 * fleet has thousands of groups. */
#define BYTES_MAX (UINT64_C(64) << 20)

struct kept_votes_item {
	char *key;
	struct lp_identity **members;
	double *votes; /* [member * n_windows + window] */
	int64_t first;
	uint32_t n_members, n_windows;
	uint64_t epoch; /* the epoch in which it was last kept */
};

static size_t item_bytes(const struct kept_votes_item *i)
{
	return (size_t)i->n_members *
		(i->n_windows * sizeof(*i->votes) + sizeof(struct lp_identity *));
}

/* Free its contents, except for the key. */
static void item_clear(struct kept_votes_item *i)
{
	for (uint32_t m = 0; i->members && m < i->n_members; m++)
		lp_identity_unref(i->members[m]);
	free(i->members);
	free(i->votes);
	*i = (struct kept_votes_item){.key = i->key, .epoch = i->epoch};
}

static void item_release(struct kept_votes_item *i)
{
	item_clear(i);
	free(i->key);
}

void kept_votes_release(struct kept_votes *k)
{
	for (size_t i = 0; i < k->n; i++)
		item_release(&k->items[i]);
	free(k->items);
	strmap_release(&k->index);
	*k = (struct kept_votes){0};
}

/* The key; NULL: out of memory. */
static char *key_make(const struct kept_votes_of *of)
{
	char *key;

	return asprintf(&key, "%s %s", of->metric, of->group) < 0 ? NULL : key;
}

static struct kept_votes_item *item_find(const struct kept_votes *k, const char *key)
{
	uint32_t at;

	return strmap_get(&k->index, key, &at) ? &k->items[at] : NULL;
}

/* Identities are kept alive, so equal addresses mean the same component. */
static bool members_same(const struct kept_votes_item *i, const struct kept_votes_of *of)
{
	if (!i->members || i->n_members != of->n_members)
		return false;
	for (uint32_t m = 0; m < i->n_members; m++) {
		if (i->members[m] != of->members[m])
			return false;
	}
	return true;
}

uint32_t kept_votes_get(
	const struct kept_votes *k, const struct kept_votes_of *of, double *votes, bool *ret_head)
{
	_cleanup_free_ char *key = key_make(of);
	const struct kept_votes_item *i = key ? item_find(k, key) : NULL;
	int64_t ahead, end;
	uint32_t n;

	*ret_head = false;
	if (!i || !members_same(i, of))
		return 0;
	ahead = of->first - i->first;
	end = i->n_windows - ahead;
	if (ahead < 0 || end <= 1)
		return 0;
	n = end < of->n_windows ? (uint32_t)end : of->n_windows;
	for (uint32_t m = 0; m < of->n_members; m++)
		memcpy(votes + (size_t)m * of->n_windows,
			i->votes + (size_t)m * i->n_windows + ahead, n * sizeof(*votes));
	*ret_head = ahead == 0;
	return n;
}

static int item_new(struct kept_votes *k, const char *key, struct kept_votes_item **ret)
{
	char *copy = strdup(key);

	if (!copy || array_reserve(&k->items, &k->cap, k->n + 1, sizeof(*k->items)) < 0 ||
		strmap_put(&k->index, key, (uint32_t)k->n) < 0) {
		free(copy);
		return -ENOMEM;
	}
	k->items[k->n] = (struct kept_votes_item){.key = copy};
	*ret = &k->items[k->n++];
	return 0;
}

static int item_fill(
	struct kept_votes_item *i, const struct kept_votes_of *of, double *votes, uint64_t epoch)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	i->members = calloc((size_t)of->n_members + 1, sizeof(*i->members));
	if (!i->members)
		return -ENOMEM;
	for (uint32_t m = 0; m < of->n_members; m++)
		i->members[m] = lp_identity_ref(of->members[m]);
	i->n_members = of->n_members;
	i->n_windows = of->n_windows;
	i->first = of->first;
	i->epoch = epoch;
	i->votes = votes;
	return 0;
}

int kept_votes_put(struct kept_votes *k, const struct kept_votes_of *of, double *votes)
{
	_cleanup_free_ double *own = votes;
	_cleanup_free_ char *key = key_make(of);
	struct kept_votes_item *i = key ? item_find(k, key) : NULL;
	size_t bytes = (size_t)of->n_members *
		(of->n_windows * sizeof(*votes) + sizeof(struct lp_identity *));

	if (!key)
		return -ENOMEM;
	if (i) {
		k->bytes -= item_bytes(i);
		item_clear(i);
	}
	if (k->bytes + bytes > BYTES_MAX)
		return 0;
	if ((!i && item_new(k, key, &i) < 0) || item_fill(i, of, own, k->epoch) < 0)
		return -ENOMEM;
	k->bytes += bytes;
	own = NULL;
	return 0;
}

int kept_votes_turn(struct kept_votes *k)
{
	size_t n = 0;
	int r = 0;

	strmap_release(&k->index);
	for (size_t i = 0; i < k->n; i++) {
		if (k->items[i].epoch != k->epoch || !k->items[i].members) {
			k->bytes -= item_bytes(&k->items[i]);
			item_release(&k->items[i]);
			continue;
		}
		k->items[n] = k->items[i];
		if (r == 0)
			r = strmap_put(&k->index, k->items[n].key, (uint32_t)n);
		n++;
	}
	k->n = n;
	k->epoch++;
	return r;
}
