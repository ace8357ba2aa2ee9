#include "cli/help.h"

#include "collect/collector.h"
#include "trace/rows.h"
#include <limpet/metric.h>
#include <string.h>

/* Print an input; "|" would end a cell of a table. */
static void print_input(FILE *out, const char *input, bool markdown)
{
	for (; *input; input++) {
		if (*input == '|')
			fputs(markdown ? "` or `" : " or ", out);
		else
			fputc(*input, out);
	}
}

static void print_metric(FILE *out, const struct lp_metric *m, bool markdown)
{
	if (markdown)
		fprintf(out, "| `%s` | %s | %s | `", m->name, m->unit, m->help);
	else
		fprintf(out, "  %-10s %-10s %s\n%25sfrom ", m->name, m->unit, m->help, "");
	for (size_t i = 0; m->inputs[i]; i++) {
		if (i)
			fputs(markdown ? "`, `" : " and ", out);
		print_input(out, m->inputs[i], markdown);
	}
	fputs(markdown ? "` |\n" : "\n", out);
}

static void print_kind(FILE *out, const struct lp_metric *m, bool markdown)
{
	if (markdown)
		fprintf(out,
			"\n### Metrics of %s components (%s)\n\n"
			"| metric | unit | meaning | computed from |\n|---|---|---|---|\n",
			m->kind, m->resource);
	else
		fprintf(out, "\n%s metrics (%s)\n", m->kind, m->resource);
}

/* `of` is what records them: "the collector tcp". */
static void print_columns(FILE *out, const char *of, const struct lp_schema *schema, bool markdown)
{
	static const char *const types[] = {
		[LP_COUNTER] = "counter", [LP_GAUGE] = "gauge", [LP_REAL] = "metric"};

	if (markdown)
		fprintf(out,
			"\n### Raw columns of %s (%s components)\n\n"
			"| column | unit | type |\n|---|---|---|\n",
			of, schema->kind);
	else
		fprintf(out, "\nraw columns of %s (%s)\n", of, schema->kind);
	for (uint32_t i = 0; i < schema->n_columns; i++) {
		const struct lp_column *column = &schema->columns[i];

		if (markdown)
			fprintf(out, "| `%s` | %s | %s |\n", column->name, column->unit,
				types[column->type]);
		else
			fprintf(out, "  %-20s %-12s %s\n", column->name, column->unit,
				types[column->type]);
	}
}

void help_print_metrics(FILE *out, bool markdown)
{
	const char *kind = "";

	if (!markdown)
		fputs("Metrics are computed from the recorded columns when data is read. A\n"
		      "column with a '?' may be missing. 'limpet show -m NAME DATA' prints one,\n"
		      "'limpet show --raw -m COLUMN DATA' a column as it was counted.\n",
			out);
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++) {
		if (strcmp((*m)->kind, kind) != 0)
			print_kind(out, *m, markdown);
		kind = (*m)->kind;
		print_metric(out, *m, markdown);
	}
	for (const struct collector *const *c = collectors; *c; c++) {
		char of[64];

		snprintf(of, sizeof(of), "the collector %s", (*c)->name);
		print_columns(out, of, (*c)->schema, markdown);
	}
	for (size_t k = 0; k < TRACE_ROWS_KINDS; k++)
		print_columns(out, "traces", &trace_rows_schemas[k], markdown);
}
