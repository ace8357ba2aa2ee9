/* Text in aligned columns. Cells are strings; numbers are right-aligned. */
#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct grid {
	char **cells;
	size_t n_cells, cap_cells;
	size_t n_columns;
	bool failed; /* out of memory */
};

/* Initialise a grid with `n_columns` columns; its first row is the heading. */
void grid_init(struct grid *g, size_t n_columns);
void grid_release(struct grid *g);

/* Append a cell; rows fill from the left. Control characters become "?". */
void grid_add(struct grid *g, const char *text);
void grid_addf(struct grid *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append a short number: 0, 3.25, 1234, 5.6e+09; "-" if it is missing (NaN). */
void grid_add_number(struct grid *g, double value);

/* Print it, unless memory ran out (`failed`). With `colour` the heading is bold. */
void grid_print(const struct grid *g, FILE *out, bool colour);

#endif
