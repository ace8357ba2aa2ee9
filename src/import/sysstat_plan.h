/* Which of sysstat's activities become which kinds and columns, and how their fields are copied. A
 * plan is made once for each file, so that reading a record takes a few tight loops.
 */
#ifndef IMPORT_SYSSTAT_PLAN_H
#define IMPORT_SYSSTAT_PLAN_H

#include "import/sysstat_file.h"
#include <limpet/source.h>

/* The maximum number of fields of an activity, or of watched fields of a component. */
#define SYSSTAT_FIELDS_MAX 20

/* Maximum size of the key of an item. */
#define SYSSTAT_KEY_MAX 16

enum sysstat_kind_id {
	SYSSTAT_DISK,
	SYSSTAT_NET,
	SYSSTAT_KINDS,
};

/* A kind of component, with the columns of all its activities. */
struct sysstat_kind {
	uint32_t schema; /* in the catalogue */
	uint32_t n_columns;
	uint64_t mask[LP_COLUMNS_MAX / 64]; /* columns that are wanted */
};

/* Copy one field of all items into one column. */
struct sysstat_copy {
	int offset;    /* in an item; -1: the file has no such field, and the column is 0 */
	uint8_t width; /* 1, 4 or 8 */
	uint32_t column;
};

/* How one activity is read. */
struct sysstat_plan {
	const struct sysstat_activity *activity;
	enum sysstat_kind_id kind;
	int key_offset;
	int key_len;	/* 8 or 16 */
	int wwn_offset; /* of a disk's world wide name, 16 bytes; -1: the file has none */
	struct sysstat_copy copies[SYSSTAT_FIELDS_MAX];
	uint32_t n_copies;
	uint32_t others[SYSSTAT_FIELDS_MAX]; /* wanted columns that other activities fill */
	uint32_t n_others;
	/* Counters that show that a device was replaced, as in sysstat: all of them fell
	 * (`reset_all`), or any of them. */
	struct sysstat_copy watches[SYSSTAT_FIELDS_MAX];
	uint32_t n_watches, first_watch; /* first_watch: index in the memory of a component */
	bool reset_all;
};

struct sysstat_plans {
	struct sysstat_plan plans[SYSSTAT_WANTED_MAX];
	uint32_t n_plans; /* plans[i] is for sysstat_record.spans[i] */
	struct sysstat_kind kinds[SYSSTAT_KINDS];
};

/* Plan reading `f`: mark the selected activities and add the schemas to the catalogue. Activities
 * with an unknown layout are skipped with a warning. */
int sysstat_plans_make(struct sysstat_plans *p, struct sysstat_file *f,
	const struct lp_select *select, struct lp_catalogue *catalogue, struct lp_warn *warn,
	struct lp_err *err);

/* The value of one field of an item. */
static inline uint64_t sysstat_copy_load(
	const struct sysstat_copy *c, const uint8_t *item, bool swap)
{
	if (c->offset < 0)
		return 0;
	if (c->width == 1)
		return item[c->offset];
	return c->width == 8 ? sysstat_u64(item + c->offset, swap)
			     : sysstat_u32(item + c->offset, swap);
}

/* Copy one field of `n` items into a column. Item i goes to cell `cells[i]`, unless that is
 * SYSSTAT_NO_CELL. */
void sysstat_copy_run(const struct sysstat_copy *c, const uint8_t *items, uint32_t item_size,
	bool swap, const size_t *cells, uint32_t n, int64_t *column);

#define SYSSTAT_NO_CELL SIZE_MAX

#endif
