#include "explain/evidence.h"
#include "report/verdict_html_parts.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "report/axis.h"
#include "report/html.h"
#include "report/peer_lines.h"
#include <inttypes.h>
#include <limpet/metric.h>
#include <math.h>
#include <string.h>

/* The lines are drawn in these units and stretched to the size of the page; text is not. */
#define WIDTH 2000
#define HEIGHT 440
#define HEIGHT_PX 220
#define OVERSHOOT 20 /* lines leave the area upwards, and are cut there */

#define POINTS 600
#define PEER_POINTS 200
#define TICKS_Y 5
#define TICKS_X 8

static long x_of(uint32_t point, uint32_t n_points)
{
	return n_points > 1 ? lround((double)point * WIDTH / (n_points - 1)) : WIDTH / 2;
}

static long y_of(double value, double top)
{
	double y = HEIGHT - value / top * HEIGHT;

	return lround(y < -OVERSHOOT ? -OVERSHOOT : y > HEIGHT ? HEIGHT : y);
}

/* A line through the points, interrupted where there are none. */
static void write_line(FILE *out, const char *class, const double *values, uint32_t n, double top)
{
	bool drawing = false;
	long x = 0, y = 0;

	fprintf(out, "<path class=\"%s\" d=\"", class);
	for (uint32_t i = 0; i < n; i++) {
		long to_x = x_of(i, n), to_y;

		if (isnan(values[i])) {
			drawing = false;
			continue;
		}
		to_y = y_of(values[i], top);
		/* A point on its own needs a little length to be seen. */
		if (!drawing)
			fprintf(out, "M%ld %ldh1", to_x - 1, to_y);
		else
			fprintf(out, "l%ld %ld", to_x - x, to_y - y);
		drawing = true;
		x = to_x;
		y = to_y;
	}
	fputs("\"/>\n", out);
}

/* One stretch of the band between the extremes. */
static void write_band_run(FILE *out, const struct peer_lines *l, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		fprintf(out, "%c%ld %ld", i == first ? 'M' : 'L', x_of(i, l->n_points),
			y_of(l->high[i], l->top));
	for (uint32_t i = end; i-- > first;)
		fprintf(out, "L%ld %ld", x_of(i, l->n_points), y_of(l->low[i], l->top));
	fputc('Z', out);
}

/* Between which values the component's line hides what a point stands for. */
static void write_band(FILE *out, const struct peer_lines *l)
{
	uint32_t first = 0;

	fputs("<path class=\"band\" d=\"", out);
	for (uint32_t i = 0; i <= l->n_points; i++) {
		if (i < l->n_points && !isnan(l->low[i]))
			continue;
		if (i > first + 1)
			write_band_run(out, l, first, i);
		first = i + 1;
	}
	fputs("\"/>\n", out);
}

/* From when to when the plot shows. */
static void plot_span(const struct lp_table *t, int64_t *from_us, int64_t *to_us)
{
	*from_us = t->start_us - t->step_us;
	*to_us = lp_table_time(t, (int64_t)t->n_slots - 1);
}

static double x_of_time(const struct lp_table *t, int64_t wall_us)
{
	int64_t from_us, to_us;

	plot_span(t, &from_us, &to_us);
	return (double)(wall_us - from_us) / (double)(to_us - from_us) * WIDTH;
}

/* Anomalous windows that touch each other are one stretch. */
static void write_shades(struct html_page *p, const struct lp_finding *f)
{
	const struct lp_series *s = &p->v->series[f->series];
	const struct lp_table *t = p->v->tables[f->metric];
	const uint8_t *marks = s->marks + (size_t)f->member * s->n_windows;
	double from, to = 0;

	for (uint32_t w = 0; w < s->n_windows; w++) {
		uint32_t first = w;

		if (!verdict_mark_anomalous(marks[w]))
			continue;
		while (w + 1 < s->n_windows && marks[w + 1] == marks[first])
			w++;
		from = fmax(x_of_time(t, verdict_window_start(p->v, s, first)), to);
		to = x_of_time(t, verdict_window_end(p->v, s, w));
		fprintf(p->out,
			"<rect class=\"shade %s\" x=\"%.0f\" y=\"0\" width=\"%.0f\" "
			"height=\"%d\"/>\n",
			verdict_mark_name(marks[first]), from, to - from, HEIGHT);
	}
}

/* Labels beside the area, and rules across it. */
static void write_y_labels(FILE *out, double top)
{
	double step = axis_step(top, TICKS_Y);
	unsigned n = axis_ticks(top, TICKS_Y);
	char text[AXIS_TEXT_MAX];

	fprintf(out, "<svg class=\"y\" width=\"52\" height=\"%d\" aria-hidden=\"true\">",
		HEIGHT_PX);
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "<text x=\"46\" y=\"%.0f\">%s</text>",
			(double)y_of(i * step, top) / HEIGHT * HEIGHT_PX,
			axis_number(i * step, text));
	fputs("</svg>\n", out);
}

static void write_rules(FILE *out, double top)
{
	double step = axis_step(top, TICKS_Y);
	unsigned n = axis_ticks(top, TICKS_Y);

	fputs("<path class=\"rules\" d=\"", out);
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "M0 %ldH%d", y_of(i * step, top), WIDTH);
	fputs("\"/>\n", out);
}

void html_time_axis(FILE *out, int64_t from_us, int64_t to_us)
{
	int64_t range_us = span_between(from_us, to_us);
	int64_t step_us = axis_time_step(range_us, TICKS_X);
	/* How far the first tick is from the beginning. */
	int64_t ahead_us = (step_us - from_us % step_us) % step_us;
	char text[AXIS_TEXT_MAX];

	fputs("<svg class=\"x\" width=\"100%\" height=\"20\" aria-hidden=\"true\">", out);
	for (; range_us > 0 && ahead_us <= range_us; ahead_us += step_us) {
		int64_t at = from_us + ahead_us;
		double share = (double)ahead_us / (double)range_us;

		fprintf(out, "<text x=\"%.2f%%\" y=\"14\" text-anchor=\"%s\">%s</text>",
			share * 100,
			share < 0.02	       ? "start"
				: share > 0.98 ? "end"
					       : "middle",
			axis_time(at, step_us, text));
	}
	fputs("</svg>\n", out);
}

/* Numbers for the read-out, of three digits; nothing where there is no value. */
static void write_values(FILE *out, const char *name, const double *values, uint32_t n)
{
	fprintf(out, " data-%s=\"", name);
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			fputc(',', out);
		if (isfinite(values[i]))
			fprintf(out, "%.4g", values[i]);
	}
	fputc('"', out);
}

static void write_quantity(FILE *out, double value, const char *unit)
{
	char text[AXIS_TEXT_MAX];

	fputs(axis_number(value, text), out);
	if (isfinite(value) && unit[0]) {
		fputc(' ', out);
		html_write(out, unit);
	}
}

/* What the plot shows, for who cannot see it. */
static void write_description(struct html_page *p, const struct lp_finding *f)
{
	const struct lp_table *t = p->v->tables[f->metric];
	struct strbuf sb = {0};

	html_write(p->out, t->metric);
	fputs(" of ", p->out);
	html_write(p->out, p->v->components[f->component]->text);
	fprintf(p->out, " among its peers: %s them in ", verdict_mark_name(f->direction));
	evidence_add_windows(&sb, p->v, f);
	html_page_text(p, &sb);
	strbuf_release(&sb);
	fputs(", ", p->out);
	write_quantity(p->out, f->own, t->unit);
	fputs(" against ", p->out);
	write_quantity(p->out, f->peers, t->unit);
}

static void write_area(struct html_page *p, const struct lp_finding *f, const struct peer_lines *l)
{
	const struct lp_table *t = p->v->tables[f->metric];
	int64_t from_us, to_us;

	plot_span(t, &from_us, &to_us);
	fprintf(p->out,
		"<svg class=\"area\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
		"role=\"img\""
		" tabindex=\"0\" data-from=\"%" PRId64 "\" data-to=\"%" PRId64
		"\" data-top=\"%.6g\"",
		WIDTH, HEIGHT, from_us / 1000, to_us / 1000, l->top);
	write_values(p->out, "own", l->own, l->n_points);
	write_values(p->out, "median", l->median, l->n_points);
	fputs(" data-unit=\"", p->out);
	html_write(p->out, t->unit);
	fputs("\" data-name=\"", p->out);
	html_write(p->out, p->v->components[f->component]->text);
	fputs("\" aria-label=\"", p->out);
	write_description(p, f);
	fputs("\">\n", p->out);
	write_shades(p, f);
	write_rules(p->out, l->top);
	for (uint32_t i = 0; i < l->n_peers; i++)
		write_line(p->out, "peer", l->peers + (size_t)i * l->n_peer_points,
			l->n_peer_points, l->top);
	if (t->n_slots > l->n_points)
		write_band(p->out, l);
	write_line(p->out, "median", l->median, l->n_points, l->top);
	write_line(p->out, "own", l->own, l->n_points, l->top);
	fprintf(p->out, "<path class=\"cursor\" d=\"M0 0V%d\"/></svg>\n", HEIGHT);
}

static void write_key(FILE *out, const char *class)
{
	fprintf(out,
		"<span><svg class=\"key\" width=\"22\" height=\"10\" aria-hidden=\"true\">"
		"<path class=\"%s\" d=\"M0 5H22\"/></svg>",
		class);
}

/* What the shades that occur mean. */
static void write_shade_keys(struct html_page *p, const struct lp_finding *f)
{
	static const char *const words[] = {[LP_MARK_ABOVE] = "windows anomalously above them",
		[LP_MARK_BELOW] = "windows anomalously below them",
		[LP_MARK_ABSENT] = "windows without data or work"};
	const struct lp_series *s = &p->v->series[f->series];
	const uint8_t *marks = s->marks + (size_t)f->member * s->n_windows;

	for (int mark = LP_MARK_ABOVE; mark <= LP_MARK_ABSENT; mark++) {
		if (!memchr(marks, mark, s->n_windows))
			continue;
		fprintf(p->out,
			"<span><svg class=\"key\" width=\"22\" height=\"10\" aria-hidden=\"true\">"
			"<rect class=\"shade %s\" width=\"22\" height=\"10\"/></svg>%s</span>",
			verdict_mark_name((enum lp_mark)mark), words[mark]);
	}
}

static void write_legend(
	struct html_page *p, const struct lp_finding *f, const struct peer_lines *l)
{
	FILE *out = p->out;

	fputs("<p class=\"legend\">", out);
	write_key(out, "own");
	html_write_name(out, p->v->components[f->component]->text);
	fputs("</span>", out);
	write_key(out, "median");
	fprintf(out, "median of %" PRIu32 "%s peers</span>", l->n_median,
		l->n_median < l->n_others ? " evenly chosen" : "");
	write_key(out, "peer");
	if (l->n_peers < l->n_others)
		fprintf(out,
			"%" PRIu32 " of %" PRIu32 " peers, evenly chosen (%" PRIu32 " left out)",
			l->n_peers, l->n_others, l->n_others - l->n_peers);
	else
		fprintf(out, "all %" PRIu32 " peers", l->n_others);
	fputs("</span>", out);
	write_shade_keys(p, f);
	fputs("</p>\n", out);
}

/* The heading: metric, what it means, how far off. */
static void write_caption(struct html_page *p, const struct lp_finding *f)
{
	const struct lp_table *t = p->v->tables[f->metric];
	const struct lp_metric *metric =
		lp_metric_find(p->v->components[f->component]->kind, t->metric);

	fputs("<figcaption><b>", p->out);
	html_write(p->out, t->metric);
	fputs("</b>", p->out);
	if (t->unit[0]) {
		fputs(" <span class=\"unit\">", p->out);
		html_write(p->out, t->unit);
		fputs("</span>", p->out);
	}
	if (metric) {
		fputs(" <span class=\"help\">", p->out);
		html_write(p->out, metric->help);
		fputs("</span>", p->out);
	}
	fputs("</figcaption>\n", p->out);
}

void html_plot(struct html_page *p, const struct lp_finding *f)
{
	const struct peer_lines_options options = {
		.points = POINTS, .peer_points = PEER_POINTS, .peers = p->opt.peers};
	const struct lp_table *t = p->v->tables[f->metric];
	_cleanup_(peer_lines_release) struct peer_lines l = {0};
	int64_t from_us, to_us;
	int r;

	if (!t->n_slots)
		return;
	r = peer_lines_make(p->v, f, &options, &l);
	if (r < 0) {
		html_page_failed(p, r);
		return;
	}
	fputs("<figure class=\"plot\">\n", p->out);
	write_caption(p, f);
	fputs("<div class=\"frame\">\n", p->out);
	write_y_labels(p->out, l.top);
	write_area(p, f, &l);
	plot_span(t, &from_us, &to_us);
	fputs("<span></span>", p->out);
	html_time_axis(p->out, from_us, to_us);
	fputs("</div>\n", p->out);
	write_legend(p, f, &l);
	fputs("</figure>\n", p->out);
}
