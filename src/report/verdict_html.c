#include "report/verdict_html.h"

#include "base/strbuf.h"
#include "base/time.h"
#include "model/quantity.h"
#include "report/html.h"
#include "report/incident.h"
#include "report/verdict_html_parts.h"
#include "report/verdict_page.inc" /* page_style, page_script and their hashes */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define TITLE_DEFAULT "limpet report"
#define TOP_DEFAULT 10
#define ROWS_DEFAULT 200
#define INCIDENTS_MAX 200    /* listed individually */
#define COMPONENTS_TOLD 40   /* per incident */
#define COMPONENTS_PLOTTED 3 /* per incident about a shared part */
#define BAR_WIDTH 56

/* The size of all plots together limits the number of points per line. */
#define PLOTS_BUDGET 450000
#define POINT_BYTES 50 /* approximate size of a point: lines, bands and numbers */
#define POINTS_MIN 120
#define POINTS_MAX 600

void html_page_text(struct html_page *p, struct strbuf *sb)
{
	if (sb->failed)
		html_page_failed(p, -ENOMEM);
	else if (sb->text)
		html_write_sentence(p->out, sb->text);
	strbuf_reset(sb);
}

/* Allow only the style and the script, by their hashes: no requests and no other scripts, even if a
 * name contains markup. */
static void write_head(struct html_page *p)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'sha256-" PAGE_STYLE_HASH "'; script-src 'sha256-" PAGE_SCRIPT_HASH "'; "
	      "base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n"
	      "<meta name=\"generator\" content=\"limpet " LIMPET_VERSION "\">\n<title>",
		p->out);
	html_write(p->out, p->opt.title);
	fputs("</title>\n<style>", p->out);
	fwrite(page_style, 1, sizeof(page_style), p->out);
	fputs("</style>\n</head>\n", p->out);
}

/* The CSS class for the colour of the mark. */
static const char *state_class(const struct lp_verdict *v)
{
	switch (v->status) {
	case LP_STATUS_OK:
		return verdict_is_well(v) ? "ok" : "warning";
	case LP_STATUS_UNKNOWN:
		return "unknown";
	case LP_STATUS_SUSPECTS:
	case LP_STATUS_ABSENT:
		return "critical";
	case LP_STATUS_WARNINGS:
		return "warning";
	}
	return "unknown";
}

static void write_headline(struct html_page *p)
{
	struct strbuf sb = {0};

	fprintf(p->out, "<body>\n<header class=\"%s\">\n<p class=\"mark\">limpet</p>\n<h1>",
		state_class(p->v));
	verdict_add_headline(&sb, p->v);
	html_page_text(p, &sb);
	fputs("</h1>\n<p class=\"looked\">Looked at ", p->out);
	verdict_add_looked_at(&sb, p->v);
	strbuf_puts(&sb, "; ");
	verdict_add_method(&sb, p->v);
	strbuf_putc(&sb, '.');
	html_page_text(p, &sb);
	fputs("</p>\n</header>\n<div class=\"range\" hidden></div>\n<main>\n", p->out);
	strbuf_release(&sb);
}

/* Absent components come last, whatever their severity. */
static double severest(const struct lp_verdict *v)
{
	double most = 0;

	for (uint32_t i = 0; i < v->n_incidents; i++)
		most = fmax(most, v->incidents[i].severity);
	return most;
}

/* The severity, relative to the worst one. */
static void write_bar(struct html_page *p, const struct lp_incident *in)
{
	double most = severest(p->v);
	double share = in->severity > 0 && most > 0 ? log1p(in->severity) / log1p(most) : 0;

	fprintf(p->out,
		"<svg class=\"bar\" width=\"%d\" height=\"6\" aria-hidden=\"true\">"
		"<rect class=\"back\" width=\"%d\" height=\"6\" rx=\"3\"/>"
		"<rect class=\"fill\" width=\"%.0f\" height=\"6\" rx=\"3\"/></svg>",
		BAR_WIDTH, BAR_WIDTH, (share > 1 ? 1 : share) * BAR_WIDTH);
}

static void write_what(struct html_page *p, const struct lp_incident *in)
{
	struct strbuf sb = {0};

	incident_add_what(&sb, p->v, in);
	html_page_text(p, &sb);
	strbuf_release(&sb);
}

/* "CRITICAL" in its colour, and what operators said. */
static void write_level(struct html_page *p, const struct lp_incident *in)
{
	const char *level = incident_level_name(in->level);

	fprintf(p->out, "<span class=\"level %s\">", level);
	for (; *level; level++)
		fputc(toupper((unsigned char)*level), p->out);
	fputs("</span>", p->out);
	if (verdict_incident_acknowledged(p->v, in))
		fputs(" <span class=\"tag\">acknowledged</span>", p->out);
}

static void write_pick(struct html_page *p, uint32_t at)
{
	const struct lp_incident *in = &p->v->incidents[at];
	char text[TIME_TEXT_MAX];

	fprintf(p->out, "<li><a class=\"pick\" href=\"#incident-%" PRIu32 "\" data-part=\"",
		at + 1);
	html_write(p->out, in->part);
	fprintf(p->out, "\"><span class=\"rank\">%" PRIu32 "</span><span class=\"who\">", at + 1);
	write_level(p, in);
	fputs("<span class=\"title\">", p->out);
	write_what(p, in);
	fprintf(p->out, "</span><span class=\"what\">%s%s <time>%s</time></span>",
		verdict_is_still(p->v, in) ? "since" : "over; from",
		in->since_before ? " before" : "", time_format(in->first_us, text));
	write_bar(p, in);
	fputs("</span></a></li>\n", p->out);
}

static void write_picks(struct html_page *p, uint32_t n)
{
	fputs("<nav class=\"card\" aria-label=\"incidents\"><h2>Incidents</h2>\n<ol>\n", p->out);
	for (uint32_t i = 0; i < n; i++)
		write_pick(p, i);
	fputs("</ol>\n", p->out);
	if (n < p->v->n_incidents)
		fprintf(p->out, "<p class=\"hint\">%" PRIu32 " more are left out.</p>\n",
			p->v->n_incidents - n);
	fputs("</nav>\n", p->out);
}

static void write_fact(FILE *out, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Write a fact made of numbers and times; text from outside must go through html_write(). */
static void write_fact(FILE *out, const char *name, const char *fmt, ...)
{
	va_list ap;

	fprintf(out, "<div><dt>%s</dt><dd>", name);
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputs("</dd></div>\n", out);
}

static void write_facts(struct html_page *p, const struct lp_incident *in)
{
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];
	char span[QUANTITY_TEXT_MAX], error[QUANTITY_TEXT_MAX];

	fputs("<dl class=\"facts\">\n", p->out);
	time_format(in->first_us, from);
	if (in->since_before)
		write_fact(p->out, "since", "before <time>%s</time>", from);
	else if (in->onset_error_us > 0)
		write_fact(p->out, "since", "<time>%s</time> (±%s)", from,
			quantity_format_span(in->onset_error_us, error));
	else
		write_fact(p->out, "since", "<time>%s</time>", from);
	if (verdict_is_still(p->v, in))
		write_fact(p->out, "until", "still so at the end");
	else
		write_fact(p->out, "until", "<time>%s</time>", time_format(in->last_us, to));
	write_fact(p->out, "for", "%s%s", in->since_before ? "at least " : "",
		quantity_format_span(verdict_lasted_us(p->v, in), span));
	if (isfinite(in->confidence))
		write_fact(p->out, "confidence", "%s (%.0f%%)",
			incident_confidence_name(in->confidence), in->confidence * 100);
	fputs("</dl>\n", p->out);
}

static void write_components(struct html_page *p, const struct lp_incident *in)
{
	uint32_t told = in->n_components < COMPONENTS_TOLD ? in->n_components : COMPONENTS_TOLD;

	fprintf(p->out, "<p>%" PRIu32, in->n_components);
	if (in->n_of_part >= in->n_components)
		fprintf(p->out, " of its %" PRIu32, in->n_of_part);
	fputs(" components, the worst first: ", p->out);
	for (uint32_t i = 0; i < told; i++) {
		fputs(i ? ", " : "", p->out);
		html_write_name(p->out, p->v->components[in->components[i]]->text);
	}
	if (told < in->n_components)
		fprintf(p->out, " and %" PRIu32 " more", in->n_components - told);
	fputs(".</p>\n", p->out);
}

static void write_evidence(struct html_page *p, const struct lp_suspect *s)
{
	fputs("<ul class=\"evidence\">\n", p->out);
	for (uint32_t i = 0; i < s->n_evidence; i++) {
		fputs("<li>", p->out);
		html_write_sentence(p->out, s->evidence[i]);
		fputs("</li>\n", p->out);
	}
	fputs("</ul>\n", p->out);
}

/* Write the operator's steps: the host, the commands, and what to check. */
static void write_steps(struct html_page *p, const struct lp_incident *in)
{
	struct incident_steps steps = {0};
	char *rest, *line;

	incident_steps(p->v, in, &steps);
	if (steps.commands.failed || steps.text.failed)
		html_page_failed(p, -ENOMEM);
	rest = steps.commands.text;
	if (rest || steps.text.text)
		fputs("<div class=\"advice\"><b>Do</b> ", p->out);
	if (rest && steps.host[0]) {
		fputs("on ", p->out);
		html_write_name(p->out, steps.host);
		fputs(": ", p->out);
	}
	while ((line = rest ? strsep(&rest, "\n") : NULL)) {
		fputs("<code>", p->out);
		html_write(p->out, line);
		fputs("</code> ", p->out);
	}
	if (steps.text.text)
		html_write(p->out, steps.text.text);
	if (steps.commands.text || steps.text.text)
		fputs("</div>\n", p->out);
	incident_steps_release(&steps);
}

/* Write evidence and plots of one suspect; plots only while there is room. */
static void write_suspect(struct html_page *p, const struct lp_suspect *s, bool named)
{
	if (named) {
		fputs("<h3>", p->out);
		html_write_name(p->out, p->v->components[s->component]->text);
		fputs("</h3>\n", p->out);
	}
	write_evidence(p, s);
	if (p->n_plotted >= p->opt.top) {
		fprintf(p->out,
			"<p class=\"hint\">Only the first %" PRIu32 " suspects are plotted.</p>\n",
			p->opt.top);
		return;
	}
	p->n_plotted++;
	for (uint32_t i = 0; i < s->n_findings; i++)
		html_plot(p, s, &p->v->findings[s->findings[i]]);
}

static void write_incident_head(struct html_page *p, const struct lp_incident *in, uint32_t at)
{
	fprintf(p->out,
		"<article class=\"card incident\" id=\"incident-%" PRIu32
		"\" tabindex=\"-1\" data-first=\"%" PRId64 "\" data-last=\"%" PRId64
		"\">\n<p class=\"over\">",
		at + 1, in->first_us / 1000, in->last_us / 1000);
	write_level(p, in);
	if (in->cause) {
		fputs(" <span class=\"cause-name\">", p->out);
		html_write(p->out, in->cause);
		fputs("</span>", p->out);
	}
	fputs("</p>\n<h2>", p->out);
	write_what(p, in);
	fputs("</h2>\n", p->out);
}

static void write_incident(struct html_page *p, uint32_t at)
{
	const struct lp_incident *in = &p->v->incidents[at];
	bool own = in->n_components == 1 &&
		!strcmp(in->part, p->v->components[in->components[0]]->text);

	write_incident_head(p, in, at);
	if (in->summary && !own) {
		fputs("<p class=\"summary\">", p->out);
		html_write_sentence(p->out, in->summary);
		fputs("</p>\n", p->out);
	}
	write_facts(p, in);
	write_steps(p, in);
	if (!own)
		write_components(p, in);
	for (uint32_t i = 0; i < in->n_components && i < COMPONENTS_PLOTTED; i++) {
		const struct lp_suspect *s = verdict_suspect_of(p->v, in->components[i]);

		if (s)
			write_suspect(p, s, !own);
	}
	fputs("</article>\n", p->out);
}

static void write_incidents(struct html_page *p)
{
	uint32_t n = p->v->n_incidents < INCIDENTS_MAX ? p->v->n_incidents : INCIDENTS_MAX;

	if (!n)
		return;
	fputs("<div class=\"columns\">\n", p->out);
	write_picks(p, n);
	fputs("<div class=\"incidents\">\n", p->out);
	for (uint32_t i = 0; i < n; i++)
		write_incident(p, i);
	fputs("</div>\n</div>\n", p->out);
}

static void write_foot(struct html_page *p)
{
	fputs("</main>\n<footer>Made by limpet " LIMPET_VERSION
	      ".</footer>\n<div id=\"tip\" role=\"status\"></div>\n<script>",
		p->out);
	fwrite(page_script, 1, sizeof(page_script), p->out);
	fputs("</script>\n</body>\n</html>\n", p->out);
}

static uint32_t points_of_plots(const struct html_page *p)
{
	uint32_t plots = 1, points;

	for (uint32_t i = 0; i < p->v->n_suspects && i < p->opt.top; i++)
		plots += p->v->suspects[i].n_findings;
	points = PLOTS_BUDGET / POINT_BYTES / plots;
	return points < POINTS_MIN ? POINTS_MIN : points > POINTS_MAX ? POINTS_MAX : points;
}

int verdict_write_html(
	FILE *out, const struct lp_verdict *v, const struct verdict_html_options *options)
{
	struct html_page p = {.out = out, .v = v};

	if (options)
		p.opt = *options;
	p.opt.title = p.opt.title ? p.opt.title : TITLE_DEFAULT;
	p.opt.top = p.opt.top ? p.opt.top : TOP_DEFAULT;
	p.points = points_of_plots(&p);
	p.opt.rows = p.opt.rows ? p.opt.rows : ROWS_DEFAULT;
	write_head(&p);
	write_headline(&p);
	write_incidents(&p);
	html_heat_map(&p);
	html_tables(&p);
	write_foot(&p);
	if (p.error)
		return p.error;
	return ferror(out) ? -EIO : 0;
}
