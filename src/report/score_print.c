#include "report/score_print.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "report/grid.h"
#include "report/json.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The columns after the name and the number of experiments. */
struct column {
	const char *heading, *key;
	double (*value)(const struct score_row *r);
	int decimals;
	const char *unit; /* printed after the number */
};

static double tp(const struct score_row *r)
{
	return (double)r->units.tp;
}

static double fp(const struct score_row *r)
{
	return (double)r->units.fp;
}

static double fn(const struct score_row *r)
{
	return (double)r->units.fn;
}

static double tn(const struct score_row *r)
{
	return (double)r->units.tn;
}

static double warned(const struct score_row *r)
{
	return (double)r->units.warned;
}

static double false_warned(const struct score_row *r)
{
	return (double)r->units.false_warned;
}

static double absent(const struct score_row *r)
{
	return (double)r->units.absent;
}

static double precision(const struct score_row *r)
{
	return score_precision(&r->units);
}

static double recall(const struct score_row *r)
{
	return score_recall(&r->units);
}

static double mcc(const struct score_row *r)
{
	return score_mcc(&r->units);
}

static const struct column columns[] = {
	{"ITP", "itp_percent", score_itp, 1, "%"},
	{"IFP", "ifp_percent", score_ifp, 1, "%"},
	{"DTP", "dtp_percent", score_dtp, 1, "%"},
	{"DFP", "dfp_percent", score_dfp, 1, "%"},
	{"TP", "tp", tp, 0, ""},
	{"FP", "fp", fp, 0, ""},
	{"FN", "fn", fn, 0, ""},
	{"TN", "tn", tn, 0, ""},
	{"precision", "precision", precision, 3, ""},
	{"recall", "recall", recall, 3, ""},
	{"MCC", "mcc", mcc, 3, ""},
};

/* The additional counts. */
static const struct column beside[] = {
	{"warned", "warned", warned, 0, ""},
	{"wrongly warned", "false_warned", false_warned, 0, ""},
	{"absent", "absent", absent, 0, ""},
};

/* The quantiles of the time to detection. */
static const struct {
	const char *heading, *key;
	double q;
} quantiles[] = {
	{"least", "min", 0},
	{"1/4", "q1", 0.25},
	{"median", "median", 0.5},
	{"3/4", "q3", 0.75},
	{"most", "max", 1},
};

#define N_GRID_COLUMNS (2 + ARRAY_SIZE(columns))

static void add_number(struct grid *g, double value, int decimals, const char *unit)
{
	if (isnan(value))
		grid_add(g, "-");
	else
		grid_addf(g, "%.*f%s", decimals, value, unit);
}

static void add_rates(struct grid *g, const struct score_row *r, const char *label)
{
	grid_add(g, label);
	grid_addf(g, "%" PRIu64, r->n);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		add_number(g, columns[i].value(r), columns[i].decimals, columns[i].unit);
}

static void add_delays(struct grid *g, const struct score_row *r, const char *label)
{
	if (!r->n_delays)
		return;
	grid_add(g, label);
	grid_addf(g, "%zu", r->n_delays);
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++)
		add_number(g, score_delay(r, quantiles[i].q), 1, " s");
}

/* Print all rows of a board with one of the functions above. */
static void fill(struct grid *g, const struct score_board *b,
	void (*add)(struct grid *, const struct score_row *, const char *))
{
	for (size_t i = 0; i < b->n; i++)
		add(g, &b->rows[i], b->rows[i].label);
	add(g, &b->total, "all");
}

static void rates_make(struct grid *g, const struct score_board *b)
{
	grid_init(g, N_GRID_COLUMNS);
	grid_add(g, "fault");
	grid_add(g, "runs");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		grid_add(g, columns[i].heading);
	fill(g, b, add_rates);
}

static void add_beside(struct grid *g, const struct score_row *r, const char *label)
{
	if (warned(r) + false_warned(r) + absent(r) <= 0)
		return;
	grid_add(g, label);
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++)
		add_number(g, beside[i].value(r), beside[i].decimals, beside[i].unit);
}

static void beside_make(struct grid *g, const struct score_board *b)
{
	grid_init(g, 1 + ARRAY_SIZE(beside));
	grid_add(g, "counted apart");
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++)
		grid_add(g, beside[i].heading);
	fill(g, b, add_beside);
}

static void delays_make(struct grid *g, const struct score_board *b)
{
	grid_init(g, 2 + ARRAY_SIZE(quantiles));
	grid_add(g, "time to detection");
	grid_add(g, "faults");
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++)
		grid_add(g, quantiles[i].heading);
	fill(g, b, add_delays);
}

/* Print all tables with a function for a table. */
static int print_all(FILE *out, const struct score_board *b, bool colour,
	void (*print)(const struct grid *, FILE *, bool))
{
	_cleanup_(grid_release) struct grid rates = {0}, apart = {0}, delays = {0};
	const struct score_row *all = &b->total;

	rates_make(&rates, b);
	beside_make(&apart, b);
	delays_make(&delays, b);
	if (rates.failed || apart.failed || delays.failed)
		return -ENOMEM;
	print(&rates, out, colour);
	if (warned(all) + false_warned(all) + absent(all) > 0) {
		fputc('\n', out);
		print(&apart, out, colour);
	}
	if (b->total.n_delays) {
		fputc('\n', out);
		print(&delays, out, colour);
	}
	return 0;
}

int score_print_text(FILE *out, const struct score_board *b, bool colour)
{
	return print_all(out, b, colour, grid_print);
}

/* A cell; characters that would end it in Markdown are escaped. */
static void markdown_cell(FILE *out, const char *text)
{
	fputs("| ", out);
	for (; *text; text++)
		fprintf(out, *text == '|' || *text == '\\' ? "\\%c" : "%c", *text);
	fputc(' ', out);
}

static void markdown_print(const struct grid *g, FILE *out, bool colour)
{
	(void)colour;
	for (size_t i = 0; i < g->n_cells; i++) {
		markdown_cell(out, g->cells[i]);
		if ((i + 1) % g->n_columns)
			continue;
		fputs("|\n", out);
		for (size_t c = 0; i + 1 == g->n_columns && c < g->n_columns; c++)
			fputs(c ? "---:|" : "|---|", out);
		fputs(i + 1 == g->n_columns ? "\n" : "", out);
	}
}

int score_print_markdown(FILE *out, const struct score_board *b)
{
	return print_all(out, b, false, markdown_print);
}

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *row_json(const struct score_row *r, const char *label)
{
	json_t *o = json_pack("{s:o,s:I,s:I}", "fault", json_text(label), "runs", (json_int_t)r->n,
		"faulty_runs", (json_int_t)r->n_faulty);
	json_t *delays = json_pack("{s:I}", "faults", (json_int_t)r->n_delays);

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		double value = columns[i].value(r);
		bool count = !columns[i].decimals;

		json_object_set_new(o, columns[i].key,
			count ? json_integer((json_int_t)value) : number_or_null(value));
	}
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++)
		json_object_set_new(o, beside[i].key, json_integer((json_int_t)beside[i].value(r)));
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++)
		json_object_set_new(
			delays, quantiles[i].key, number_or_null(score_delay(r, quantiles[i].q)));
	json_object_set_new(o, "detection_s", delays);
	return o;
}

int score_print_json(FILE *out, const struct score_board *b, enum score_by by)
{
	json_t *rows = json_array();
	json_t *root = json_pack("{s:s,s:s,s:o,s:o}", "limpet", LIMPET_VERSION, "by",
		by == SCORE_BY_OBSERVER ? "observer" : "component", "rows", rows, "total",
		row_json(&b->total, "all"));

	for (size_t i = 0; i < b->n; i++)
		json_array_append_new(rows, row_json(&b->rows[i], b->rows[i].label));
	return json_print(out, root);
}
