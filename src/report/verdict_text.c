#include "report/verdict_text.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "explain/cause.h"
#include "explain/evidence.h"
#include "model/naming.h"
#include "model/quantity.h"
#include "report/flow.h"
#include "report/incident.h"
#include "report/verdict_evidence.h"
#include "report/verdict_facts.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TOP_DEFAULT 10
#define WIDTH_DEFAULT 80
#define IN_FULL 3     /* incidents with evidence and steps; the others are one paragraph */
#define INDENT 10     /* of the text below "CRITICAL" */
#define INDENT_BODY 2 /* of tables and commands */
#define INDENT_STEP 8 /* of the text below "DO" */
#define LISTED 4      /* components of an incident or of a list */
#define ROWS_MAX 6    /* of evidence */
#define ACK_MAX 8     /* components named in a command */

#define RED "\033[1;31m"
#define YELLOW "\033[1;33m"
#define GREEN "\033[1;32m"
#define BOLD "\033[1m"
#define FAINT "\033[2m"
#define PLAIN "\033[0m"

struct printer {
	FILE *out;
	const struct lp_verdict *v;
	struct verdict_text_options opt;
	int error; /* the first one */
};

static void style(const struct printer *p, const char *code)
{
	if (p->opt.colour)
		fputs(code, p->out);
}

static void failed(struct printer *p, int error)
{
	if (error < 0 && !p->error)
		p->error = error;
}

/* Print a paragraph, and empty `sb`. */
static void paragraph(struct printer *p, size_t indent, struct strbuf *sb)
{
	struct flow f = {.out = p->out, .width = p->opt.width, .indent = indent};

	failed(p, sb->failed ? -ENOMEM : 0);
	if (sb->text && !sb->failed)
		flow_add(&f, sb->text);
	flow_end(&f);
	strbuf_reset(sb);
}

/* Print a paragraph with the first word, `lead`, in a separate column and in colour. */
static void led_paragraph(struct printer *p, const char *code, const char *lead, size_t first,
	size_t indent, struct strbuf *sb)
{
	struct flow f = {.out = p->out,
		.width = p->opt.width,
		.indent = indent,
		.column = first + strlen(lead)};

	failed(p, sb->failed ? -ENOMEM : 0);
	fprintf(p->out, "%*s", (int)first, "");
	style(p, code);
	fputs(lead, p->out);
	style(p, PLAIN);
	if (sb->text)
		flow_add(&f, sb->text);
	flow_end(&f);
	strbuf_reset(sb);
}

static const char *state_colour(enum lp_status status)
{
	return status == LP_STATUS_OK	       ? GREEN
		: status == LP_STATUS_WARNINGS ? YELLOW
		: status == LP_STATUS_UNKNOWN  ? YELLOW
					       : RED;
}

/* "CRITICAL  oss5: disk sdb is slow ..." */
static void state_paragraph(struct printer *p, enum lp_status status, struct strbuf *sb)
{
	led_paragraph(p, state_colour(status), incident_state_name(status), 0, INDENT, sb);
}

static void add_more(struct strbuf *sb, uint32_t n, uint32_t listed)
{
	if (n > listed)
		strbuf_printf(sb, " and %" PRIu32 " more", n - listed);
}

static uint32_t listed_of(const struct printer *p, uint32_t n, uint32_t usual)
{
	/* One more takes no more space than the count. */
	return p->opt.verbose || n <= usual + 1 ? n : usual;
}

/* A crash, or a single error that a log has, does not last. */
static bool is_moment(const struct printer *p, const struct lp_incident *in)
{
	return in->cause &&
		(!strcmp(in->cause, cause_crash.name) ||
			(!in->since_before && !in->onset_error_us &&
				verdict_lasted_us(p->v, in) < US_PER_SEC));
}

/* ", since 12:34:21 (±1 s), ongoing for 1m19s" */
static void add_when(struct printer *p, struct strbuf *sb, const struct lp_incident *in)
{
	char span[QUANTITY_TEXT_MAX], error[QUANTITY_TEXT_MAX];
	bool still = verdict_is_still(p->v, in);

	if (is_moment(p, in)) {
		strbuf_puts(sb, " at ");
		clock_add(sb, &p->opt.clock, in->first_us);
		return;
	}
	quantity_format_span(verdict_lasted_us(p->v, in), span);
	/* Trouble found in logs does not end with its last event. */
	strbuf_puts(sb, in->ended ? ", from " : ", since ");
	if (in->since_before)
		strbuf_puts(sb, "before ");
	clock_add(sb, &p->opt.clock, in->first_us);
	if (!in->since_before && in->onset_error_us > 0)
		strbuf_printf(sb, " (%s%s)", p->opt.utf8 ? "±" : "+-",
			quantity_format_span(in->onset_error_us, error));
	if (still) {
		strbuf_printf(sb, ", ongoing for %s%s", in->since_before ? "at least " : "", span);
		return;
	}
	strbuf_puts(sb, in->ended ? " to " : ", last seen at ");
	clock_add_later(sb, &p->opt.clock, in->last_us, in->first_us);
	strbuf_printf(sb, " (%s%s)", in->since_before ? "at least " : "", span);
}

/* Is another incident, or a warning, about the same server? */
static bool is_alone_on(
	const struct lp_verdict *v, const struct lp_incident *in, const char *server)
{
	for (uint32_t i = 0; i < v->n_incidents; i++) {
		if (&v->incidents[i] != in &&
			!strcmp(incident_observer(v, &v->incidents[i]), server))
			return false;
	}
	for (uint32_t i = 0; i < v->n_warnings; i++) {
		if (!strcmp(v->components[v->warnings[i].component]->observer, server))
			return false;
	}
	return true;
}

/* "confidence high (86%); nothing else is wrong on oss5" */
static void print_certainty(struct printer *p, const struct lp_incident *in)
{
	const char *server = incident_observer(p->v, in);
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (isfinite(in->confidence))
		strbuf_printf(&sb, "confidence %s (%.0f%%)",
			incident_confidence_name(in->confidence), in->confidence * 100);
	if (p->opt.verbose && isfinite(in->severity))
		strbuf_printf(&sb, "; severity %.3g; cause %s", in->severity,
			in->cause ? in->cause : "unknown");
	if (*server && is_alone_on(p->v, in, server) && !p->v->n_unknown)
		strbuf_printf(&sb, "; nothing else is wrong on %s", server);
	if (verdict_incident_acknowledged(p->v, in))
		strbuf_puts(&sb, "; acknowledged");
	paragraph(p, INDENT, &sb);
}

/* "sdb is multipath mpatha, serial ZC1A, wwn-0x5000c5" */
static void print_stable_names(struct printer *p, const struct lp_incident *in)
{
	const struct lp_identity *c = incident_component(p->v, in);
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (!c)
		return;
	strbuf_printf(&sb, "%s is ", c->name);
	if (naming_add_stable(&sb, c))
		paragraph(p, INDENT, &sb);
}

/* The finding of the clients' view of a server, among all findings, or NULL. */
static const struct lp_finding *find_client_view(const struct lp_verdict *v, const char *server)
{
	for (uint32_t i = 0; i < v->n_findings; i++) {
		const struct lp_finding *f = &v->findings[i];
		const struct lp_identity *c = v->components[f->component];
		const char *metric = v->tables[f->metric]->metric;

		if (f->direction == LP_MARK_ABOVE && isfinite(f->ratio) && f->ratio >= 1.2 &&
			!strcmp(c->observer, server) &&
			((!strcmp(c->kind, "tcp") && !strcmp(metric, "rtt")) ||
				!strcmp(c->kind, "peer")))
			return f;
	}
	return NULL;
}

/* "clients notice: round trips to oss5 take 1.8x as long (16.2 ms)". Returns the finding behind it,
 * or NULL. */
static const struct lp_finding *print_client_view(struct printer *p, const struct lp_incident *in)
{
	const char *server = incident_observer(p->v, in);
	const struct lp_finding *f = *server ? find_client_view(p->v, server) : NULL;
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	char ratio[QUANTITY_TEXT_MAX], own[QUANTITY_TEXT_MAX];

	if (!f || (in->cause && !strcmp(in->cause, "slow-link")))
		return NULL; /* its first line says this */
	strbuf_printf(&sb, "clients notice: %s %s take %s as long (%s)",
		!strcmp(p->v->components[f->component]->kind, "peer") ? "answers of"
								      : "round trips to",
		server, quantity_format_ratio(f->ratio, ratio),
		quantity_format(f->own, p->v->tables[f->metric]->unit, own));
	paragraph(p, INDENT, &sb);
	return p->opt.verbose ? NULL : f;
}

static bool is_about_component(const struct lp_verdict *v, const struct lp_incident *in)
{
	return in->n_components == 1 && !strcmp(in->part, v->components[in->components[0]]->text);
}

/* The full names of the components of an incident, if there are several. */
static void print_components(struct printer *p, const struct lp_incident *in)
{
	uint32_t listed = listed_of(p, in->n_components, LISTED);
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (is_about_component(p->v, in) || (in->n_components < LISTED && !p->opt.verbose))
		return;
	strbuf_puts(&sb, "affected: ");
	for (uint32_t i = 0; i < listed; i++)
		strbuf_printf(
			&sb, "%s%s", i ? ", " : "", p->v->components[in->components[i]]->text);
	add_more(&sb, in->n_components, listed);
	paragraph(p, INDENT, &sb);
}

/* Each metric of a suspect in the numbers of the method. */
static void print_findings(struct printer *p, const struct lp_suspect *s)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	for (uint32_t i = 0; i < s->n_findings; i++) {
		const struct lp_finding *f = &p->v->findings[s->findings[i]];

		strbuf_printf(&sb, "%s: %s %s in ", p->v->components[s->component]->text,
			p->v->tables[f->metric]->metric, verdict_mark_name(f->direction));
		evidence_add_windows(&sb, p->v, f);
		strbuf_printf(&sb, ", persistence %" PRIu32 ", ", f->persistence);
		verdict_add_peers(&sb, p->v, f->group);
		if (isfinite(f->distance) && isfinite(f->threshold))
			strbuf_printf(
				&sb, "; distance %.3g, threshold %.3g", f->distance, f->threshold);
		paragraph(p, INDENT_BODY, &sb);
	}
}

/* Sentences that are not in the table. */
static void print_remarks(struct printer *p, const struct lp_suspect *s)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	for (uint32_t i = 0; i < s->n_evidence; i++) {
		if (i < 64 && (s->measured >> i & 1))
			continue;
		clock_add_text(&sb, &p->opt.clock, s->evidence[i], s->first_us);
		paragraph(p, INDENT_BODY, &sb);
	}
}

static void print_evidence(
	struct printer *p, const struct lp_incident *in, const struct lp_finding *said)
{
	const struct evidence_style how = {.width = p->opt.width,
		.indent = INDENT_BODY,
		.utf8 = p->opt.utf8,
		.max = p->opt.verbose ? 0 : ROWS_MAX,
		.said = said};

	fputc('\n', p->out);
	failed(p, verdict_print_evidence(p->out, p->v, in, &how));
	for (uint32_t i = 0; i < in->n_components; i++) {
		const struct lp_suspect *s = verdict_suspect_of(p->v, in->components[i]);

		if (s && (i == 0 || p->opt.verbose))
			print_remarks(p, s);
		if (s && p->opt.verbose)
			print_findings(p, s);
	}
}

/* One command per line, never broken, so that it can be copied. */
static void print_commands(struct printer *p, const char *commands)
{
	while (*commands) {
		size_t len = strcspn(commands, "\n");
		_cleanup_free_ char *line = strndup(commands, len);

		fprintf(p->out, "%*s", INDENT_STEP, "");
		flow_print_safe(p->out, line ? line : "");
		fputc('\n', p->out);
		commands += len + (commands[len] == '\n');
	}
}

static void print_do(struct printer *p, const struct lp_incident *in)
{
	struct incident_steps steps = {0};
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	incident_steps(p->v, in, &steps);
	fputc('\n', p->out);
	if (!steps.commands.text)
		strbuf_puts(&sb, steps.text.text ? steps.text.text : "");
	else if (steps.host[0])
		strbuf_printf(&sb, "on %s:", steps.host);
	else
		strbuf_puts(&sb, "run:");
	led_paragraph(p, BOLD, "DO", INDENT_BODY, INDENT_STEP, &sb);
	if (steps.commands.text) {
		print_commands(p, steps.commands.text);
		strbuf_puts(&sb, steps.text.text ? steps.text.text : "");
		paragraph(p, INDENT_STEP, &sb);
	}
	failed(p, steps.text.failed || steps.commands.failed ? -ENOMEM : 0);
	incident_steps_release(&steps);
}

/* Are all components of the incident on this server? */
static bool is_of_one_server(
	const struct lp_verdict *v, const struct lp_incident *in, const char *server)
{
	for (uint32_t i = 0; i < in->n_components; i++) {
		if (strcmp(v->components[in->components[i]]->observer, server) != 0)
			return false;
	}
	return true;
}

/* "limpet ack NAME...": the names that a command needs, or a glob for many of one server. */
static void add_ack(
	struct strbuf *sb, const struct printer *p, const struct lp_incident *in, const char *verb)
{
	const char *server = p->v->components[in->components[0]]->observer;
	_cleanup_(strbuf_release) struct strbuf glob = {0};

	strbuf_printf(sb, "limpet %s", verb);
	if (in->n_components > ACK_MAX && is_of_one_server(p->v, in, server)) {
		strbuf_printf(&glob, "%s/*", server);
		strbuf_putc(sb, ' ');
		naming_add_quoted(sb, glob.text ? glob.text : "");
		return;
	}
	for (uint32_t i = 0; i < in->n_components; i++) {
		strbuf_putc(sb, ' ');
		naming_add_quoted(sb, p->v->components[in->components[i]]->text);
	}
}

static void print_then(struct printer *p, const struct lp_incident *in)
{
	bool acknowledged = verdict_incident_acknowledged(p->v, in);
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (!in->n_components)
		return;
	strbuf_puts(&sb, acknowledged ? "once it is repaired: " : "");
	add_ack(&sb, p, in, acknowledged ? "clear" : "ack");
	style(p, BOLD);
	fprintf(p->out, "%*sTHEN", INDENT_BODY, "");
	style(p, PLAIN);
	fprintf(p->out, "%*s", INDENT_STEP - INDENT_BODY - (int)strlen("THEN"), "");
	flow_print_safe(p->out, sb.text ? sb.text : ""); /* never broken: to be copied */
	fputc('\n', p->out);
	failed(p, sb.failed ? -ENOMEM : 0);
}

static void print_incident(struct printer *p, const struct lp_incident *in, bool in_full)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	const struct lp_finding *said;

	incident_add_what(&sb, p->v, in);
	add_when(p, &sb, in);
	state_paragraph(p, LP_STATUS_SUSPECTS, &sb);
	print_certainty(p, in);
	if (!in_full)
		return;
	print_stable_names(p, in);
	said = print_client_view(p, in);
	print_components(p, in);
	print_evidence(p, in, said);
	print_do(p, in);
	print_then(p, in);
	fputc('\n', p->out);
}

static void print_incidents(struct printer *p)
{
	uint32_t listed = p->v->n_incidents < p->opt.top ? p->v->n_incidents : p->opt.top;

	for (uint32_t i = 0; i < listed; i++)
		print_incident(p, &p->v->incidents[i], p->opt.verbose || i < IN_FULL);
	if (listed < p->v->n_incidents)
		fprintf(p->out, "and %" PRIu32 " more incidents: --top %" PRIu32 " shows them\n",
			p->v->n_incidents - listed, p->v->n_incidents);
	if (listed > IN_FULL && !p->opt.verbose)
		fputc('\n', p->out);
}

/* Components that are mildly slow, one paragraph each. */
static void print_warnings(struct printer *p)
{
	uint32_t n = p->v->n_warnings, listed = listed_of(p, n, p->opt.top);
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	for (uint32_t i = 0; i < listed; i++) {
		const struct lp_suspect *s = &p->v->warnings[i];

		incident_add_warning(&sb, p->v, s);
		strbuf_puts(&sb, ", since ");
		strbuf_puts(&sb, s->since_before ? "before " : "");
		clock_add(&sb, &p->opt.clock, s->first_us);
		strbuf_puts(&sb, s->acknowledged ? "; acknowledged" : "");
		state_paragraph(p, LP_STATUS_WARNINGS, &sb);
		for (uint32_t k = 0; k < s->n_evidence; k++) {
			strbuf_puts(&sb, k ? "; " : "");
			clock_add_text(&sb, &p->opt.clock, s->evidence[k], s->first_us);
		}
		paragraph(p, INDENT, &sb);
	}
	if (listed < n)
		fprintf(p->out, "%*sand %" PRIu32 " more warnings: -v shows them\n", INDENT, "",
			n - listed);
}

static void print_unknown(struct printer *p)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	for (uint32_t i = 0; i < p->v->n_unknown; i++) {
		clock_add_text(&sb, &p->opt.clock, p->v->unknown[i], 0);
		if (i)
			paragraph(p, INDENT, &sb);
		else
			state_paragraph(p, LP_STATUS_UNKNOWN, &sb);
	}
}

/* The healthy part, if nothing is worse. */
static void print_well(struct printer *p)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (p->v->n_incidents || (p->v->n_unknown && !verdict_n_judged(p->v)))
		return;
	verdict_add_well(&sb, p->v);
	if (p->v->n_unknown || p->v->n_warnings)
		paragraph(p, INDENT, &sb);
	else
		state_paragraph(p, LP_STATUS_OK, &sb);
	verdict_add_not_compared(&sb, p->v);
	if (sb.len)
		paragraph(p, INDENT, &sb);
}

static void print_muted(struct printer *p)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (!p->v->n_muted)
		return;
	verdict_add_muted(&sb, p->v, p->opt.verbose ? p->v->n_muted : LISTED);
	paragraph(p, 0, &sb);
}

/* Why a component is only mentioned: "faster", or without a name for that, "rtt differs". */
static void add_asymmetry(struct strbuf *sb, const struct lp_verdict *v, const struct lp_suspect *s)
{
	if (!s->n_findings || (s->cause && strcmp(s->cause, "unknown") != 0))
		strbuf_puts(sb, verdict_cause_words(s->cause));
	else
		strbuf_printf(
			sb, "%s differs", v->tables[v->findings[s->findings[0]].metric]->metric);
}

/* Components that are off without being at fault, in one paragraph. */
static void print_asymmetries(struct printer *p)
{
	uint32_t n = p->v->n_asymmetries, listed = listed_of(p, n, LISTED);
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (!n)
		return;
	strbuf_puts(&sb, "Different, but not at fault: ");
	for (uint32_t i = 0; i < listed; i++) {
		const struct lp_suspect *s = &p->v->asymmetries[i];

		strbuf_puts(&sb, i ? ", " : "");
		naming_add(&sb, p->v->components[s->component]);
		strbuf_puts(&sb, " (");
		add_asymmetry(&sb, p->v, s);
		if (p->opt.verbose && s->n_evidence) {
			strbuf_puts(&sb, ": ");
			clock_add_text(&sb, &p->opt.clock, s->evidence[0], s->first_us);
		}
		strbuf_puts(&sb, s->acknowledged ? "; acknowledged)" : ")");
	}
	add_more(&sb, n, listed);
	strbuf_putc(&sb, '.');
	paragraph(p, 0, &sb);
}

/* Groups that were not compared, in one line; print_well() says it as well. */
static void print_not_compared(struct printer *p)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (!p->v->n_incidents && (!p->v->n_unknown || verdict_n_judged(p->v)))
		return;
	verdict_add_not_compared(&sb, p->v);
	if (!sb.len)
		return;
	strbuf_putc(&sb, '.');
	if (!sb.failed)
		sb.text[0] = (char)toupper((unsigned char)sb.text[0]);
	paragraph(p, 0, &sb);
}

static void print_groups(struct printer *p)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	uint32_t n_functions = 0;

	for (uint32_t i = 0; i < p->v->n_groups; i++) {
		const struct lp_peer_group *g = &p->v->groups[i];

		if (verdict_group_is_function(p->v, g)) {
			n_functions++;
			continue;
		}
		strbuf_printf(&sb, "Group %s: %" PRIu32 " component%s%s", g->name, g->n_members,
			g->n_members == 1 ? "" : "s", g->discovered ? ", found in the data" : "");
		if (g->refused)
			strbuf_printf(&sb, "; not compared: %s", g->refused);
		paragraph(p, 0, &sb);
	}
	if (n_functions) {
		strbuf_printf(&sb, "%" PRIu32 " functions, compared together", n_functions);
		paragraph(p, 0, &sb);
	}
}

static void print_notes(struct printer *p)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (p->opt.verbose)
		print_groups(p);
	else
		print_not_compared(p);
	for (uint32_t i = 0; i < p->v->n_notes; i++) {
		strbuf_puts(&sb, "Note: ");
		clock_add_text(&sb, &p->opt.clock, p->v->notes[i], 0);
		if (*p->v->hints[i])
			strbuf_printf(&sb, " (%s)", p->v->hints[i]);
		paragraph(p, 0, &sb);
	}
}

/* Print the zone of the times in the reasons, because no other line does. */
static void print_zone(struct printer *p)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	for (uint32_t i = 0; i < p->v->n_unknown; i++) {
		for (const char *at = p->v->unknown[i]; (at = strpbrk(at, " (")); at++) {
			size_t len = clock_iso_length(at + 1);
			_cleanup_free_ char *text = len ? strndup(at + 1, len) : NULL;
			int64_t at_us;

			if (!text || time_parse(text, &at_us, NULL) < 0)
				continue;
			strbuf_puts(&sb, "Times are in ");
			clock_add_zone(&sb, &p->opt.clock, at_us);
			strbuf_putc(&sb, '.');
			paragraph(p, 0, &sb);
			return;
		}
	}
}

/* "Checked 6 servers, 48 components, 12:34 to 12:35 UTC.", and with `verbose` how. Data that cannot
 * be judged was only read. */
static void print_checked(struct printer *p)
{
	struct verdict_span span = verdict_span(p->v);
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (!p->v->n_components && !p->v->n_traced) {
		print_zone(p);
		return;
	}
	strbuf_puts(&sb, verdict_n_judged(p->v) || p->v->n_incidents ? "Checked " : "Read ");
	verdict_add_checked(&sb, p->v);
	if (span.end_us > span.start_us) {
		strbuf_puts(&sb, ", ");
		clock_add_range(&sb, &p->opt.clock, span.start_us, span.end_us);
	}
	strbuf_putc(&sb, '.');
	style(p, FAINT);
	paragraph(p, 0, &sb);
	style(p, PLAIN);
	if (!p->opt.verbose)
		return;
	strbuf_puts(&sb, "Compared ");
	verdict_add_looked_at(&sb, p->v);
	strbuf_puts(&sb, "; ");
	verdict_add_method(&sb, p->v);
	strbuf_putc(&sb, '.');
	paragraph(p, 0, &sb);
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
	print_incidents(&p);
	print_unknown(&p);
	print_warnings(&p);
	print_well(&p);
	if (!v->n_incidents || v->n_unknown || v->n_warnings)
		fputc('\n', out);
	print_muted(&p);
	print_asymmetries(&p);
	print_notes(&p);
	print_checked(&p);
	if (p.error)
		return p.error;
	return ferror(out) ? -EIO : 0;
}
