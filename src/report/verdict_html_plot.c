#include "explain/evidence.h"
#include "report/verdict_html_parts.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "model/quantity.h"
#include "report/axis.h"
#include "report/html.h"
#include "report/peer_lines.h"

#include <inttypes.h>
#include <limpet/metric.h>
#include <math.h>
#include <string.h>

/* Lines are drawn in these units and stretched to the size of the page; text is not stretched. */
#define WIDTH 2000
#define HEIGHT 440
#define HEIGHT_PX 200
#define LABELS_PX 64 /* width of the labels next to the area */
#define OVERSHOOT 20 /* lines leave the area at the top, and are clipped there */

#define TICKS_Y 5
#define TICKS_X 8

/* A point is in the middle of its time. */
static long x_of(uint32_t point, uint32_t n_points)
{
	return lround((point + 0.5) * WIDTH / n_points);
}

static long y_of(double value, double top)
{
	double y = HEIGHT - value / top * HEIGHT;

	return lround(y < -OVERSHOOT ? -OVERSHOOT : y > HEIGHT ? HEIGHT : y);
}

/* A line through the points; missing points interrupt it. */
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
		/* A single point needs some length to be visible. */
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

/* A band between two lines of points. */
struct band {
	const double *low, *high;
	uint32_t n_points;
	double ceiling;
};

/* One stretch of the band. */
static void write_band_run(FILE *out, const struct band *b, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		fprintf(out, "%c%ld %ld", i == first ? 'M' : 'L', x_of(i, b->n_points),
			y_of(b->high[i], b->ceiling));
	for (uint32_t i = end; i-- > first;)
		fprintf(out, "L%ld %ld", x_of(i, b->n_points), y_of(b->low[i], b->ceiling));
	fputc('Z', out);
}

static void write_band(FILE *out, const char *class, const struct band *b)
{
	uint32_t first = 0;

	fprintf(out, "<path class=\"%s\" d=\"", class);
	for (uint32_t i = 0; i <= b->n_points; i++) {
		if (i < b->n_points && !isnan(b->low[i]))
			continue;
		if (i > first + 1)
			write_band_run(out, b, first, i);
		first = i + 1;
	}
	fputs("\"/>\n", out);
}

/* The time range of the plot. */
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

/* Adjacent anomalous windows are one stretch. */
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

/* The value of each tick is a round number in its unit. */
struct ticks {
	double step;
	unsigned n;
};

static struct ticks ticks_of(double ceiling, const char *unit)
{
	double size = quantity_unit_size(ceiling, unit);

	return (struct ticks){.step = axis_step(ceiling / size, TICKS_Y) * size,
		.n = axis_ticks(ceiling / size, TICKS_Y)};
}

/* Write labels next to the area, and lines across it. */
static void write_y_labels(FILE *out, double ceiling, const char *unit)
{
	struct ticks t = ticks_of(ceiling, unit);
	char text[QUANTITY_TEXT_MAX];

	fprintf(out, "<svg class=\"y\" width=\"%d\" height=\"%d\" aria-hidden=\"true\">", LABELS_PX,
		HEIGHT_PX);
	for (unsigned i = 0; i < t.n; i++) {
		fprintf(out, "<text x=\"%d\" y=\"%.0f\">", LABELS_PX - 6,
			fmin((double)y_of(i * t.step, ceiling) / HEIGHT * HEIGHT_PX,
				HEIGHT_PX - 5));
		html_write(out, quantity_format_tick(i * t.step, unit, text));
		fputs("</text>", out);
	}
	fputs("</svg>\n", out);
}

static void write_rules(FILE *out, double ceiling, const char *unit)
{
	struct ticks t = ticks_of(ceiling, unit);

	fputs("<path class=\"rules\" d=\"", out);
	for (unsigned i = 0; i < t.n; i++)
		fprintf(out, "M0 %ldH%d", y_of(i * t.step, ceiling), WIDTH);
	fputs("\"/>\n", out);
}

void html_time_axis(FILE *out, int64_t from_us, int64_t to_us)
{
	int64_t range_us = span_between(from_us, to_us);
	int64_t step_us = axis_time_step(range_us, TICKS_X);
	/* The distance from the beginning to the first tick. */
	int64_t ahead_us = (step_us - from_us % step_us) % step_us;
	char text[AXIS_TEXT_MAX];

	fprintf(out,
		"<svg class=\"x\" width=\"100%%\" height=\"20\" aria-hidden=\"true\" "
		"data-from=\"%" PRId64 "\" data-to=\"%" PRId64 "\">",
		from_us / 1000, to_us / 1000);
	/* Without a script, narrow windows show every other label, or only the first one. */
	for (unsigned i = 0; range_us > 0 && ahead_us <= range_us; ahead_us += step_us, i++) {
		int64_t at = from_us + ahead_us;
		double share = (double)ahead_us / (double)range_us;

		fprintf(out,
			"<text class=\"t%u\" x=\"%.2f%%\" y=\"14\" text-anchor=\"%s\">%s</text>",
			i % 4, share * 100,
			share < 0.06	       ? "start"
				: share > 0.94 ? "end"
					       : "middle",
			axis_time(at, step_us, text));
	}
	fputs("</svg>\n", out);
}

/* A description of the plot for people who cannot see it. */
static void write_description(struct html_page *p, const struct lp_finding *f)
{
	const struct lp_table *t = p->v->tables[f->metric];
	struct strbuf sb = {0};

	html_write(p->out, t->metric);
	fputs(" of ", p->out);
	html_write(p->out, p->v->components[f->component]->text);
	fprintf(p->out, " among its peers: %s them in ", verdict_mark_name(f->direction));
	evidence_add_windows(&sb, p->v, f);
	strbuf_puts(&sb, ", ");
	quantity_add(&sb, f->own, t->unit);
	strbuf_puts(&sb, " against ");
	quantity_add(&sb, f->peers, t->unit);
	html_page_text(p, &sb);
	strbuf_release(&sb);
}

/* Was it over before the data ended? */
static bool is_over(const struct lp_verdict *v, const struct lp_suspect *s)
{
	return !verdict_is_still(
		v, &(struct lp_incident){.ended = s->ended, .last_us = s->last_us});
}

/* Onset and end as lines across the area, if they are within the data. */
static unsigned plot_events(const struct html_page *p, const struct lp_suspect *s,
	const struct lp_table *t, struct html_event ret[2])
{
	int64_t from_us, to_us;
	unsigned n = 0;

	plot_span(t, &from_us, &to_us);
	if (!s->since_before && s->first_us > from_us && s->first_us < to_us)
		ret[n++] = (struct html_event){s->first_us, "onset"};
	if (is_over(p->v, s) && s->last_us > from_us && s->last_us < to_us)
		ret[n++] = (struct html_event){s->last_us, "end"};
	return n;
}

/* Write the names and times of events above the area. */
static void write_flags(
	FILE *out, const struct lp_table *t, const struct html_event *events, unsigned n)
{
	char text[TIME_TEXT_MAX];

	fputs("<svg class=\"flags\" width=\"100%\" height=\"16\" aria-hidden=\"true\">", out);
	for (unsigned i = 0; i < n; i++) {
		double share = x_of_time(t, events[i].wall_us) / WIDTH;

		time_format(events[i].wall_us, text);
		fprintf(out,
			"<text x=\"%.2f%%\" y=\"12\" text-anchor=\"%s\" data-at=\"%" PRId64
			"\" data-what=\"%s\">%s %.8s</text>",
			share * 100, (i == 0 && n > 1) || share > 0.8 ? "end" : "start",
			events[i].wall_us / 1000, events[i].what, events[i].what, text + 11);
	}
	fputs("</svg>\n", out);
}

static void write_area_open(
	struct html_page *p, const struct lp_finding *f, const struct peer_lines *l)
{
	const struct lp_table *t = p->v->tables[f->metric];
	int64_t from_us, to_us;

	plot_span(t, &from_us, &to_us);
	fprintf(p->out,
		"<svg class=\"area\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
		"role=\"img\" tabindex=\"0\" data-from=\"%" PRId64 "\" data-to=\"%" PRId64 "\"",
		WIDTH, HEIGHT, from_us / 1000, to_us / 1000);
	fputs(" data-own=\"", p->out);
	html_write_values(p->out, l->own, l->n_points);
	fputs("\" data-median=\"", p->out);
	html_write_values(p->out, l->median, l->n_points);
	fputs("\" data-unit=\"", p->out);
	html_write(p->out, t->unit);
	fputs("\" data-name=\"", p->out);
	html_write(p->out, p->v->components[f->component]->text);
	fputs("\" aria-label=\"", p->out);
	write_description(p, f);
	fputs("\">\n", p->out);
}

static void write_area(struct html_page *p, const struct lp_finding *f, const struct peer_lines *l,
	const struct html_event *events, unsigned n_events)
{
	const struct lp_table *t = p->v->tables[f->metric];

	write_area_open(p, f, l);
	write_shades(p, f);
	write_rules(p->out, l->ceiling, t->unit);
	write_band(p->out, "peers", &(struct band){l->bottom, l->top, l->n_points, l->ceiling});
	if (t->n_slots > l->n_points)
		write_band(
			p->out, "spread", &(struct band){l->low, l->high, l->n_points, l->ceiling});
	write_line(p->out, "median", l->median, l->n_points, l->ceiling);
	write_line(p->out, "own", l->own, l->n_points, l->ceiling);
	for (unsigned i = 0; i < n_events; i++)
		fprintf(p->out, "<path class=\"event\" d=\"M%.0f 0V%d\"/>",
			x_of_time(t, events[i].wall_us), HEIGHT);
	fprintf(p->out, "<path class=\"cursor\" d=\"M0 0V%d\"/></svg>\n", HEIGHT);
}

static void write_key(FILE *out, const char *class)
{
	fprintf(out,
		"<span><svg class=\"key\" width=\"22\" height=\"10\" aria-hidden=\"true\">"
		"<path class=\"%s\" d=\"M0 5H22\"/></svg>",
		class);
}

/* A legend of the shades in use. */
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
	if (l->n_median < l->n_others)
		fprintf(out, "median of %" PRIu32 " of its %" PRIu32 " peers</span>", l->n_median,
			l->n_others);
	else
		fprintf(out, "median of its %" PRIu32 " peers</span>", l->n_others);
	fputs("<span><svg class=\"key\" width=\"22\" height=\"10\" aria-hidden=\"true\"><rect "
	      "class=\"peers\" width=\"22\" height=\"10\"/></svg>10th to 90th percentile of "
	      "them</span>",
		out);
	write_shade_keys(p, f);
	fputs("</p>\n", out);
}

/* The heading: the metric, its meaning, and the deviation. */
static void write_caption(struct html_page *p, const struct lp_finding *f)
{
	const struct lp_table *t = p->v->tables[f->metric];
	const struct lp_metric *metric =
		lp_metric_find(p->v->components[f->component]->kind, t->metric);
	struct strbuf sb = {0};

	fputs("<figcaption><b>", p->out);
	html_write(p->out, t->metric);
	fputs("</b>", p->out);
	if (isfinite(f->own) && isfinite(f->peers)) {
		strbuf_putc(&sb, ' ');
		quantity_add(&sb, f->own, t->unit);
		strbuf_puts(&sb, ", peers ");
		quantity_add(&sb, f->peers, t->unit);
		fputs("<span class=\"unit\">", p->out);
		html_page_text(p, &sb);
		fputs("</span>", p->out);
		strbuf_release(&sb);
	}
	if (metric) {
		fputs(" <span class=\"help\">", p->out);
		html_write(p->out, metric->help);
		fputs("</span>", p->out);
	}
	fputs("</figcaption>\n", p->out);
}

void html_plot(struct html_page *p, const struct lp_suspect *s, const struct lp_finding *f)
{
	const struct lp_table *t = p->v->tables[f->metric];
	_cleanup_(peer_lines_release) struct peer_lines l = {0};
	struct html_event events[2];
	int64_t from_us, to_us;
	unsigned n_events;
	int r;

	if (!t->n_slots)
		return;
	r = peer_lines_make(p->v, f->component, f->group, f->metric, p->points, &l);
	if (r < 0) {
		html_page_failed(p, r);
		return;
	}
	n_events = plot_events(p, s, t, events);
	plot_span(t, &from_us, &to_us);
	fputs("<figure class=\"plot\">\n", p->out);
	write_caption(p, f);
	fputs("<div class=\"frame\">\n<span></span>", p->out);
	write_flags(p->out, t, events, n_events);
	write_y_labels(p->out, l.ceiling, t->unit);
	write_area(p, f, &l, events, n_events);
	fputs("<span class=\"zone\">UTC</span>", p->out);
	html_time_axis(p->out, from_us, to_us);
	fputs("</div>\n", p->out);
	write_legend(p, f, &l);
	fputs("</figure>\n", p->out);
}
