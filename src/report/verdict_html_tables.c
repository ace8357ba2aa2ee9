#include "report/verdict_html_parts.h"

#include "base/time.h"
#include "model/quantity.h"
#include "report/axis.h"
#include "report/html.h"
#include <inttypes.h>
#include <math.h>

#define SUSPECTS_MAX 1000
#define MEMBERS_MAX 1000
#define GROUPS_MAX 500
#define GROUPS_OPEN_MAX 24 /* the reader has to open a list of more groups */

static void cell_time(FILE *out, int64_t wall_us)
{
	char text[TIME_TEXT_MAX];

	if (wall_us)
		fprintf(out, "<td data-sort=\"%" PRId64 "\"><time>%s</time></td>", wall_us,
			time_format(wall_us, text));
	else
		fputs("<td data-sort=\"0\">-</td>", out);
}

static void cell_number(FILE *out, double value, const char *suffix)
{
	char text[AXIS_TEXT_MAX];

	if (isfinite(value))
		fprintf(out, "<td class=\"number\" data-sort=\"%.9g\">%s%s</td>", value,
			axis_number(value, text), suffix);
	else
		fprintf(out, "<td class=\"number\" data-sort=\"%s\">-</td>",
			value > 0 ? "1e99" : "-1e99");
}

static void write_metrics(FILE *out, const struct lp_verdict *v, const struct lp_suspect *s)
{
	fputs("<td>", out);
	for (uint32_t i = 0; i < s->n_findings; i++) {
		fputs(i ? ", " : "", out);
		html_write(out, v->tables[v->findings[s->findings[i]].metric]->metric);
	}
	fputs("</td>", out);
}

static void write_suspect(
	FILE *out, const struct lp_verdict *v, const struct lp_suspect *s, uint32_t rank)
{
	const struct lp_finding *f = s->n_findings ? &v->findings[s->findings[0]] : NULL;

	fprintf(out,
		"<tr><td class=\"number\" data-sort=\"%" PRIu32 "\">%" PRIu32
		"</td><th scope=\"row\">",
		rank, rank);
	html_write_name(out, v->components[s->component]->text);
	fputs(s->acknowledged ? " <span class=\"tag\">acknowledged</span></th><td>" : "</th><td>",
		out);
	html_write(out, verdict_cause_words(s->cause));
	fputs("</td>", out);
	write_metrics(out, v, s);
	cell_number(out, f ? f->ratio : NAN, "x");
	cell_number(out, s->severity, "");
	cell_number(out, s->persistence, "");
	cell_number(out, round(s->confidence * 100), "%");
	cell_time(out, s->first_us);
	cell_time(out, s->last_us);
	fputs("</tr>\n", out);
}

/* A table of suspects or of asymmetries. */
static void write_suspects(struct html_page *p, const char *id, const char *title,
	const struct lp_suspect *suspects, uint32_t n)
{
	uint32_t told = n < SUSPECTS_MAX ? n : SUSPECTS_MAX;

	if (!n)
		return;
	fprintf(p->out,
		"<section id=\"%s\" class=\"card\"><h2>%s</h2>\n<div class=\"wide\">"
		"<table class=\"sortable\"><thead><tr><th>#</th><th>component</th><th>cause</th>"
		"<th>metrics</th><th>ratio</th><th>severity</th><th>persistence</"
		"th><th>confidence</th>"
		"<th>first</th><th>last</th></tr></thead><tbody>\n",
		id, title);
	for (uint32_t i = 0; i < told; i++)
		write_suspect(p->out, p->v, &suspects[i], i + 1);
	fputs("</tbody></table></div>\n", p->out);
	if (told < n)
		fprintf(p->out, "<p class=\"hint\">%" PRIu32 " more are left out.</p>\n", n - told);
	fputs("</section>\n", p->out);
}

static void write_members(FILE *out, const struct lp_verdict *v, const struct lp_peer_group *g)
{
	uint32_t told = g->n_members < MEMBERS_MAX ? g->n_members : MEMBERS_MAX;

	fputs("<td><details><summary>members</summary>", out);
	for (uint32_t i = 0; i < told; i++) {
		fputs(i ? ", " : "", out);
		html_write_name(out, v->components[g->members[i]]->text);
	}
	if (told < g->n_members)
		fprintf(out, " and %" PRIu32 " more", g->n_members - told);
	fputs("</details></td>", out);
}

static void write_groups(struct html_page *p)
{
	uint32_t told = p->v->n_groups < GROUPS_MAX ? p->v->n_groups : GROUPS_MAX;

	fputs("<h3>Peer groups</h3>\n", p->out);
	if (told > GROUPS_OPEN_MAX)
		fprintf(p->out, "<details><summary>%" PRIu32 " groups</summary>\n", p->v->n_groups);
	fputs("<div class=\"wide\"><table><thead><tr><th>group</th>"
	      "<th>components</th><th></th><th></th></tr></thead><tbody>\n",
		p->out);
	for (uint32_t i = 0; i < told; i++) {
		const struct lp_peer_group *g = &p->v->groups[i];

		fputs("<tr><th scope=\"row\">", p->out);
		html_write_name(p->out, g->name);
		fprintf(p->out, "</th><td class=\"number\">%" PRIu32 "</td>", g->n_members);
		write_members(p->out, p->v, g);
		fputs("<td>", p->out);
		if (g->refused) {
			fputs("not compared: ", p->out);
			html_write(p->out, g->refused);
		} else if (g->discovered) {
			fputs("found in the data", p->out);
		}
		fputs("</td></tr>\n", p->out);
	}
	fputs("</tbody></table></div>\n", p->out);
	if (told < p->v->n_groups)
		fprintf(p->out, "<p class=\"hint\">%" PRIu32 " more are left out.</p>\n",
			p->v->n_groups - told);
	if (told > GROUPS_OPEN_MAX)
		fputs("</details>\n", p->out);
}

static void write_parameter(FILE *out, const char *name, const char *value, const char *help)
{
	fprintf(out, "<tr><th scope=\"row\">%s</th><td>", name);
	html_write(out, value);
	fprintf(out, "</td><td>%s</td></tr>\n", help);
}

static void write_parameters(struct html_page *p)
{
	const struct lp_params *q = &p->v->params;
	const struct {
		const char *name;
		uint32_t value;
		const char *help;
	} rows[] = {
		{"smooth", q->smooth, "samples of the moving average"},
		{"win-size", q->win_size, "samples per window"},
		{"win-shift", q->win_shift, "samples from one window to the next"},
		{"k", q->k, "a suspect is anomalous in k of the last 2k-1 windows"},
	};
	char text[QUANTITY_TEXT_MAX];

	fputs("<h3>Parameters</h3>\n<div class=\"wide\"><table><tbody>\n", p->out);
	write_parameter(p->out, "method", p->v->method ? p->v->method : "unknown",
		"how far apart two components are in a window");
	write_parameter(p->out, "thresholds", verdict_thresholds(p->v), "what is too far apart");
	write_parameter(
		p->out, "step", quantity_format_span(q->step_us, text), "from sample to sample");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), "%" PRIu32, rows[i].value);
		write_parameter(p->out, rows[i].name, text, rows[i].help);
	}
	fputs("</tbody></table></div>\n", p->out);
}

static void write_notes(struct html_page *p)
{
	if (!p->v->n_notes && !p->v->n_unknown)
		return;
	fputs("<h3>Notes</h3>\n<ul class=\"notes\">\n", p->out);
	for (uint32_t i = 0; i < p->v->n_unknown; i++) {
		fputs("<li>Could not be judged: ", p->out);
		html_write_sentence(p->out, p->v->unknown[i]);
		fputs("</li>\n", p->out);
	}
	for (uint32_t i = 0; i < p->v->n_notes; i++) {
		fputs("<li>", p->out);
		html_write_sentence(p->out, p->v->notes[i]);
		fputs("</li>\n", p->out);
	}
	fputs("</ul>\n", p->out);
}

void html_tables(struct html_page *p)
{
	write_suspects(p, "suspects", "All suspects", p->v->suspects, p->v->n_suspects);
	write_suspects(p, "warnings", "Warnings: slightly slow, but certain", p->v->warnings,
		p->v->n_warnings);
	write_suspects(
		p, "absent", "Absent: missing, or without work", p->v->absent, p->v->n_absent);
	write_suspects(p, "asymmetries", "Different, but not at fault", p->v->asymmetries,
		p->v->n_asymmetries);
	fputs("<section id=\"analysis\" class=\"card\"><h2>How the data was examined</h2>\n",
		p->out);
	write_notes(p);
	write_parameters(p);
	write_groups(p);
	fputs("</section>\n", p->out);
}
