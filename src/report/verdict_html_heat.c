#include "report/verdict_html_parts.h"

#include "base/cleanup.h"
#include "report/html.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 240
#define STEPS 4	     /* levels per doubling */
#define LEVEL_MAX 20 /* 32 times the peers, or 1/32 of them */
#define LEVEL_NONE 127
#define LEVEL_ABSENT 126
#define SWATCH 34
#define NORMAL_ROWS 12 /* normal rows shown in a group with anomalous members */
#define NAMES_MAX 500  /* names shown of groups in which everything is normal */
#define N_CLASSES 6    /* colour classes on each side, including the neutral one */

struct heat_cell {
	int8_t level; /* of log2 of the ratio */
	bool anomalous;
	uint32_t metric;
};

struct heat_row {
	uint32_t component, group;
	double score; /* how far off and for how long, over all windows; 0: always normal */
};

struct heat {
	const struct lp_verdict *v;
	int64_t from_us, to_us; /* the time range of the columns */
	uint32_t n_columns, n_rows, n_all;
	struct heat_row *rows;	 /* the visible ones come first */
	double *group_scores;	 /* [group] the score of its worst row */
	struct heat_cell *cells; /* [column] of the current row */
	struct html_detail detail;
};

static void heat_release(struct heat *h)
{
	free(h->rows);
	free(h->group_scores);
	free(h->cells);
	html_detail_release(&h->detail);
}

static int8_t level_of(double ratio, uint8_t mark)
{
	double level;

	if (mark == LP_MARK_ABSENT)
		return LEVEL_ABSENT;
	if (mark == LP_MARK_NONE || isnan(ratio))
		return LEVEL_NONE;
	level = ratio > 0 ? round(log2(ratio) * STEPS) : -LEVEL_MAX;
	return (int8_t)(level > LEVEL_MAX ? LEVEL_MAX : level < -LEVEL_MAX ? -LEVEL_MAX : level);
}

/* The weight of a level; no data while the peers have data is the worst. */
static int weight_of(int8_t level)
{
	return level == LEVEL_NONE ? -1 : level == LEVEL_ABSENT ? LEVEL_MAX + 1 : abs(level);
}

/* The colour class; 0 is neutral. */
static int class_of(int8_t level)
{
	static const int from[N_CLASSES] = {0, 2, 4, 6, 9, 12};
	int class = N_CLASSES - 1;

	while (abs(level) < from[class])
		class --;
	return class;
}

static void score_series(struct heat *h, const struct lp_series *s)
{
	const struct lp_peer_group *g = &h->v->groups[s->group];

	for (uint32_t m = 0; m < g->n_members; m++) {
		struct heat_row *row = &h->rows[g->members[m]];
		double score = 0;

		for (uint32_t w = 0; w < s->n_windows; w++) {
			size_t at = (size_t)m * s->n_windows + w;

			if (verdict_mark_anomalous(s->marks[at]))
				score += weight_of(level_of(s->ratios[at], s->marks[at]));
		}
		if (score > row->score || row->group == UINT32_MAX) {
			row->score = score;
			row->group = s->group;
		}
	}
}

static int by_score(const void *a, const void *b)
{
	const struct heat_row *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return (x->component > y->component) - (x->component < y->component);
}

/* The worst group first, and within a group the worst row first. */
static int by_group(const void *a, const void *b, void *ctx)
{
	const struct heat_row *x = a, *y = b;
	const double *scores = ctx;

	if (scores[x->group] != scores[y->group])
		return scores[x->group] < scores[y->group] ? 1 : -1;
	return x->group != y->group ? (x->group > y->group ? 1 : -1) : by_score(a, b);
}

/* Compute the scores of all compared components. */
static int score_rows(struct heat *h)
{
	h->rows = calloc(h->v->n_components + (size_t)1, sizeof(*h->rows));
	h->group_scores = calloc(h->v->n_groups + (size_t)1, sizeof(*h->group_scores));
	if (!h->rows || !h->group_scores)
		return -ENOMEM;
	for (uint32_t c = 0; c < h->v->n_components; c++)
		h->rows[c] = (struct heat_row){.component = c, .group = UINT32_MAX};
	for (uint32_t i = 0; i < h->v->n_series; i++)
		score_series(h, &h->v->series[i]);
	for (uint32_t i = 0; i < h->v->n_suspects; i++)
		h->rows[h->v->suspects[i].component].score += 1e6; /* before all others */
	for (uint32_t i = 0; i < h->v->n_absent; i++)
		h->rows[h->v->absent[i].component].score += 1e5;
	for (uint32_t c = 0; c < h->v->n_components; c++) {
		if (h->rows[c].group != UINT32_MAX)
			h->rows[h->n_all++] = h->rows[c];
	}
	for (uint32_t i = 0; i < h->n_all; i++) {
		double *best = &h->group_scores[h->rows[i].group];

		*best = h->rows[i].score > *best ? h->rows[i].score : *best;
	}
	return 0;
}

/* Choose the visible rows: the worst of all components, and a few normal members of their groups.
 * Groups without anomalies have no visible rows. */
static int choose_rows(struct heat *h, uint32_t rows_max)
{
	_cleanup_free_ uint32_t *normal = calloc(h->v->n_groups + (size_t)1, sizeof(*normal));
	int r = score_rows(h);

	if (r < 0 || !normal)
		return -ENOMEM;
	qsort(h->rows, h->n_all, sizeof(*h->rows), by_score);
	for (uint32_t i = 0; i < h->n_all && h->n_rows < rows_max; i++) {
		struct heat_row row = h->rows[i];

		if (!(h->group_scores[row.group] > 0) ||
			(!(row.score > 0) && normal[row.group]++ >= NORMAL_ROWS))
			continue;
		h->rows[i] = h->rows[h->n_rows];
		h->rows[h->n_rows++] = row;
	}
	qsort_r(h->rows, h->n_rows, sizeof(*h->rows), by_group, h->group_scores);
	return 0;
}

/* The part of a window on each side of the time that it represents. */
static int64_t window_margin(const struct lp_params *p)
{
	return p->win_size > p->win_shift ? (int64_t)(p->win_size - p->win_shift) * p->step_us / 2
					  : 0;
}

/* The time that a window represents: its middle, because windows overlap. */
static void window_columns(const struct heat *h, const struct lp_series *s, uint32_t w,
	uint32_t *ret_first, uint32_t *ret_last)
{
	int64_t middle = verdict_window_start(h->v, s, w) / 2 + verdict_window_end(h->v, s, w) / 2;
	int64_t half = (int64_t)h->v->params.win_shift * h->v->params.step_us / 2;
	double scale = (double)h->n_columns / (double)(h->to_us - h->from_us);
	double first = floor((double)(middle - half - h->from_us) * scale + 1e-6);
	double last = ceil((double)(middle + half - h->from_us) * scale - 1e-6) - 1;

	*ret_first = (uint32_t)fmin(fmax(first, 0), h->n_columns - 1);
	*ret_last = (uint32_t)fmin(fmax(last, *ret_first), h->n_columns - 1);
}

/* Merge into a cell, which shows the worst value: anomalies first, then the largest ratio. */
static void cell_merge(struct heat_cell *cell, const struct heat_cell *other)
{
	if (cell->anomalous != other->anomalous) {
		if (other->anomalous)
			*cell = *other;
		return;
	}
	if (weight_of(other->level) > weight_of(cell->level))
		*cell = *other;
}

static void fill_from_series(struct heat *h, const struct lp_series *s, uint32_t member)
{
	for (uint32_t w = 0; w < s->n_windows; w++) {
		size_t at = (size_t)member * s->n_windows + w;
		struct heat_cell cell = {.level = level_of(s->ratios[at], s->marks[at]),
			.anomalous = verdict_mark_anomalous(s->marks[at]),
			.metric = s->metric};
		uint32_t first, last;

		window_columns(h, s, w, &first, &last);
		for (uint32_t c = first; c <= last; c++)
			cell_merge(&h->cells[c], &cell);
	}
}

static void fill_cells(struct heat *h, uint32_t component)
{
	for (uint32_t c = 0; c < h->n_columns; c++)
		h->cells[c] = (struct heat_cell){.level = LEVEL_NONE};
	for (uint32_t i = 0; i < h->v->n_series; i++) {
		uint32_t member = html_member_of(h->v, &h->v->series[i], component);

		if (member != UINT32_MAX)
			fill_from_series(h, &h->v->series[i], member);
	}
}

/* The CSS class of a cell: "a3" three steps above, "b2" below, "x" absent, "" none. Cells without
 * an anomaly are fainter. */
static const char *cell_class(const struct heat_cell *cell, char buf[8])
{
	int class;

	if (cell->level == LEVEL_NONE)
		return "";
	if (cell->level == LEVEL_ABSENT)
		return "x";
	class = class_of(cell->level);
	if (!class)
		return "";
	snprintf(buf, 8, "%c%d%s", cell->level > 0 ? 'a' : 'b', class, cell->anomalous ? "" : " n");
	return buf;
}

/* Adjacent cells of one colour are one rectangle. */
static void write_cells(FILE *out, const struct heat *h)
{
	for (uint32_t c = 0, first = 0; c < h->n_columns; first = c) {
		char buf[8], other[8];
		const char *class = cell_class(&h->cells[first], buf);

		while (c < h->n_columns && !strcmp(cell_class(&h->cells[c], other), class))
			c++;
		if (class[0])
			fprintf(out,
				"<rect class=\"%s\" x=\"%" PRIu32 "\" width=\"%" PRIu32
				"\" height=\"1\"/>",
				class, first, c - first);
	}
}

/* The data for details, one character per cell: the level, the metric, anomalous or not. "." means
 * none, "!" absent. */
static void write_data(FILE *out, const struct heat *h)
{
	static const char digits[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	fputs(" data-level=\"", out);
	for (uint32_t c = 0; c < h->n_columns; c++) {
		int8_t level = h->cells[c].level;

		fputc(level == LEVEL_NONE		? '.'
				: level == LEVEL_ABSENT ? '!'
							: digits[level + LEVEL_MAX],
			out);
	}
	fputs("\" data-metric=\"", out);
	for (uint32_t c = 0; c < h->n_columns; c++)
		fputc(h->cells[c].metric < sizeof(digits) - 1 ? digits[h->cells[c].metric] : '.',
			out);
	fputs("\" data-bad=\"", out);
	for (uint32_t c = 0; c < h->n_columns; c++)
		fputc(h->cells[c].anomalous ? '1' : '0', out);
	fputc('"', out);
}

/* The anomalous windows of a series, as columns: "3-17,40-44". */
static void write_runs(FILE *out, const struct heat *h, const struct lp_series *s, uint32_t member)
{
	const uint8_t *marks = s->marks + (size_t)member * s->n_windows;
	const char *between = "";

	for (uint32_t w = 0; w < s->n_windows; w++) {
		uint32_t first, last, ignored;

		if (!verdict_mark_anomalous(marks[w]))
			continue;
		window_columns(h, s, w, &first, &last);
		while (w + 1 < s->n_windows && verdict_mark_anomalous(marks[w + 1]))
			window_columns(h, s, ++w, &ignored, &last);
		fprintf(out, "%s%" PRIu32 "-%" PRIu32, between, first, last);
		between = ",";
	}
}

/* The data for a click on the row: each of its metrics over time, and where it was anomalous. */
static void write_metrics(FILE *out, struct heat *h, uint32_t component)
{
	const struct lp_verdict *v = h->v;

	fputs("\" data-lines=\"", out);
	for (uint32_t i = 0; i < v->n_series; i++) {
		uint32_t member = html_member_of(v, &v->series[i], component);

		if (member == UINT32_MAX)
			continue;
		fprintf(out, "%" PRIu32 ":", i);
		write_runs(out, h, &v->series[i], member);
		fputc(':', out);
		html_detail_own(out, v, &h->detail, component, v->series[i].metric);
		fputc(';', out);
		h->detail.used[i] = true;
	}
}

static void write_row(FILE *out, struct heat *h, const struct heat_row *row)
{
	const char *name = h->v->components[row->component]->text;
	bool suspect = verdict_suspect_of(h->v, row->component) != NULL;

	fill_cells(h, row->component);
	fprintf(out, "<div class=\"row%s\" role=\"listitem\" data-name=\"",
		suspect ? " suspect" : "");
	html_write(out, name);
	write_metrics(out, h, row->component);
	fputc('"', out);
	write_data(out, h);
	fputs("><span class=\"label\" title=\"", out);
	html_write(out, name);
	fputs("\">", out);
	html_write_name(out, name);
	fprintf(out,
		"</span><svg viewBox=\"0 0 %" PRIu32
		" 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
		h->n_columns);
	write_cells(out, h);
	fputs("</svg></div>\n", out);
}

/* The number of members of a group without a visible row. */
static uint32_t left_out(const struct heat *h, uint32_t group, uint32_t n_shown)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->n_all; i++)
		n += h->rows[i].group == group;
	return n - n_shown;
}

/* Write the rows of one group, from `first` on; returns the row after them. */
static uint32_t write_group(FILE *out, struct heat *h, uint32_t first)
{
	uint32_t group = h->rows[first].group, i, more;

	fputs("<div class=\"rows\" role=\"list\" aria-label=\"group ", out);
	html_write(out, h->v->groups[group].name);
	fputs("\"><h3>group ", out);
	html_write_name(out, h->v->groups[group].name);
	fputs("</h3>\n", out);
	for (i = first; i < h->n_rows && h->rows[i].group == group; i++)
		write_row(out, h, &h->rows[i]);
	more = left_out(h, group, i - first);
	if (more)
		fprintf(out, "<p class=\"more\">%" PRIu32 " more%s</p>\n", more,
			h->n_rows && h->rows[i - 1].score > 0 ? "" : ", all normal");
	fputs("</div>\n", out);
	return i;
}

/* All groups without anomalies are one line, which lists them when it is opened. */
static void write_normal_groups(FILE *out, const struct heat *h)
{
	_cleanup_free_ uint32_t *members = calloc(h->v->n_groups + (size_t)1, sizeof(*members));
	uint32_t n_groups = 0, n_members = 0, named = 0;

	for (uint32_t i = 0; members && i < h->n_all; i++) {
		if (h->group_scores[h->rows[i].group] > 0)
			continue;
		n_groups += !members[h->rows[i].group]++;
		n_members++;
	}
	if (!n_groups)
		return;
	fprintf(out,
		"<details class=\"normal\"><summary>%" PRIu32 " component%s in %" PRIu32
		" group%s: all normal</summary><ul>",
		n_members, n_members == 1 ? "" : "s", n_groups, n_groups == 1 ? "" : "s");
	for (uint32_t g = 0; g < h->v->n_groups && named < NAMES_MAX; g++) {
		if (!members[g])
			continue;
		fputs("<li>", out);
		html_write_name(out, h->v->groups[g].name);
		fprintf(out, ": %" PRIu32 "</li>", members[g]);
		named++;
	}
	if (named < n_groups)
		fprintf(out, "<li>and %" PRIu32 " more groups</li>", n_groups - named);
	fputs("</ul></details>\n", out);
}

static void write_rows(FILE *out, struct heat *h)
{
	for (uint32_t i = 0; i < h->n_rows;)
		i = write_group(out, h, i);
	write_normal_groups(out, h);
}

/* One swatch per colour class, with the ratio at which it begins. */
static void write_scale(FILE *out)
{
	static const char *const above[] = {"1", "1.4x", "2x", "3x", "5x", "8x"};
	static const char *const below[] = {"1", "1/1.4", "1/2", "1/3", "1/5", "1/8"};

	fprintf(out,
		"<p class=\"scale\"><span>below its peers</span>"
		"<svg viewBox=\"0 0 %d 30\" class=\"swatches\" role=\"img\" aria-label=\"colours, "
		"from an eighth "
		"of "
		"the peers' median to eight times it\">",
		(2 * N_CLASSES - 1) * SWATCH);
	for (int i = -N_CLASSES + 1; i < N_CLASSES; i++) {
		int x = (i + N_CLASSES - 1) * SWATCH;

		fprintf(out,
			"<rect class=\"%c%d\" x=\"%d\" width=\"%d\" height=\"14\"/>"
			"<text x=\"%d\" y=\"27\" text-anchor=\"middle\">%s</text>",
			i < 0 ? 'b' : 'a', abs(i), x, SWATCH, x + SWATCH / 2,
			i < 0 ? below[-i] : above[i]);
	}
	fputs("</svg><span>above them</span>"
	      "<span><svg width=\"24\" height=\"14\" aria-hidden=\"true\">"
	      "<rect class=\"x\" width=\"24\" height=\"14\"/></svg> no data or no work where its "
	      "peers have it</span><span>fainter where not anomalous</span></p>\n",
		out);
}

static void write_map(struct html_page *p, struct heat *h)
{
	FILE *out = p->out;

	fprintf(out,
		"<div class=\"heat\" data-columns=\"%" PRIu32 "\" data-from=\"%" PRId64
		"\" data-to=\"%" PRId64 "\" data-metrics=\"",
		h->n_columns, h->from_us / 1000, h->to_us / 1000);
	for (uint32_t i = 0; i < h->v->n_tables; i++) {
		fputs(i ? "\t" : "", out);
		html_write(out, h->v->tables[i]->metric);
	}
	fputs("\">\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"heat map\">\n",
		out);
	write_rows(out, h);
	fputs("</div>\n", out);
	if (h->n_rows) {
		fputs("<div class=\"row axis\"><span class=\"label zone\">UTC</span>", out);
		html_time_axis(out, h->from_us, h->to_us);
		fputs("</div>\n", out);
	}
	html_detail_series(p, &h->detail);
	fputs("</div>\n", out);
}

void html_heat_map(struct html_page *p)
{
	struct verdict_span span = verdict_span(p->v);
	_cleanup_(heat_release) struct heat h = {
		.v = p->v, .from_us = span.start_us, .to_us = span.end_us};
	int64_t margin_us = window_margin(&p->v->params);

	if (h.to_us - h.from_us > 2 * margin_us) {
		h.from_us += margin_us;
		h.to_us -= margin_us;
	}
	if (!span.n_windows || h.to_us <= h.from_us)
		return;
	h.n_columns = span.n_windows < COLUMNS_MAX ? span.n_windows : COLUMNS_MAX;
	h.cells = calloc(h.n_columns, sizeof(*h.cells));
	if (!h.cells || choose_rows(&h, p->opt.rows) < 0 ||
		html_detail_init(&h.detail, p->v, h.n_rows) < 0) {
		html_page_failed(p, -ENOMEM);
		return;
	}
	fputs("<section id=\"heat\" class=\"card\"><h2>All components over time</h2>\n"
	      "<p class=\"hint\">Each component's median against that of its peers, window by "
	      "window, in the metric that is furthest off. Click a cell to see all metrics of "
	      "its component at that time.</p>\n<div class=\"tools\"></div>\n",
		p->out);
	if (h.n_rows)
		write_scale(p->out);
	write_map(p, &h);
	fputs("</section>\n<section id=\"component\" class=\"card\" hidden aria-live=\"polite\">"
	      "</section>\n",
		p->out);
}
