#include "report/verdict_text.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "explain/evidence.h"
#include "report/flow.h"
#include "report/verdict_facts.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TOP_DEFAULT 10
#define WIDTH_DEFAULT 80
#define REFUSED_MAX 3 /* groups that were not compared, told one by one */
#define INDENT 4
#define COMPONENTS_TOLD 4  /* of an incident, without `verbose` */
#define ASYMMETRIES_TOLD 5 /* the same */
#define STRIP_MAX 60	   /* columns of the strip of windows */

#define RED "\033[1;31m"
#define GREEN "\033[1;32m"
#define BOLD "\033[1m"
#define FAINT "\033[2m"
#define PLAIN "\033[0m"

struct printer {
	FILE *out;
	const struct lp_verdict *v;
	struct verdict_text_options opt;
	bool failed; /* out of memory */
};

static void style(const struct printer *p, const char *code)
{
	if (p->opt.colour)
		fputs(code, p->out);
}

/* A paragraph of its own, in one style (""). */
static void styled_paragraph(struct printer *p, const char *code, size_t indent, struct strbuf *sb)
{
	struct flow f = {.out = p->out, .width = p->opt.width, .indent = indent};

	p->failed |= sb->failed;
	if (code[0])
		style(p, code);
	if (sb->text && !sb->failed)
		flow_add(&f, sb->text);
	if (code[0])
		style(p, PLAIN);
	flow_end(&f);
	strbuf_reset(sb);
}

static void paragraph(struct printer *p, size_t indent, struct strbuf *sb)
{
	styled_paragraph(p, "", indent, sb);
}

/* A paragraph whose first word, `lead`, is set off by a style. */
static void led_paragraph(
	struct printer *p, const char *code, const char *lead, size_t indent, const char *text)
{
	struct flow f = {.out = p->out, .width = p->opt.width, .indent = indent};

	fprintf(p->out, "%*s", (int)indent, "");
	style(p, code);
	fputs(lead, p->out);
	style(p, PLAIN);
	f.column = indent + strlen(lead);
	flow_add(&f, text);
	flow_end(&f);
}

/* "and 3 more" at the end of a list of which `told` were told. */
static void add_more(struct strbuf *sb, uint32_t n, uint32_t told)
{
	if (n > told)
		strbuf_printf(sb, " and %" PRIu32 " more", n - told);
}

static uint32_t told_of(const struct printer *p, uint32_t n, uint32_t usual)
{
	/* One more takes no more room than the words that count it. */
	return p->opt.verbose || n <= usual + 1 ? n : usual;
}

/* The heading of an incident: "1  fs3/disk:sdg: slow disk (disk-busy), 97% sure, severity 128". */
static void print_heading(struct printer *p, const struct lp_incident *in, uint32_t rank)
{
	const char *words = verdict_cause_words(in->cause);
	bool acknowledged = verdict_incident_acknowledged(p->v, in);
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	strbuf_printf(&sb, "%s: %s", in->part, words);
	if (in->cause && strcmp(words, in->cause) != 0)
		strbuf_printf(&sb, " (%s)", in->cause);
	if (isfinite(in->confidence))
		strbuf_printf(&sb, ", %.0f%% sure", in->confidence * 100);
	if (isfinite(in->severity))
		strbuf_printf(&sb, ", severity %.3g", in->severity);
	if (acknowledged)
		strbuf_puts(&sb, " [acknowledged]");
	fprintf(p->out, "\n");
	style(p, acknowledged ? FAINT : RED);
	fprintf(p->out, "%-*" PRIu32, INDENT, rank);
	struct flow f = {.out = p->out, .width = p->opt.width, .indent = INDENT, .column = INDENT};

	flow_add(&f, sb.text ? sb.text : "");
	style(p, PLAIN);
	flow_end(&f);
	p->failed |= sb.failed;
}

/* Windows of one finding as a strip of time: "." normal, "#" anomalous, " " no data. A column that
 * holds several windows shows the worst of them. */
static void print_strip(struct printer *p, const struct lp_finding *f)
{
	const struct lp_series *s = &p->v->series[f->series];
	const uint8_t *marks = s->marks + (size_t)f->member * s->n_windows;
	size_t room = p->opt.width - INDENT - 2 < STRIP_MAX ? p->opt.width - INDENT - 2 : STRIP_MAX;
	size_t columns = s->n_windows < room ? s->n_windows : room;

	if (columns < 2)
		return;
	fprintf(p->out, "%*s|", INDENT, "");
	for (size_t c = 0; c < columns; c++) {
		size_t w = c * s->n_windows / columns, end = (c + 1) * s->n_windows / columns;
		char shown = ' ';

		for (; w < end; w++) {
			if (verdict_mark_anomalous(marks[w]))
				shown = '#';
			else if (marks[w] == LP_MARK_NORMAL && shown == ' ')
				shown = '.';
		}
		fputc(shown, p->out);
	}
	fputs("|\n", p->out);
}

/* "persistence 31, against 11 others of group disk of fs3" */
static void add_persistence(
	struct strbuf *sb, const struct lp_verdict *v, const struct lp_finding *f)
{
	strbuf_printf(sb, "persistence %" PRIu32 ", ", f->persistence);
	verdict_add_peers(sb, v, f->group);
}

/* Each metric of a suspect in numbers. */
static void print_findings(struct printer *p, const struct lp_suspect *s)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	for (uint32_t i = 0; i < s->n_findings; i++) {
		const struct lp_finding *f = &p->v->findings[s->findings[i]];

		strbuf_printf(&sb, "%s %s in ", p->v->tables[f->metric]->metric,
			verdict_mark_name(f->direction));
		evidence_add_windows(&sb, p->v, f);
		strbuf_puts(&sb, ", ");
		add_persistence(&sb, p->v, f);
		if (isfinite(f->distance) && isfinite(f->threshold))
			strbuf_printf(
				&sb, "; distance %.3g, threshold %.3g", f->distance, f->threshold);
		paragraph(p, INDENT, &sb);
	}
}

static void print_evidence(struct printer *p, const struct lp_suspect *s, bool named)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (named)
		strbuf_printf(&sb, "%s: ", p->v->components[s->component]->text);
	for (uint32_t i = 0; i < s->n_evidence; i++)
		strbuf_printf(&sb, "%s%s", i ? "; " : "", s->evidence[i]);
	if (s->n_evidence)
		paragraph(p, INDENT, &sb);
	if (p->opt.verbose) {
		print_findings(p, s);
	} else if (s->n_findings) {
		strbuf_reset(&sb);
		add_persistence(&sb, p->v, &p->v->findings[s->findings[0]]);
		paragraph(p, INDENT, &sb);
	}
	if (s->n_findings)
		print_strip(p, &p->v->findings[s->findings[0]]);
}

/* The components of an incident about a part that several share. */
static void print_components(struct printer *p, const struct lp_incident *in)
{
	uint32_t told = told_of(p, in->n_components, COMPONENTS_TOLD);
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	strbuf_printf(&sb, "%" PRIu32, in->n_components);
	if (in->n_of_part >= in->n_components)
		strbuf_printf(&sb, " of its %" PRIu32, in->n_of_part);
	strbuf_puts(&sb, " components: ");
	for (uint32_t i = 0; i < told; i++)
		strbuf_printf(
			&sb, "%s%s", i ? ", " : "", p->v->components[in->components[i]]->text);
	add_more(&sb, in->n_components, told);
	paragraph(p, INDENT, &sb);
}

static bool is_about_component(const struct lp_verdict *v, const struct lp_incident *in)
{
	return in->n_components == 1 && !strcmp(in->part, v->components[in->components[0]]->text);
}

/* What to do next, once for all that need the same. */
static void print_advice(struct printer *p, const struct lp_incident *in, uint32_t rank)
{
	char same[64];

	if (!in->advice)
		return;
	for (uint32_t i = 0; i + 1 < rank; i++) {
		const char *before = p->v->incidents[i].advice;

		if (before && !strcmp(before, in->advice)) {
			snprintf(same, sizeof(same), "as for number %" PRIu32 ".", i + 1);
			led_paragraph(p, BOLD, "Next:", INDENT, same);
			return;
		}
	}
	led_paragraph(p, BOLD, "Next:", INDENT, in->advice);
}

static void print_incident(struct printer *p, const struct lp_incident *in, uint32_t rank)
{
	bool own = is_about_component(p->v, in);
	uint32_t n = p->opt.verbose ? in->n_components : in->n_components > 0;
	char indicted[TIME_TEXT_MAX];
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	print_heading(p, in, rank);
	verdict_add_when(&sb, p->v, in);
	if (p->opt.verbose && in->indicted_us)
		strbuf_printf(&sb, ", indicted at %s", time_format(in->indicted_us, indicted));
	paragraph(p, INDENT, &sb);
	if (!own)
		print_components(p, in);
	if (in->summary && !own) {
		strbuf_puts(&sb, in->summary);
		paragraph(p, INDENT, &sb);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct lp_suspect *s = verdict_suspect_of(p->v, in->components[i]);

		if (s)
			print_evidence(p, s, !own);
	}
	print_advice(p, in, rank);
}

static void print_incidents(struct printer *p)
{
	uint32_t told = p->v->n_incidents < p->opt.top ? p->v->n_incidents : p->opt.top;
	uint32_t limping = verdict_n_limping(p->v);

	for (uint32_t i = 0; i < told; i++) {
		if (i == limping)
			fputs("\nAbsent, which is not slow:\n", p->out);
		print_incident(p, &p->v->incidents[i], i + 1);
	}
	if (told < p->v->n_incidents)
		fprintf(p->out, "\nand %" PRIu32 " more: --top %" PRIu32 " shows them\n",
			p->v->n_incidents - told, p->v->n_incidents);
}

/* Components that are slow by little, one paragraph each. */
static void print_warnings(struct printer *p)
{
	uint32_t n = p->v->n_warnings, told = told_of(p, n, p->opt.top);
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (n)
		fputc('\n', p->out);
	for (uint32_t i = 0; i < told; i++) {
		const struct lp_suspect *s = &p->v->warnings[i];

		strbuf_printf(&sb, "Warning: %s: ", p->v->components[s->component]->text);
		for (uint32_t k = 0; k < s->n_evidence; k++)
			strbuf_printf(&sb, "%s%s", k ? "; " : "", s->evidence[k]);
		strbuf_puts(&sb, s->acknowledged ? " [acknowledged]" : "");
		paragraph(p, 0, &sb);
	}
	if (told < n)
		fprintf(p->out, "and %" PRIu32 " more warnings: --verbose shows them\n", n - told);
}

/* Components that are off without being at fault, in one paragraph. */
static void print_asymmetries(struct printer *p)
{
	uint32_t n = p->v->n_asymmetries, told = told_of(p, n, ASYMMETRIES_TOLD);
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (!n)
		return;
	strbuf_puts(&sb, "Different, but no culprit: ");
	for (uint32_t i = 0; i < told; i++) {
		const struct lp_suspect *s = &p->v->asymmetries[i];

		strbuf_printf(&sb, "%s%s (%s%s%s%s)", i ? ", " : "",
			p->v->components[s->component]->text, verdict_cause_words(s->cause),
			s->n_evidence ? ": " : "", s->n_evidence ? s->evidence[0] : "",
			s->acknowledged ? "; acknowledged" : "");
	}
	add_more(&sb, n, told);
	strbuf_putc(&sb, '.');
	fputc('\n', p->out);
	paragraph(p, 0, &sb);
}

static uint32_t n_refused(const struct lp_verdict *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_groups; i++)
		n += v->groups[i].refused != NULL;
	return n;
}

static void print_groups(struct printer *p)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	bool many = n_refused(p->v) > REFUSED_MAX;

	if (many && !p->opt.verbose) {
		strbuf_printf(&sb, "%" PRIu32 " groups were not compared (-v lists them)",
			n_refused(p->v));
		paragraph(p, 0, &sb);
	}
	for (uint32_t i = 0; i < p->v->n_groups; i++) {
		const struct lp_peer_group *g = &p->v->groups[i];

		if (!p->opt.verbose && (many || !g->refused))
			continue;
		strbuf_printf(&sb, "Group %s: %" PRIu32 " component%s%s", g->name, g->n_members,
			g->n_members == 1 ? "" : "s", g->discovered ? ", found in the data" : "");
		if (g->refused)
			strbuf_printf(&sb, "; not compared: %s", g->refused);
		paragraph(p, 0, &sb);
	}
}

static void print_notes(struct printer *p)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	for (uint32_t i = verdict_n_reasons_told(p->v); i < p->v->n_unknown; i++) {
		strbuf_printf(&sb, "Unknown: %s", p->v->unknown[i]);
		paragraph(p, 0, &sb);
	}
	print_groups(p);
	for (uint32_t i = 0; i < p->v->n_notes; i++) {
		strbuf_printf(&sb, "Note: %s", p->v->notes[i]);
		paragraph(p, 0, &sb);
	}
}

static bool has_notes(const struct printer *p)
{
	return n_refused(p->v) || p->v->n_notes || verdict_n_reasons_told(p->v) < p->v->n_unknown ||
		(p->opt.verbose && p->v->n_groups);
}

/* The verdict in a line, and what was looked at. */
static void print_head(struct printer *p)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	verdict_add_headline(&sb, p->v);
	styled_paragraph(p, verdict_is_well(p->v) ? GREEN : BOLD, 0, &sb);
	strbuf_puts(&sb, "Looked at ");
	verdict_add_looked_at(&sb, p->v);
	strbuf_puts(&sb, "; ");
	verdict_add_method(&sb, p->v);
	strbuf_putc(&sb, '.');
	styled_paragraph(p, FAINT, 0, &sb);
}

int verdict_print_text(
	FILE *out, const struct lp_verdict *v, const struct verdict_text_options *options)
{
	struct printer p = {.out = out, .v = v};

	if (options)
		p.opt = *options;
	p.opt.top = p.opt.top ? p.opt.top : TOP_DEFAULT;
	p.opt.width = p.opt.width ? p.opt.width : WIDTH_DEFAULT;
	if (p.opt.width < FLOW_WIDTH_MIN)
		p.opt.width = FLOW_WIDTH_MIN;
	print_head(&p);
	print_incidents(&p);
	print_warnings(&p);
	print_asymmetries(&p);
	if (has_notes(&p))
		fputc('\n', out);
	print_notes(&p);
	if (p.failed)
		return -ENOMEM;
	return ferror(out) ? -EIO : 0;
}
