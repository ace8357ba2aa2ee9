#include "report/train_print.h"

#include "base/cleanup.h"
#include "base/median.h"
#include "base/time.h"
#include "report/flow.h"
#include "report/grid.h"
#include "report/json.h"
#include "report/sparkline.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nobody looks at more plots than this. */
#define PLOTS_MAX 10

/* The thresholds of one metric. */
struct summary {
	const char *metric;
	size_t n;
	double least, median, most;
};

/* Summarise the rows of one metric, from `*at` on, which moves past them. */
static int summary_next(const struct threshold_row *rows, size_t n, size_t *at, struct summary *ret)
{
	_cleanup_free_ double *values = NULL;
	size_t first = *at, end = first;

	while (end < n && !strcmp(rows[end].metric, rows[first].metric))
		end++;
	values = calloc(end - first, sizeof(*values));
	if (!values)
		return -ENOMEM;
	*ret = (struct summary){rows[first].metric, end - first, INFINITY, 0, 0};
	for (size_t i = first; i < end; i++) {
		values[i - first] = rows[i].value;
		ret->least = fmin(ret->least, rows[i].value);
		ret->most = fmax(ret->most, rows[i].value);
	}
	ret->median = median_of(values, (uint32_t)(end - first));
	*at = end;
	return 0;
}

static int print_summary(FILE *out, const struct train_result *r, bool colour)
{
	static const char *const headings[] = {
		"metric", "thresholds", "smallest", "median", "largest"};
	_cleanup_(grid_release) struct grid g = {0};
	const struct threshold_row *rows;
	size_t n;

	rows = thresholds_rows(r->thresholds, &n);
	grid_init(&g, 5);
	for (size_t i = 0; i < 5; i++)
		grid_add(&g, headings[i]);
	for (size_t i = 0; i < n;) {
		struct summary s;

		if (summary_next(rows, n, &i, &s) < 0)
			return -ENOMEM;
		grid_add(&g, s.metric);
		grid_addf(&g, "%zu", s.n);
		grid_add_number(&g, s.least);
		grid_add_number(&g, s.median);
		grid_add_number(&g, s.most);
	}
	if (g.failed)
		return -ENOMEM;
	grid_print(&g, out, colour);
	return 0;
}

/* Print a number with its unit, if it is known. */
static void print_value(FILE *out, double value, const char *unit)
{
	fprintf(out, "%.4g%s", value, *unit ? " " : "");
	flow_print_safe(out, unit);
}

static double highest(const struct train_asymmetry *a)
{
	double high = 0;

	for (size_t c = 0; c < TRAIN_CURVE_COLUMNS; c++)
		high = fmax(high, fmax(a->own_curve[c], a->peers_curve[c]));
	return high;
}

/* Plot the component and its peers, one above the other on the same scale. */
static void print_plot(FILE *out, const struct train_asymmetry *a, bool utf8)
{
	char start[TIME_TEXT_MAX], end[TIME_TEXT_MAX];
	double high = highest(a);

	fputs("\n  ", out);
	flow_print_safe(out, a->metric);
	fputs(" of ", out);
	flow_print_safe(out, a->component);
	fputs(" (group ", out);
	flow_print_safe(out, a->group);
	fputs("): median ", out);
	print_value(out, a->own, a->unit);
	fputs(", its peers' ", out);
	print_value(out, a->peers, a->unit);
	fprintf(out, "; anomalous in %.0f%% of its windows\n    it     ", 100 * a->share);
	sparkline_print(out, a->own_curve, TRAIN_CURVE_COLUMNS, 0, high, utf8);
	fputs(" 0 .. ", out);
	print_value(out, high, a->unit);
	fputs("\n    peers  ", out);
	sparkline_print(out, a->peers_curve, TRAIN_CURVE_COLUMNS, 0, high, utf8);
	fprintf(out, "\n           %s .. %s\n", time_format(a->start_us, start),
		time_format(a->end_us, end));
}

static void print_asymmetries(FILE *out, const struct train_result *r, bool utf8)
{
	if (!r->n_asymmetries)
		return;
	fprintf(out,
		"\nwarning: lasting asymmetry: %s out of step most of the time.\n"
		"Is the data free of faults? If not, thresholds hide the fault: leave out the\n"
		"bad data, and train again.\n",
		r->n_asymmetries == 1 ? "one component was" : "some components were");
	for (size_t i = 0; i < r->n_asymmetries && i < PLOTS_MAX; i++)
		print_plot(out, &r->asymmetries[i], utf8);
	if (r->n_asymmetries > PLOTS_MAX)
		fprintf(out, "\n  and %zu more (--json lists all)\n", r->n_asymmetries - PLOTS_MAX);
}

static void warning_print(FILE *out, size_t number, const char *text)
{
	fputs(number ? "" : "\n", out);
	flow_print_line(out, "warning: %s", text);
}

int train_print_text(FILE *out, const struct train_result *r, const struct train_print_options *opt)
{
	char span[TIME_TEXT_MAX];
	size_t n;
	int failed = print_summary(out, r, opt->colour);

	if (failed < 0)
		return failed;
	print_asymmetries(out, r, opt->utf8);
	for (size_t i = 0; i < r->n_warnings; i++)
		warning_print(out, i, r->warnings[i]);
	thresholds_rows(r->thresholds, &n);
	fprintf(out,
		"\n%zu thresholds from %" PRIu32 " run%s (%s, %" PRIu32
		" windows), method %s, are in %s\n",
		n, r->n_runs, r->n_runs == 1 ? "" : "s", span_format(r->span_us, span),
		r->n_windows, thresholds_method(r->thresholds), opt->file);
	thresholds_normals(r->thresholds, &n);
	if (n)
		fprintf(out, "the file also has %zu ways in which calls fail normally\n", n);
	return 0;
}

static json_t *curve_json(const double *curve)
{
	json_t *list = json_array();

	for (size_t i = 0; i < TRAIN_CURVE_COLUMNS; i++)
		json_array_append_new(list, isfinite(curve[i]) ? json_real(curve[i]) : json_null());
	return list;
}

static json_t *asymmetry_json(const struct train_asymmetry *a)
{
	char start[TIME_TEXT_MAX], end[TIME_TEXT_MAX];

	return json_pack("{s:o,s:o,s:o,s:o,s:f,s:f,s:f,s:s,s:s,s:o,s:o}", "component",
		json_text(a->component), "metric", json_text(a->metric), "unit", json_text(a->unit),
		"group", json_text(a->group), "share", a->share, "median", a->own, "peers",
		a->peers, "start", time_format(a->start_us, start), "end",
		time_format(a->end_us, end), "curve", curve_json(a->own_curve), "peers_curve",
		curve_json(a->peers_curve));
}

static json_t *metrics_json(const struct train_result *r)
{
	json_t *list = json_array();
	const struct threshold_row *rows;
	size_t n;

	rows = thresholds_rows(r->thresholds, &n);
	for (size_t i = 0; i < n;) {
		struct summary s;

		if (summary_next(rows, n, &i, &s) < 0)
			break;
		json_array_append_new(list,
			json_pack("{s:o,s:I,s:f,s:f,s:f}", "metric", json_text(s.metric),
				"thresholds", (json_int_t)s.n, "smallest", s.least, "median",
				s.median, "largest", s.most));
	}
	return list;
}

int train_print_json(FILE *out, const struct train_result *r, const struct train_print_options *opt)
{
	const struct lp_params *p = thresholds_params(r->thresholds);
	json_t *warnings = json_array(), *asymmetries = json_array();
	size_t n_normals;
	json_t *root = json_pack("{s:s,s:o,s:s,s:{s:i,s:i,s:i,s:i,s:f},s:i,s:i,s:f,s:o,s:o,s:o}",
		"limpet", LIMPET_VERSION, "file", json_text(opt->file), "method",
		thresholds_method(r->thresholds), "params", "smooth", (int)p->smooth, "win_size",
		(int)p->win_size, "win_shift", (int)p->win_shift, "k", (int)p->k, "step_s",
		(double)p->step_us / 1e6, "runs", (int)r->n_runs, "windows", (int)r->n_windows,
		"span_s", (double)r->span_us / 1e6, "metrics", metrics_json(r), "asymmetries",
		asymmetries, "warnings", warnings);

	thresholds_normals(r->thresholds, &n_normals);
	if (root && n_normals)
		json_object_set_new(root, "normal_failures", json_integer((json_int_t)n_normals));
	for (size_t i = 0; i < r->n_asymmetries; i++)
		json_array_append_new(asymmetries, asymmetry_json(&r->asymmetries[i]));
	for (size_t i = 0; i < r->n_warnings; i++)
		json_array_append_new(warnings, json_text(r->warnings[i]));
	return json_print(out, root);
}
