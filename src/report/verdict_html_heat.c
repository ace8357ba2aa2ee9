#include "report/verdict_html_parts.h"

#include "base/cleanup.h"
#include "report/html.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 240
#define STEPS 4	     /* levels to a doubling */
#define LEVEL_MAX 20 /* 32 times the peers, or a 32nd of them */
#define LEVEL_NONE 127
#define LEVEL_ABSENT 126
#define SWATCH 36
#define N_CLASSES 6 /* of colour on each side, the neutral one included */

struct heat_cell {
	int8_t level; /* of log2 of the ratio */
	bool anomalous;
	uint32_t metric;
};

struct heat_row {
	uint32_t component, group;
	double score; /* how far off and how long, over all windows */
};

struct heat {
	const struct lp_verdict *v;
	int64_t from_us, to_us; /* what the columns show */
	uint32_t n_columns, n_rows, n_all;
	struct heat_row *rows;
	struct heat_cell *cells; /* [column], of the row being written */
};

static void heat_release(struct heat *h)
{
	free(h->rows);
	free(h->cells);
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

/* How much it speaks against a component: no data where the peers have it is as bad as can be. */
static int weight_of(int8_t level)
{
	return level == LEVEL_NONE ? -1 : level == LEVEL_ABSENT ? LEVEL_MAX + 1 : abs(level);
}

/* The class of colour: 0 is neutral. */
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

static int by_group(const void *a, const void *b)
{
	const struct heat_row *x = a, *y = b;

	return x->group != y->group ? (x->group > y->group ? 1 : -1) : by_score(a, b);
}

/* Choose the rows: the most severe of all components that were compared. */
static int choose_rows(struct heat *h, uint32_t rows_max)
{
	h->rows = calloc(h->v->n_components + (size_t)1, sizeof(*h->rows));
	if (!h->rows)
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
	qsort(h->rows, h->n_all, sizeof(*h->rows), by_score);
	h->n_rows = h->n_all < rows_max ? h->n_all : rows_max;
	qsort(h->rows, h->n_rows, sizeof(*h->rows), by_group);
	return 0;
}

/* What a window has on each side of the stretch that it stands for. */
static int64_t window_margin(const struct lp_params *p)
{
	return p->win_size > p->win_shift ? (int64_t)(p->win_size - p->win_shift) * p->step_us / 2
					  : 0;
}

/* The stretch of time that a window stands for: windows overlap, their middles do not. */
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

/* The cell shows the worst there is: anomalies before the rest, then the largest ratio. */
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
		const struct lp_peer_group *g = &h->v->groups[h->v->series[i].group];

		for (uint32_t m = 0; m < g->n_members; m++) {
			if (g->members[m] == component)
				fill_from_series(h, &h->v->series[i], m);
		}
	}
}

/* The class of a cell's rectangle: "a3" three steps above, "b2" below, "x" absent, "" none. Those
 * that were not anomalous are fainter. */
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

/* Cells of one colour side by side are one rectangle. */
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

/* What the read-out tells of each cell, a character each: the level, the metric, anomalous or not.
 * "." is none, "!" absent. */
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

static void write_row(FILE *out, struct heat *h, const struct heat_row *row)
{
	const char *name = h->v->components[row->component]->text;
	bool suspect = verdict_suspect_of(h->v, row->component) != NULL;

	fill_cells(h, row->component);
	fprintf(out, "<div class=\"row%s\" role=\"listitem\" data-name=\"",
		suspect ? " suspect" : "");
	html_write(out, name);
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

static void write_rows(FILE *out, struct heat *h)
{
	for (uint32_t i = 0; i < h->n_rows; i++) {
		if (i && h->rows[i].group != h->rows[i - 1].group)
			fputs("</div>\n", out);
		if (!i || h->rows[i].group != h->rows[i - 1].group) {
			fputs("<div class=\"rows\" role=\"list\" aria-label=\"group ", out);
			html_write(out, h->v->groups[h->rows[i].group].name);
			fputs("\"><h3>group ", out);
			html_write_name(out, h->v->groups[h->rows[i].group].name);
			fputs("</h3>\n", out);
		}
		write_row(out, h, &h->rows[i]);
	}
	if (h->n_rows)
		fputs("</div>\n", out);
}

/* One swatch for each class of colour, with the ratio at which it begins. */
static void write_scale(FILE *out)
{
	static const char *const above[] = {"1", "1.4x", "2x", "3x", "5x", "8x"};
	static const char *const below[] = {"1", "1/1.4", "1/2", "1/3", "1/5", "1/8"};

	fprintf(out,
		"<p class=\"scale\"><span>below its peers</span>"
		"<svg width=\"%d\" height=\"30\" role=\"img\" aria-label=\"colours, from an eighth "
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
	fputs("</div>\n<div class=\"row axis\"><span class=\"label\">UTC</span>", out);
	html_time_axis(out, h->from_us, h->to_us);
	fputs("</div>\n</div>\n", out);
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
	if (!h.cells || choose_rows(&h, p->opt.rows) < 0) {
		html_page_failed(p, -ENOMEM);
		return;
	}
	fputs("<section id=\"heat\" class=\"card\"><h2>All components over time</h2>\n"
	      "<p class=\"hint\">Each component's median against that of its peers, window by "
	      "window, in the metric that is furthest off.",
		p->out);
	if (h.n_rows < h.n_all)
		fprintf(p->out, " The %" PRIu32 " worst of %" PRIu32 " components are shown.",
			h.n_rows, h.n_all);
	fputs("</p>\n<div class=\"tools\"></div>\n", p->out);
	write_scale(p->out);
	write_map(p, &h);
	fputs("</section>\n", p->out);
}
