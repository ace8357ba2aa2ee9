#include "report/verdict_lines.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "model/quantity.h"
#include "report/flow.h"
#include "report/incident.h"
#include "report/verdict_facts.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Print untrusted text on one line, without tabs and without "|", which begins the numbers for
 * Nagios. */
static void print_field(FILE *out, const char *text)
{
	_cleanup_free_ char *copy = strdup(text ? text : "");

	for (char *at = copy; at && *at; at++)
		*at = *at == '|' || *at == '\t' || *at == '\n' ? '/' : *at;
	flow_print_safe(out, copy ? copy : "");
}

static void print_line(FILE *out, const char *state, const char *who, const char *cause,
	const int64_t times_us[2], double confidence, const char *what)
{
	char from[TIME_TEXT_MAX] = "-", to[TIME_TEXT_MAX] = "-";

	if (times_us[0])
		time_format(times_us[0] / US_PER_SEC * US_PER_SEC, from);
	if (times_us[1])
		time_format(times_us[1] / US_PER_SEC * US_PER_SEC, to);
	fprintf(out, "%s\t", state);
	print_field(out, who);
	fputc('\t', out);
	print_field(out, cause ? cause : "-");
	fprintf(out, "\t%s\t%s\t", from, to);
	if (isfinite(confidence))
		fprintf(out, "%.0f\t", confidence * 100);
	else
		fputs("-\t", out);
	print_field(out, what);
	fputc('\n', out);
}

static void print_incident(FILE *out, const struct lp_verdict *v, const struct lp_incident *in)
{
	_cleanup_(strbuf_release) struct strbuf what = {0};
	int64_t times_us[2] = {in->first_us, verdict_is_still(v, in) ? 0 : in->last_us};

	incident_add_what(&what, v, in);
	print_line(out, incident_state_name(LP_STATUS_SUSPECTS), in->part, in->cause, times_us,
		in->confidence, what.text);
}

static void print_warning(FILE *out, const struct lp_verdict *v, const struct lp_suspect *s)
{
	_cleanup_(strbuf_release) struct strbuf what = {0};
	int64_t times_us[2] = {s->first_us, s->ended ? s->last_us : 0};

	incident_add_warning(&what, v, s);
	print_line(out, incident_state_name(LP_STATUS_WARNINGS), v->components[s->component]->text,
		s->cause, times_us, s->confidence, what.text);
}

int verdict_print_lines(FILE *out, const struct lp_verdict *v)
{
	_cleanup_(strbuf_release) struct strbuf well = {0};
	const int64_t none[2] = {0};

	for (uint32_t i = 0; i < v->n_incidents; i++)
		print_incident(out, v, &v->incidents[i]);
	for (uint32_t i = 0; i < v->n_warnings; i++)
		print_warning(out, v, &v->warnings[i]);
	for (uint32_t i = 0; i < v->n_unknown; i++)
		print_line(out, incident_state_name(LP_STATUS_UNKNOWN), "-", NULL, none, NAN,
			v->unknown[i]);
	if (!v->n_incidents && !v->n_warnings && !v->n_unknown) {
		verdict_add_well(&well, v);
		print_line(out, incident_state_name(LP_STATUS_OK), "-", NULL, none, NAN, well.text);
	}
	if (well.failed)
		return -ENOMEM;
	return ferror(out) ? -EIO : 0;
}

int verdict_nagios_status(const struct lp_verdict *v)
{
	static const int codes[] = {[LP_STATUS_OK] = 0,
		[LP_STATUS_SUSPECTS] = 2,
		[LP_STATUS_UNKNOWN] = 3,
		[LP_STATUS_ABSENT] = 2,
		[LP_STATUS_WARNINGS] = 1};

	return codes[v->status];
}

/* " (since 2026-11-15T12:34:21Z, 1m19s)" */
static void add_since(struct strbuf *sb, const struct lp_verdict *v, const struct lp_incident *in)
{
	char from[TIME_TEXT_MAX], span[QUANTITY_TEXT_MAX];

	strbuf_printf(sb, " (%s %s, %s)", in->ended ? "from" : "since",
		time_format(in->first_us / US_PER_SEC * US_PER_SEC, from),
		quantity_format_span(verdict_lasted_us(v, in), span));
}

/* The rest of the first line, up to the numbers. */
static void add_first(struct strbuf *sb, const struct lp_verdict *v)
{
	if (v->n_incidents) {
		incident_add_what(sb, v, &v->incidents[0]);
		add_since(sb, v, &v->incidents[0]);
	} else if (v->n_unknown) {
		strbuf_puts(sb, v->unknown[0]);
	} else if (v->n_warnings) {
		incident_add_warning(sb, v, &v->warnings[0]);
	} else {
		verdict_add_well(sb, v);
	}
	if (v->n_incidents > 1)
		strbuf_printf(sb, " and %" PRIu32 " more", v->n_incidents - 1);
}

int verdict_print_nagios(FILE *out, const struct lp_verdict *v)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	add_first(&sb, v);
	fprintf(out, "LIMPET %s - ", incident_state_name(v->status));
	print_field(out, sb.text);
	fprintf(out,
		" | incidents=%" PRIu32 ";;0;0 warnings=%" PRIu32 ";0;;0 unjudged=%" PRIu32
		";;;0 components=%" PRIu32 ";;;0\n",
		v->n_incidents, v->n_warnings, v->n_unknown, v->n_components);
	for (uint32_t i = 1; i < v->n_incidents && !sb.failed; i++) {
		strbuf_reset(&sb);
		incident_add_what(&sb, v, &v->incidents[i]);
		add_since(&sb, v, &v->incidents[i]);
		print_field(out, sb.text);
		fputc('\n', out);
	}
	if (sb.failed)
		return -ENOMEM;
	return ferror(out) ? -EIO : 0;
}
