/* Busy functions, by server: from the rows of samples in archives to lists, differences and flame
 * graphs.
 */
#ifndef REPORT_FUNCTIONS_H
#define REPORT_FUNCTIONS_H

#include "base/hash.h"
#include <limpet/dataset.h>
#include <stdio.h>

/* A function ("dd:libc.so.6:read") or a stack ("dd;main;copy"), and the number of its samples. */
struct functions_row {
	char *name;
	uint64_t n;
};

struct functions_server {
	char *name;
	struct functions_row *rows; /* most samples first */
	size_t n_rows, cap_rows;
	uint64_t total;
	int64_t first_us, last_us; /* of the samples that count */
	struct strmap index;
};

/* Zero-initialise it. */
struct functions_view {
	struct functions_server *servers; /* by name */
	size_t n, cap;
	struct strmap index;
	bool calls; /* there are functions with counted calls instead of samples */
};

/* The selected data. */
struct functions_select {
	const char *kind;	       /* "function" or "stack" */
	const char *const *components; /* globs of full names; NULL: all */
	uint32_t n_components;
	int64_t from_us, to_us; /* to_us 0: no end */
};

/* Count the rows of `ds`. On -EBADMSG (damage, already reported) the intact data was counted.
 */
int functions_read(struct lp_dataset *ds, const struct functions_select *select,
	struct functions_view *ret, struct lp_err *err);
void functions_release(struct functions_view *v);

/* The server with this name, or NULL. */
const struct functions_server *functions_find(const struct functions_view *v, const char *name);

/* The `top` functions of each server, with their shares. */
void functions_print_text(FILE *out, const struct functions_view *v, size_t top);
void functions_print_json(FILE *out, const struct functions_view *v, size_t top);

/* The difference between two lists: the functions with the largest differences in their shares.
 * `from` and `to` are the names of the lists. 0 or -ENOMEM. */
struct functions_pair {
	const struct functions_server *a, *b; /* NULL: none */
	const char *from, *to;
};
int functions_diff_text(FILE *out, const struct functions_pair *pair, size_t top);
int functions_diff_json(FILE *out, const struct functions_pair *pair, size_t top);

/* A flame graph of all stacks, as a self-contained SVG. 0 or -ENOMEM. */
int functions_flame(FILE *out, const struct functions_view *v);

#endif
