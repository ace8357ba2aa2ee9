/* Names of address ranges, sorted: add symbols, finish the table, then look up addresses. */
#ifndef TRACE_SYMBOL_TABLE_H
#define TRACE_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum number of symbols; further ones are left out. */
#define SYMBOL_TABLE_MAX (4u << 20)
#define SYMBOL_NAMES_MAX (256u << 20)
/* Longer names are truncated. */
#define SYMBOL_NAME_MAX 1024

struct symbol {
	uint64_t start;
	uint64_t size; /* 0: up to the next symbol */
	uint32_t name; /* offset in `names` */
	uint32_t tag;  /* the caller's */
};

/* Zero-initialise it. */
struct symbol_table {
	struct symbol *items;
	size_t n, cap;
	char *names;
	size_t n_names, cap_names;
};

void symbol_table_release(struct symbol_table *t);

/* Add a symbol; empty names, and symbols beyond the limit, are ignored. 0 or -ENOMEM. */
int symbol_table_add(struct symbol_table *t, uint64_t start, uint64_t size, const char *name,
	size_t len, uint32_t tag);

/* Sort. If several have the same address, the best one stays: one with a size, then with fewer
 * leading underscores, then the first in alphabetical order. So it is the same one on all
 * servers. */
void symbol_table_finish(struct symbol_table *t);

/* The symbol of an address, or NULL. */
const struct symbol *symbol_table_find(const struct symbol_table *t, uint64_t address);
const char *symbol_name(const struct symbol_table *t, const struct symbol *s);

#endif
