/* Gives each distinct text a small number. It is fast for texts that repeat in the same order, like
 * the names in the rows of a CSV file.
 */
#ifndef IMPORT_CSV_INTERN_H
#define IMPORT_CSV_INTERN_H

#include "base/idmap.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csv_intern_entry {
	size_t offset; /* in the text */
	uint32_t len;
	uint32_t next; /* the text that followed it last time */
	uint32_t same; /* another entry with the same hash, or CSV_INTERN_NONE */
};

#define CSV_INTERN_NONE UINT32_MAX

struct csv_intern {
	char *text; /* all texts, each followed by a NUL */
	size_t len, cap;
	struct csv_intern_entry *entries;
	size_t n, cap_entries;
	struct idmap by_hash; /* the last entry with that hash */
	uint32_t last;
	size_t max; /* the largest number of texts; 0: no limit */
};

void csv_intern_release(struct csv_intern *t);

/* Get the number of a text; numbers start with 0, in the order of first appearance. Returns 0 if
 * the text is known, 1 if it is new, -E2BIG if there are too many, or -ENOMEM. */
int csv_intern_get(struct csv_intern *t, const char *text, size_t len, uint32_t *ret_number);

/* The text of a number, valid until a new text is added. */
static inline const char *csv_intern_text(const struct csv_intern *t, uint32_t number)
{
	return t->text + t->entries[number].offset;
}

#endif
