/* Prints the raw columns of a file that an importer reads as CSV:
 *
 *     dump_source [-q] IMPORTER FILE [COLUMN...]
 *     sample,time_us,mono_us,state,component,column,value
 *
 * Tests compare them with what other programs make of the same file. With columns named, only
 * those are read. -q prints only how many samples there are, for measuring the importer alone.
 */
#include "import/importer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct wanted {
	char **names;
	int n;
};

static bool column_wanted(void *ctx, const struct lp_schema *s, uint32_t column)
{
	const struct wanted *w = ctx;

	for (int i = 0; i < w->n; i++) {
		if (!strcmp(w->names[i], s->columns[column].name))
			return true;
	}
	return w->n == 0;
}

static void print_cells(const struct lp_source *s, const struct lp_batch *b,
	const struct lp_batch_kind *k, uint32_t row, uint32_t sample, unsigned long number)
{
	const struct lp_schema *schema = &s->catalogue->schemas[k->schema];
	size_t cell = (size_t)row * b->cap_samples + sample;
	char name[512];

	lp_component_name(s->catalogue, k->ids[row], name, sizeof(name));
	for (uint32_t c = 0; c < k->n_columns; c++) {
		if (!k->columns[c] || !(k->state[cell] & LP_PRESENT))
			continue;
		printf("%lu,%" PRId64 ",%" PRId64 ",%u,%s,%s,%" PRId64 "\n", number,
			b->wall_us[sample], b->mono_us[sample], k->state[cell], name,
			schema->columns[c].name, k->columns[c][cell]);
	}
}

static void print_batch(const struct lp_source *s, const struct lp_batch *b, unsigned long *number)
{
	for (uint32_t sample = b->carry; sample < b->n_samples; sample++) {
		for (uint32_t k = 0; k < b->n_kinds; k++) {
			for (uint32_t row = 0; row < b->kinds[k].n_components; row++)
				print_cells(s, b, &b->kinds[k], row, sample, *number);
		}
		++*number;
	}
}

static void print_warning(void *ctx, const char *text)
{
	(void)ctx;
	fprintf(stderr, "warning: %s\n", text);
}

/* Read all of a source; 0 or what ended it. */
static int dump(struct lp_source *source, bool quiet, struct lp_err *err)
{
	unsigned long number = 0;
	struct lp_batch *batch;
	int r;

	if (!quiet)
		printf("sample,time_us,mono_us,state,component,column,value\n");
	while ((r = lp_source_next(source, &batch, err)) > 0) {
		if (quiet)
			number += batch->n_samples - batch->carry;
		else
			print_batch(source, batch, &number);
	}
	if (quiet)
		printf("%lu\n", number);
	return r;
}

int main(int argc, char **argv)
{
	bool quiet = argc > 1 && !strcmp(argv[1], "-q");
	char **args = argv + quiet;
	int n_args = argc - quiet;
	const struct importer *importer = n_args >= 3 ? importer_find(args[1]) : NULL;
	struct wanted wanted = {.names = args + 3, .n = n_args - 3};
	struct lp_select select = {.column = column_wanted, .ctx = &wanted};
	struct lp_warn warn = {.warn = print_warning};
	struct lp_source *source;
	struct lp_err err = {0};
	int r;

	if (!importer) {
		fprintf(stderr, "usage: dump_source [-q] IMPORTER FILE [COLUMN...]\n");
		return 2;
	}
	r = importer->open(args[2], NULL, &select, &warn, &source, &err);
	if (r == 0) {
		r = dump(source, quiet, &err);
		lp_source_close(source);
	}
	if (r < 0)
		fprintf(stderr, "error: %s\n", err.text);
	return r < 0 ? 1 : 0;
}
