/* Names of address ranges, sorted: fill it, finish it, then look up addresses. */
#ifndef TRACE_SYMBOL_TABLE_H
#define TRACE_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Data from outside takes no more room than this; the rest is left out. */
#define SYMBOL_TABLE_MAX (4u << 20)
#define SYMBOL_NAMES_MAX (256u << 20)
/* Longer names are truncated. */
#define SYMBOL_NAME_MAX 1024

struct symbol {
	uint64_t start;
	uint64_t size; /* 0: up to the next one */
	uint32_t name; /* position in `names` */
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

/* Sort. Of several at one address the best stays: with a size before without, fewer leading
 * underscores before more, then alphabetically; so it is the same one on all servers. */
void symbol_table_finish(struct symbol_table *t);

/* The symbol that an address is in, or NULL. */
const struct symbol *symbol_table_find(const struct symbol_table *t, uint64_t address);
const char *symbol_name(const struct symbol_table *t, const struct symbol *s);

#endif
