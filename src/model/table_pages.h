/* The values of one row of a table that is being built, by slot. Memory is used only where there is
 * data: slots lie on pages, and a page exists once one of its slots has a value. */
#ifndef MODEL_TABLE_PAGES_H
#define MODEL_TABLE_PAGES_H

#include <limpet/batch.h>

/* Slots per page. A value that is alone takes a whole page, so pages are small. */
#define TABLE_PAGE_SLOTS 64

/* Memory that all rows of a builder share. */
struct table_budget {
	uint64_t used, max;
	int64_t slot; /* the one that no longer fitted */
};

/* A slot that nothing was put into is a NaN of its own kind: a value that could not be computed
 * replaces an earlier one, no value does not. */
#define TABLE_VALUE_UNSET INT64_C(0x7ff8006c60000000) /* a float, too, has room for it */

static inline bool table_value_set(double value)
{
	return lp_cell_from_real(value) != TABLE_VALUE_UNSET;
}

struct table_page {
	int64_t number; /* slots number * TABLE_PAGE_SLOTS and following */
	union {		/* TABLE_PAGE_SLOTS of them, */
		double *values;
		float *narrow; /* of narrow pages */
	};
	uint32_t n_set; /* the number of values that were put */
};

struct table_pages {
	struct table_page *items; /* in the order of their numbers */
	size_t n, cap;
	size_t at;   /* the one that was used last */
	bool narrow; /* set before the first value: each takes half the room, with 7 digits */
};

void pages_release(struct table_pages *p);

/* Memory that they take. */
uint64_t pages_bytes(const struct table_pages *p);

/* Put a value into a slot. -EFBIG: beyond the budget. */
int pages_put(struct table_pages *p, int64_t slot, double value, struct table_budget *budget);

/* How many of the slots from .. end - 1 have been put? Pages that lie there in part count whole. */
uint64_t pages_count(const struct table_pages *p, int64_t from, int64_t end);

/* Has any of the slots from .. end - 1 been put? */
bool pages_any(const struct table_pages *p, int64_t from, int64_t end);

/* The first slot from `from` on that was put; INT64_MAX: there is none. */
int64_t pages_next(const struct table_pages *p, int64_t from);

/* The first slot that was put and the one behind the last; false: none was. */
bool pages_span(const struct table_pages *p, int64_t *ret_first, int64_t *ret_end);

/* The same in the slots first .. first + n - 1, counted from `first`, and only for values that are
 * not NaN; equal: there is none. */
void pages_span_in(const struct table_pages *p, int64_t first, uint32_t n, uint32_t *ret_first,
	uint32_t *ret_end);

/* The slots first .. first + n - 1; missing is NaN. */
void pages_copy(const struct table_pages *p, int64_t first, uint32_t n, double *ret);

/* Forget the slots from .. end - 1. */
void pages_drop(struct table_pages *p, int64_t from, int64_t end, struct table_budget *budget);

/* Put all values of `later`, which has the same width, over the existing ones, and leave it empty.
 * -EFBIG: beyond the budget. */
int pages_join(struct table_pages *p, struct table_pages *later, struct table_budget *budget);

/* Move the values in the slots from .. end - 1 by `by` slots; they replace the values there. */
int pages_shift(
	struct table_pages *p, int64_t from, int64_t end, int64_t by, struct table_budget *budget);

#endif
