#include "report/grid.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/safe_text.h"
#include "report/flow.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BOLD "\033[1m"
#define PLAIN "\033[0m"

void grid_init(struct grid *g, size_t n_columns)
{
	*g = (struct grid){.n_columns = n_columns ? n_columns : 1};
}

void grid_release(struct grid *g)
{
	for (size_t i = 0; i < g->n_cells; i++)
		free(g->cells[i]);
	free(g->cells);
	*g = (struct grid){0};
}

void grid_add(struct grid *g, const char *text)
{
	char *copy = strdup(text);

	if (!copy || array_reserve(&g->cells, &g->cap_cells, g->n_cells + 1, sizeof(copy)) < 0) {
		free(copy);
		g->failed = true;
		return;
	}
	safe_text_make(copy);
	g->cells[g->n_cells++] = copy;
}

void grid_addf(struct grid *g, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	grid_add(g, text);
}

void grid_add_number(struct grid *g, double value)
{
	double size = fabs(value);

	if (isnan(value))
		grid_add(g, "-");
	else if (value == 0)
		grid_add(g, "0");
	else if (size >= 1e9 || size < 1e-3)
		grid_addf(g, "%.3g", value);
	else if (size >= 100 || value == floor(value))
		grid_addf(g, "%.0f", value);
	else
		grid_addf(g, "%.*f", size >= 10 ? 1 : size >= 0.1 ? 2 : 4, value);
}

static bool looks_numeric(const char *s)
{
	s += *s == '-';
	return !*s || isdigit((unsigned char)*s) || !strcmp(s, "inf");
}

/* A column is right-aligned if all its cells below the heading are numbers. */
static bool column_numeric(const struct grid *g, size_t column)
{
	for (size_t i = g->n_columns + column; i < g->n_cells; i += g->n_columns) {
		/* Times begin with digits but are not numbers. */
		if (!g->cells[i][0] || !looks_numeric(g->cells[i]) || strchr(g->cells[i], 'T'))
			return false;
	}
	return g->n_cells > g->n_columns;
}

static size_t column_width(const struct grid *g, size_t column)
{
	size_t width = 0;

	for (size_t i = column; i < g->n_cells; i += g->n_columns) {
		size_t len = flow_text_width(g->cells[i]);

		width = len > width ? len : width;
	}
	return width;
}

/* Print one cell, without the space after it. */
static void cell_print(const char *text, size_t width, bool right, bool last, FILE *out)
{
	size_t len = flow_text_width(text), pad = width > len ? width - len : 0;

	for (size_t i = 0; right && i < pad; i++)
		fputc(' ', out);
	fputs(text, out);
	for (size_t i = 0; !right && !last && i < pad; i++)
		fputc(' ', out);
}

void grid_print(const struct grid *g, FILE *out, bool colour)
{
	_cleanup_free_ size_t *width = calloc(g->n_columns, sizeof(*width));
	_cleanup_free_ bool *numeric = calloc(g->n_columns, sizeof(*numeric));

	if (g->failed || !width || !numeric)
		return;
	for (size_t c = 0; c < g->n_columns; c++) {
		numeric[c] = column_numeric(g, c);
		width[c] = column_width(g, c);
	}
	for (size_t i = 0; i < g->n_cells; i++) {
		size_t c = i % g->n_columns;
		bool last = c + 1 == g->n_columns || i + 1 == g->n_cells;

		if (colour && i == 0)
			fputs(BOLD, out);
		cell_print(g->cells[i], width[c], numeric[c], last, out);
		if (colour && i < g->n_columns && last)
			fputs(PLAIN, out);
		fputs(last ? "\n" : "  ", out);
	}
}
