/* The values of one row of a table that is being built, by slot. Slots are on pages, and a page
 * exists only if one of its slots has a value. */
#ifndef MODEL_TABLE_PAGES_H
#define MODEL_TABLE_PAGES_H

#include <limpet/batch.h>

/* Slots per page. A single value takes a whole page, so pages are small. */
#define TABLE_PAGE_SLOTS 64

/* Memory that all rows of a builder share. */
struct table_budget {
	uint64_t used, max;
	int64_t slot; /* the first one that did not fit */
};

/* A special NaN for slots without a value. A value that could not be computed (another NaN)
 * replaces an earlier one; a slot without a value does not. */
#define TABLE_VALUE_UNSET INT64_C(0x7ff8006c60000000) /* fits into a float, too */

static inline bool table_value_set(double value)
{
	return lp_cell_from_real(value) != TABLE_VALUE_UNSET;
}

struct table_page {
	int64_t number; /* slots from number * TABLE_PAGE_SLOTS on */
	union {		/* TABLE_PAGE_SLOTS values, of table_cells_new(); */
		double *values;
		float *narrow; /* for narrow pages */
	};
	uint32_t n_set; /* the number of values */
	bool shared;	/* another row may have the same values in memory */
};

/* The values of a page, not initialised; NULL: out of memory. Pages of several rows may share them
 * (pages_share()); the last one to release them frees them. NULL may be released. */
void *table_cells_new(bool narrow);
void table_cells_release(void *values);

struct table_pages {
	struct table_page *items; /* sorted by number */
	size_t n, cap;
	size_t at;   /* the last one used */
	bool narrow; /* set before the first value: half the memory, 7 digits */
};

void pages_release(struct table_pages *p);

/* The memory of the pages, without values that another row has as well. */
uint64_t pages_bytes(const struct table_pages *p);

/* Set the value of a slot. -EFBIG: beyond the budget. */
int pages_put(struct table_pages *p, int64_t slot, double value, struct table_budget *budget);

/* The number of values in the slots from .. end - 1. Pages that are partly in this range count as a
 * whole. */
uint64_t pages_count(const struct table_pages *p, int64_t from, int64_t end);

/* Does any of the slots from .. end - 1 have a value? */
bool pages_any(const struct table_pages *p, int64_t from, int64_t end);

/* The first slot with a value from `from` on; INT64_MAX: none. */
int64_t pages_next(const struct table_pages *p, int64_t from);

/* The first slot with a value and the one after the last; false: none. */
bool pages_span(const struct table_pages *p, int64_t *ret_first, int64_t *ret_end);

/* The same in the slots first .. first + n - 1, counted from `first`; NaN does not count as a
 * value; equal: none. */
void pages_span_in(const struct table_pages *p, int64_t first, uint32_t n, uint32_t *ret_first,
	uint32_t *ret_end);

/* Copy the slots first .. first + n - 1; missing values are NaN. */
void pages_copy(const struct table_pages *p, int64_t first, uint32_t n, double *ret);

/* Forget the slots from .. end - 1. 0 or -ENOMEM. */
int pages_drop(struct table_pages *p, int64_t from, int64_t end, struct table_budget *budget);

/* Use the memory of `like`, a row of the same builder and width, for all pages before slot `end`
 * that are the same to the byte. A row that changes a shared page gets a copy of its own. */
void pages_share(
	struct table_pages *p, struct table_pages *like, int64_t end, struct table_budget *budget);

/* Copy all values of `later`, which has the same width, over the existing ones; `later` becomes
 * empty. -EFBIG: beyond the budget. */
int pages_join(struct table_pages *p, struct table_pages *later, struct table_budget *budget);

/* Move the values in the slots from .. end - 1 by `by` slots; they replace the values there. */
int pages_shift(
	struct table_pages *p, int64_t from, int64_t end, int64_t by, struct table_budget *budget);

#endif
