#include "model/table_outliers.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include <errno.h>
#include <stdlib.h>

/* So many times as much must the rest be. */
#define REST_FACTOR 10
/* With fewer samples of a component nothing can be compared: a window has as many. */
#define SAMPLES_LEAST 12

/* A part of a row, without a long gap. */
struct part {
	int64_t first, end;
	uint64_t n_values;
	const char *observer;
};

struct parts {
	struct part *items;
	size_t n, cap;
};

/* Parts that overlap, or are less than a long gap apart. */
struct cluster {
	struct table_outlier about;
	uint64_t most; /* values that a row of it has */
	struct strmap observers;
};

struct clusters {
	struct cluster *items;
	size_t n, cap;
};

static void parts_release(struct parts *p)
{
	free(p->items);
}

static void clusters_release(struct clusters *c)
{
	for (size_t i = 0; i < c->n; i++)
		strmap_release(&c->items[i].observers);
	free(c->items);
}

static int64_t gap_slots(const struct lp_table_builder *b)
{
	int64_t n = US_PER_DAY / b->opt->step_us;

	return n > TABLE_PAGE_SLOTS ? n : TABLE_PAGE_SLOTS;
}

static int row_parts(const struct table_row *row, int64_t gap, struct parts *ret)
{
	const struct table_page *page = row->pages.items;

	for (size_t i = 0; i < row->pages.n; i++, page++) {
		int64_t first = page->number * TABLE_PAGE_SLOTS, end = first + TABLE_PAGE_SLOTS;
		struct part *last = i ? &ret->items[ret->n - 1] : NULL;

		if (last && first - last->end <= gap) {
			last->end = end;
			last->n_values += page->n_set;
			continue;
		}
		if (array_reserve(&ret->items, &ret->cap, ret->n + 1, sizeof(*ret->items)) < 0)
			return -ENOMEM;
		ret->items[ret->n++] =
			(struct part){first, end, page->n_set, row->component->observer};
	}
	return 0;
}

static int part_compare(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static int parts_make(const struct lp_table_builder *b, struct parts *ret)
{
	int r = 0;

	for (size_t s = 0; r == 0 && s < b->n_sets; s++) {
		for (size_t i = 0; r == 0 && i < b->sets[s].n_rows; i++)
			r = row_parts(&b->sets[s].rows[i], gap_slots(b), ret);
	}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), part_compare);
	return r;
}

static int cluster_add(struct cluster *c, const struct part *p)
{
	uint32_t ignored;

	c->about.end = p->end > c->about.end ? p->end : c->about.end;
	c->about.n_values += p->n_values;
	c->most = p->n_values > c->most ? p->n_values : c->most;
	if (strmap_get(&c->observers, p->observer, &ignored))
		return 0;
	c->about.n_observers++;
	return strmap_put(&c->observers, p->observer, 0);
}

static int clusters_make(const struct parts *p, int64_t gap, struct clusters *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n; i++) {
		const struct part *part = &p->items[i];

		if (!ret->n || part->first - ret->items[ret->n - 1].about.end > gap) {
			if (array_reserve(&ret->items, &ret->cap, ret->n + 1, sizeof(*ret->items)) <
				0)
				return -ENOMEM;
			ret->items[ret->n++] =
				(struct cluster){.about = {.first = part->first,
							 .end = part->end,
							 .observer = part->observer}};
		}
		r = cluster_add(&ret->items[ret->n - 1], part);
	}
	return r;
}

static bool is_outlier(const struct cluster *c, const struct cluster *most)
{
	return c->about.n_values * REST_FACTOR < most->about.n_values &&
		(c->about.n_observers * 2 <= most->about.n_observers || c->most < SAMPLES_LEAST);
}

int table_outliers_find(const struct lp_table_builder *b, struct table_outlier **ret, size_t *ret_n)
{
	_cleanup_(parts_release) struct parts parts = {0};
	_cleanup_(clusters_release) struct clusters c = {0};
	struct table_outlier *found;
	size_t n = 0, most = 0;

	if (parts_make(b, &parts) < 0 || clusters_make(&parts, gap_slots(b), &c) < 0)
		return -ENOMEM;
	found = calloc(c.n + 1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	for (size_t i = 1; i < c.n; i++) {
		if (c.items[i].about.n_values > c.items[most].about.n_values)
			most = i;
	}
	for (size_t i = 0; i < c.n; i++) {
		if (is_outlier(&c.items[i], &c.items[most]))
			found[n++] = c.items[i].about;
	}
	*ret = found;
	*ret_n = n;
	return 0;
}
