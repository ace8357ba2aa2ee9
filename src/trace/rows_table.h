/* The rows of one kind, by name, up to a maximum.
 *
 * A row with an unused name keeps its place, so that its counts stay visible. A new name takes the
 * place if there are no others and the row has been unused for TRACE_ROWS_QUIET samples. So names
 * may come and go forever, at a rate that does not fill the catalogue of the archive.
 */
#ifndef TRACE_ROWS_TABLE_H
#define TRACE_ROWS_TABLE_H

#include "base/hash.h"
#include "trace/counted_row.h"
#include "trace/rows_columns.h"

#define ROW_NAME_MAX 160
/* In samples: usually five minutes. */
#define TRACE_ROWS_QUIET 300

struct row {
	char name[ROW_NAME_MAX];
	struct counted_row place;
	int64_t values[CALL_COLUMNS]; /* one per column of the kind */
	int64_t last[CALL_COLUMNS];   /* the same in the last sample that contained it, or 0 */
	uint32_t n_users;	      /* users that remember its index */
	uint64_t used;		      /* the last sample in which it was used */
	bool present;		      /* in the current sample */
};

/* Zero-initialise it, except for `max`. */
struct rows_table {
	struct row *items;
	size_t n, cap, max;
	struct strmap names;
	bool folded; /* there were more names than places at some time */
	uint64_t sample;
	uint64_t full;	    /* 1 + the sample in which no row could be replaced */
	int64_t past_calls; /* of replaced rows of kind `sys` */
	int64_t past_errors;
};

void rows_table_release(struct rows_table *t);

/* The row with this name, as its index plus 1; "other" if there are too many. 0: out of memory. */
uint32_t rows_table_find(struct rows_table *t, const char *name);

/* Was there no place for this name before, but is there one now? */
bool rows_table_moves(struct rows_table *t, uint32_t row);

/* Store an index in `*user`, replacing the old one (0: none). */
void rows_table_use(struct rows_table *t, uint32_t *user, uint32_t row);

/* The row with this index, which is used in this sample. */
struct row *rows_table_at(struct rows_table *t, uint32_t row);

#endif
