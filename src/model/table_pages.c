#include "model/table_pages.h"

#include "base/array.h"
#include "base/time.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The header in front of the values of a page. */
struct cells {
	uint64_t n_users; /* pages */
	double values[];  /* or floats */
};

static size_t values_size(bool narrow)
{
	return TABLE_PAGE_SLOTS * (narrow ? sizeof(float) : sizeof(double));
}

static struct cells *cells_of(void *values)
{
	return (struct cells *)((char *)values - offsetof(struct cells, values));
}

void *table_cells_new(bool narrow)
{
	struct cells *c = malloc(sizeof(*c) + values_size(narrow));

	if (!c)
		return NULL;
	c->n_users = 1;
	return c->values;
}

void table_cells_release(void *values)
{
	if (values && !--cells_of(values)->n_users)
		free(cells_of(values));
}

static bool page_is_shared(const struct table_page *page)
{
	return page->shared && cells_of(page->values)->n_users > 1;
}

/* The memory of the values of a page, including that of the allocator. */
static size_t cells_bytes(const struct table_pages *p)
{
	return values_size(p->narrow) + 16;
}

/* The same with the page itself. */
static size_t page_bytes(const struct table_pages *p)
{
	return cells_bytes(p) + sizeof(struct table_page);
}

/* The part of it that is freed with the page. */
static size_t page_bytes_own(const struct table_pages *p, const struct table_page *page)
{
	return page_is_shared(page) ? sizeof(*page) : page_bytes(p);
}

static double page_get(const struct table_pages *p, const struct table_page *page, int64_t slot)
{
	return p->narrow ? (double)page->narrow[slot] : page->values[slot];
}

static bool page_is_set(const struct table_pages *p, const struct table_page *page, int64_t slot)
{
	return table_value_set(page_get(p, page, slot));
}

/* A value that is too large for a float becomes the largest float. */
static float narrowed(double value)
{
	if (value > FLT_MAX && value < (double)INFINITY)
		return FLT_MAX;
	if (value < -FLT_MAX && value > -(double)INFINITY)
		return -FLT_MAX;
	return (float)value;
}

static void page_set(
	const struct table_pages *p, struct table_page *page, int64_t slot, double value)
{
	if (p->narrow)
		page->narrow[slot] = narrowed(value);
	else
		page->values[slot] = value;
}

static int64_t page_of(int64_t slot)
{
	return floor_div(slot, TABLE_PAGE_SLOTS);
}

static int64_t page_first(int64_t number)
{
	return number * TABLE_PAGE_SLOTS;
}

void pages_release(struct table_pages *p)
{
	for (size_t i = 0; i < p->n; i++)
		table_cells_release(p->items[i].values);
	free(p->items);
	*p = (struct table_pages){.narrow = p->narrow};
}

uint64_t pages_bytes(const struct table_pages *p)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < p->n; i++)
		bytes += page_bytes_own(p, &p->items[i]);
	return bytes;
}

/* The first page with this number or a larger one. */
static size_t page_search(const struct table_pages *p, int64_t number)
{
	size_t low = 0, high = p->n;
	int64_t ahead;

	if (!p->n || p->items[p->n - 1].number < number)
		return p->n;
	if (number <= p->items[0].number)
		return 0;
	/* Pages usually follow each other, so the place of a page is its distance from the first
	 * one. If there are gaps, its place is before that. */
	ahead = number - p->items[0].number;
	if (ahead < (int64_t)p->n && p->items[ahead].number == number)
		return (size_t)ahead;
	if (ahead < (int64_t)p->n)
		high = (size_t)ahead;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->items[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Insert a page, and take ownership of its values. */
static int page_insert(struct table_pages *p, size_t at, const struct table_page *page)
{
	if (array_reserve(&p->items, &p->cap, p->n + 1, sizeof(*p->items)) < 0)
		return -ENOMEM;
	memmove(&p->items[at + 1], &p->items[at], (p->n - at) * sizeof(*p->items));
	p->items[at] = *page;
	p->n++;
	return 0;
}

static int budget_take(struct table_budget *budget, const struct table_pages *p, int64_t slot)
{
	if (budget->used + page_bytes(p) > budget->max) {
		budget->slot = slot;
		return -EFBIG;
	}
	budget->used += page_bytes(p);
	return 0;
}

/* Prepare a page for a change: it gets values of its own. These need less memory than the budget
 * had room for before the values were shared. */
static int page_own(
	const struct table_pages *p, struct table_page *page, struct table_budget *budget)
{
	void *values;

	if (!page_is_shared(page)) {
		page->shared = false;
		return 0;
	}
	values = table_cells_new(p->narrow);
	if (!values)
		return -ENOMEM;
	memcpy(values, page->values, values_size(p->narrow));
	table_cells_release(page->values);
	page->values = values;
	page->shared = false;
	budget->used += cells_bytes(p);
	return 0;
}

static int page_add(struct table_pages *p, size_t at, int64_t number, struct table_budget *budget)
{
	struct table_page page = {.number = number};
	int r = budget_take(budget, p, page_first(number));

	if (r < 0)
		return r;
	page.values = table_cells_new(p->narrow);
	if (!page.values || page_insert(p, at, &page) < 0) {
		table_cells_release(page.values);
		budget->used -= page_bytes(p);
		return -ENOMEM;
	}
	for (int64_t i = 0; i < TABLE_PAGE_SLOTS; i++)
		page_set(p, &page, i, lp_cell_to_real(TABLE_VALUE_UNSET));
	return 0;
}

int pages_put(struct table_pages *p, int64_t slot, double value, struct table_budget *budget)
{
	int64_t number = page_of(slot);
	struct table_page *page;

	if (p->at >= p->n || p->items[p->at].number != number) {
		size_t at = page_search(p, number);

		if (at >= p->n || !p->items || p->items[at].number != number) {
			int r = page_add(p, at, number, budget);

			if (r < 0)
				return r;
		}
		p->at = at;
	}
	page = &p->items[p->at];
	if (page_own(p, page, budget) < 0)
		return -ENOMEM;
	slot -= page_first(number);
	page->n_set += !page_is_set(p, page, slot);
	page_set(p, page, slot, value);
	return 0;
}

/* The part of a page in the slots from .. end - 1. */
static void page_clip(const struct table_page *page, int64_t from, int64_t end, int64_t *ret_first,
	int64_t *ret_end)
{
	int64_t first = page_first(page->number), behind = first + TABLE_PAGE_SLOTS;

	*ret_first = from > first ? from - first : 0;
	*ret_end = end < behind ? end - first : TABLE_PAGE_SLOTS;
}

uint64_t pages_count(const struct table_pages *p, int64_t from, int64_t end)
{
	uint64_t n = 0;

	for (size_t i = page_search(p, page_of(from)); i < p->n; i++) {
		if (page_first(p->items[i].number) >= end)
			break;
		n += p->items[i].n_set;
	}
	return n;
}

static bool page_any(
	const struct table_pages *p, const struct table_page *page, int64_t from, int64_t end)
{
	int64_t first, behind;

	page_clip(page, from, end, &first, &behind);
	while (behind-- > first) { /* most pages have one at the end */
		if (page_is_set(p, page, behind))
			return true;
	}
	return false;
}

bool pages_any(const struct table_pages *p, int64_t from, int64_t end)
{
	for (size_t i = page_search(p, page_of(end)) + 1; i-- > 0;) {
		if (i == p->n || page_first(p->items[i].number) >= end)
			continue;
		if (page_first(p->items[i].number) + TABLE_PAGE_SLOTS <= from)
			return false;
		if (page_any(p, &p->items[i], from, end))
			return true;
	}
	return false;
}

int64_t pages_next(const struct table_pages *p, int64_t from)
{
	for (size_t i = page_search(p, page_of(from)); i < p->n; i++) {
		int64_t base = page_first(p->items[i].number), first, end;

		page_clip(&p->items[i], from, INT64_MAX, &first, &end);
		for (int64_t s = first; s < end; s++) {
			if (page_is_set(p, &p->items[i], s))
				return base + s;
		}
	}
	return INT64_MAX;
}

bool pages_span(const struct table_pages *p, int64_t *ret_first, int64_t *ret_end)
{
	const struct table_page *page = p->items;
	int64_t first = 0, end = TABLE_PAGE_SLOTS;

	if (!p->n)
		return false;
	while (!page_is_set(p, page, first))
		first++;
	*ret_first = page_first(page->number) + first;
	page += p->n - 1;
	while (!page_is_set(p, page, end - 1))
		end--;
	*ret_end = page_first(page->number) + end;
	return true;
}

/* The first slot that has a number, from a page on; INT64_MAX: none before `end`. */
static int64_t number_next(const struct table_pages *p, size_t i, int64_t from, int64_t end)
{
	for (; i < p->n && page_first(p->items[i].number) < end; i++) {
		int64_t first, behind;

		page_clip(&p->items[i], from, end, &first, &behind);
		for (int64_t s = first; s < behind; s++) {
			if (!isnan(page_get(p, &p->items[i], s)))
				return page_first(p->items[i].number) + s;
		}
	}
	return INT64_MAX;
}

/* The slot after the last one that has a number; INT64_MIN: none from `from` on. */
static int64_t number_last(const struct table_pages *p, int64_t from, int64_t end)
{
	for (size_t i = page_search(p, page_of(end - 1) + 1); i-- > 0;) {
		int64_t first, behind;

		if (page_first(p->items[i].number) + TABLE_PAGE_SLOTS <= from)
			break;
		page_clip(&p->items[i], from, end, &first, &behind);
		while (behind-- > first) {
			if (!isnan(page_get(p, &p->items[i], behind)))
				return page_first(p->items[i].number) + behind + 1;
		}
	}
	return INT64_MIN;
}

void pages_span_in(const struct table_pages *p, int64_t first, uint32_t n, uint32_t *ret_first,
	uint32_t *ret_end)
{
	int64_t end = first + n, from = number_next(p, page_search(p, page_of(first)), first, end);

	*ret_first = *ret_end = 0;
	if (from == INT64_MAX)
		return;
	*ret_first = (uint32_t)(from - first);
	*ret_end = (uint32_t)(number_last(p, first, end) - first);
}

static void widen(const float *from, int64_t n, double *ret)
{
	for (int64_t i = 0; i < n; i++)
		ret[i] = (double)from[i];
}

/* Slots without a value are NaN already. */
void pages_copy(const struct table_pages *p, int64_t first, uint32_t n, double *ret)
{
	int64_t at = 0;

	for (size_t i = page_search(p, page_of(first)); i < p->n; i++) {
		const struct table_page *page = &p->items[i];
		int64_t from, end, offset = page_first(page->number) - first;

		if (offset >= (int64_t)n)
			break;
		page_clip(page, first, first + n, &from, &end);
		for (; at < offset + from; at++)
			ret[at] = NAN;
		if (p->narrow)
			widen(page->narrow + from, end - from, ret + at);
		else
			memcpy(ret + at, page->values + from, (size_t)(end - from) * sizeof(*ret));
		at = offset + end;
	}
	for (; at < (int64_t)n; at++)
		ret[at] = NAN;
}

/* Forget some slots of a page. */
static int page_clear(const struct table_pages *p, struct table_page *page, int64_t from,
	int64_t end, struct table_budget *budget)
{
	int64_t first, behind;

	page_clip(page, from, end, &first, &behind);
	if (behind - first == TABLE_PAGE_SLOTS) {
		page->n_set = 0;
		return 0;
	}
	if (page_own(p, page, budget) < 0)
		return -ENOMEM;
	for (int64_t s = first; s < behind; s++) {
		page->n_set -= page_is_set(p, page, s);
		page_set(p, page, s, lp_cell_to_real(TABLE_VALUE_UNSET));
	}
	return 0;
}

int pages_drop(struct table_pages *p, int64_t from, int64_t end, struct table_budget *budget)
{
	size_t n = page_search(p, page_of(from));
	int r = 0;

	for (size_t i = n; i < p->n; i++) {
		struct table_page *page = &p->items[i];

		if (r == 0 && page_first(page->number) < end) {
			r = page_clear(p, page, from, end, budget);
			if (!page->n_set) {
				budget->used -= page_bytes_own(p, page);
				table_cells_release(page->values);
				continue;
			}
		}
		p->items[n++] = *page;
	}
	p->n = n;
	return r;
}

/* Is the page a copy of `like`, i.e. does it have the same values in memory of its own? */
static bool page_is_copy(
	const struct table_pages *p, const struct table_page *page, const struct table_page *like)
{
	return page->number == like->number && page->values != like->values &&
		page->n_set == like->n_set && !page_is_shared(page) &&
		!memcmp(page->values, like->values, values_size(p->narrow));
}

void pages_share(
	struct table_pages *p, struct table_pages *like, int64_t end, struct table_budget *budget)
{
	size_t at = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct table_page *page = &p->items[i];

		if (page_first(page->number) + TABLE_PAGE_SLOTS > end)
			break;
		while (at < like->n && like->items[at].number < page->number)
			at++;
		if (at == like->n)
			break;
		if (!page_is_copy(p, page, &like->items[at]))
			continue;
		table_cells_release(page->values);
		page->values = like->items[at].values;
		page->shared = like->items[at].shared = true;
		cells_of(page->values)->n_users++;
		budget->used -= cells_bytes(p);
	}
}

/* Values replace earlier ones. */
static void page_overlay(
	const struct table_pages *p, struct table_page *page, const struct table_page *later)
{
	for (int64_t i = 0; i < TABLE_PAGE_SLOTS; i++) {
		if (!page_is_set(p, later, i))
			continue;
		page->n_set += !page_is_set(p, page, i);
		page_set(p, page, i, page_get(p, later, i));
	}
}

int pages_join(struct table_pages *p, struct table_pages *later, struct table_budget *budget)
{
	struct table_budget elsewhere = {0}; /* `later` has another one */
	int r = 0;

	for (size_t i = 0; r == 0 && i < later->n; i++) {
		struct table_page *page = &later->items[i];
		size_t at = page_search(p, page->number);

		if (at < p->n && p->items[at].number == page->number) {
			r = page_own(p, &p->items[at], budget);
			if (r == 0)
				page_overlay(p, &p->items[at], page);
			continue;
		}
		r = page_own(later, page, &elsewhere);
		if (r == 0)
			r = budget_take(budget, p, page_first(page->number));
		if (r == 0)
			r = page_insert(p, at, page);
		if (r == 0)
			page->values = NULL;
	}
	pages_release(later);
	return r;
}

/* The values of the slots from .. end - 1, moved by `by` slots. */
static int pages_moved(
	const struct table_pages *p, int64_t from, int64_t end, int64_t by, struct table_pages *ret)
{
	struct table_budget room = {.max = UINT64_MAX}; /* it is counted at its destination */
	int r = 0;

	for (size_t i = page_search(p, page_of(from)); r == 0 && i < p->n; i++) {
		const struct table_page *page = &p->items[i];
		int64_t base = page_first(page->number), first, behind;

		if (base >= end)
			break;
		page_clip(page, from, end, &first, &behind);
		for (int64_t s = first; r == 0 && s < behind; s++) {
			if (page_is_set(p, page, s))
				r = pages_put(ret, base + s + by, page_get(p, page, s), &room);
		}
	}
	return r;
}

int pages_shift(
	struct table_pages *p, int64_t from, int64_t end, int64_t by, struct table_budget *budget)
{
	struct table_pages moved = {.narrow = p->narrow};
	int r = pages_moved(p, from, end, by, &moved);

	if (r < 0) {
		pages_release(&moved);
		return r;
	}
	r = pages_drop(p, from, end, budget);
	if (r < 0) {
		pages_release(&moved);
		return r;
	}
	return pages_join(p, &moved, budget);
}
