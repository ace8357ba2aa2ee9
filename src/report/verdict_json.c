#include "report/verdict_json.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "explain/behaviour.h"
#include "report/incident.h"
#include "report/json.h"
#include "report/number.h"
#include "report/verdict_facts.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static void key_string(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":", key);
	if (text)
		json_write_string(out, text);
	else
		fputs("null", out);
}

static void key_number(FILE *out, const char *key, double value)
{
	char text[NUMBER_TEXT_MAX];

	fprintf(out, ",\"%s\":%s", key, isfinite(value) ? number_format(value, text) : "null");
}

static void key_count(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, ",\"%s\":%" PRIu64, key, value);
}

static void key_bool(FILE *out, const char *key, bool value)
{
	fprintf(out, ",\"%s\":%s", key, value ? "true" : "false");
}

/* 0 is not a time. */
static void key_time(FILE *out, const char *key, int64_t wall_us)
{
	char text[TIME_TEXT_MAX];

	if (wall_us)
		fprintf(out, ",\"%s\":\"%s\"", key, time_format(wall_us, text));
	else
		fprintf(out, ",\"%s\":null", key);
}

static void key_strings(FILE *out, const char *key, char *const *strings, uint32_t n)
{
	fprintf(out, ",\"%s\":[", key);
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? "," : "", out);
		json_write_string(out, strings[i]);
	}
	fputc(']', out);
}

static void key_components(
	FILE *out, const char *key, const struct lp_verdict *v, const uint32_t *list, uint32_t n)
{
	fprintf(out, ",\"%s\":[", key);
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? "," : "", out);
		json_write_string(out, v->components[list[i]]->text);
	}
	fputc(']', out);
}

static void write_params(FILE *out, const struct lp_verdict *v)
{
	const struct lp_params *p = &v->params;
	struct verdict_span span = verdict_span(v);
	char step[NUMBER_TEXT_MAX];

	fprintf(out,
		",\"params\":{\"smooth\":%" PRIu32 ",\"win_size\":%" PRIu32
		",\"win_shift\":%" PRIu32 ",\"k\":%" PRIu32 ",\"step_s\":%s}",
		p->smooth, p->win_size, p->win_shift, p->k,
		number_format((double)p->step_us / 1e6, step));
	key_time(out, "start", span.start_us);
	key_time(out, "end", span.end_us);
	key_count(out, "windows", span.n_windows);
}

static void write_groups(FILE *out, const struct lp_verdict *v)
{
	fputs(",\"groups\":[", out);
	for (uint32_t i = 0; i < v->n_groups; i++) {
		const struct lp_peer_group *g = &v->groups[i];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		json_write_string(out, g->name);
		key_components(out, "components", v, g->members, g->n_members);
		key_bool(out, "discovered", g->discovered);
		key_string(out, "refused", g->refused);
		fputc('}', out);
	}
	fputc(']', out);
}

static void write_anomalies(FILE *out, const struct lp_verdict *v)
{
	fputs(",\"anomalies\":[", out);
	for (size_t i = 0; i < v->n_anomalies; i++) {
		const struct lp_anomaly *a = &v->anomalies[i];

		fprintf(out, "%s\n{\"window\":%" PRIu32, i ? "," : "", a->window);
		key_time(out, "start", a->start_us);
		key_time(out, "end", a->end_us);
		key_string(out, "component", v->components[a->component]->text);
		key_string(out, "metric", v->tables[a->metric]->metric);
		key_string(out, "direction", verdict_mark_name(a->direction));
		key_number(out, "distance", a->distance);
		key_number(out, "threshold", a->threshold);
		fputc('}', out);
	}
	fputc(']', out);
}

/* The metrics of a suspect, each once, the most important one first. */
static void write_metrics(FILE *out, const struct lp_verdict *v, const struct lp_suspect *s)
{
	bool any = false;

	fputs(",\"metrics\":[", out);
	for (uint32_t i = 0; i < s->n_findings; i++) {
		uint32_t metric = v->findings[s->findings[i]].metric;
		bool told = false;

		for (uint32_t j = 0; j < i; j++)
			told = told || v->findings[s->findings[j]].metric == metric;
		if (told)
			continue;
		fputs(any ? "," : "", out);
		json_write_string(out, v->tables[metric]->metric);
		any = true;
	}
	fputc(']', out);
}

/* Beginning and end. The onset is uncertain if the data begins later. */
static void write_times(
	FILE *out, const int64_t times_us[3], int64_t error_us, bool since_before, bool ended)
{
	key_time(out, "first", times_us[0]);
	key_number(out, "first_error_s", since_before ? NAN : (double)error_us / 1e6);
	key_bool(out, "since_before", since_before);
	key_time(out, "last", times_us[1]);
	key_bool(out, "ended", ended);
	key_time(out, "indicted", times_us[2]);
}

static void write_function(
	FILE *out, const struct lp_dimension *d, const struct lp_table *of, const char *before)
{
	fprintf(out, "%s{\"function\":", before);
	json_write_string(out, d->name);
	key_string(out, "metric", of->metric);
	key_string(out, "unit", of->unit);
	key_string(out, "direction", d->own < d->peers ? "below" : "above");
	key_number(out, "own", d->own);
	key_number(out, "peers", d->peers);
	key_number(out, "share", d->share);
	fputc('}', out);
}

/* The functions with the largest differences, per metric, the most important one first; nothing if
 * it is not about functions. */
static void write_functions(FILE *out, const struct lp_verdict *v, const struct lp_suspect *s)
{
	const char *before = ",\"functions\":[";

	for (uint32_t i = 0; i < s->n_findings; i++) {
		const struct lp_finding *f = &v->findings[s->findings[i]];

		for (uint32_t k = 0; k < f->n_dimensions; k++) {
			write_function(out, &v->dimensions[f->first_dimension + k],
				v->tables[f->metric], before);
			before = ",";
		}
	}
	if (*before == ',' && !before[1])
		fputc(']', out);
}

/* The process of a program that runs only on this server, if it is known. */
static void write_process(FILE *out, const struct lp_verdict *v, const struct lp_suspect *s)
{
	const struct lp_process *p = behaviour_process(v, s);

	if (!p)
		return;
	fputs(",\"process\":{\"program\":", out);
	json_write_string(out, p->program);
	key_count(out, "pid", (uint64_t)p->pid);
	if (p->uid >= 0)
		key_count(out, "uid", (uint64_t)p->uid);
	key_string(out, "command", p->command);
	fputc('}', out);
}

static void write_suspect(FILE *out, const struct lp_verdict *v, const struct lp_suspect *s)
{
	const struct lp_finding *f = s->n_findings ? &v->findings[s->findings[0]] : NULL;

	fputs("{\"component\":", out);
	json_write_string(out, v->components[s->component]->text);
	if (*v->components[s->component]->labels) {
		fputs(",\"labels\":", out);
		json_write_labels(out, v->components[s->component]->labels);
	}
	write_metrics(out, v, s);
	key_string(out, "level", verdict_level_name(s->level));
	if (s->level == LP_LEVEL_WARNING && f)
		key_number(out, "certainty", f->distance);
	if (s->level == LP_LEVEL_ABSENT)
		key_string(out, "missing", verdict_gone_name(s->gone));
	key_count(out, "persistence", s->persistence);
	key_number(out, "severity", s->severity);
	write_times(out, (int64_t[]){s->first_us, s->last_us, s->indicted_us}, s->onset_error_us,
		s->since_before, s->ended);
	key_string(out, "cause", s->cause);
	key_number(out, "confidence", s->confidence);
	key_strings(out, "evidence", s->evidence, s->n_evidence);
	if (s->n_context)
		key_strings(out, "context", s->context, s->n_context);
	write_functions(out, v, s);
	write_process(out, v, s);
	key_string(out, "advice", s->advice);
	key_string(out, "group", s->group < v->n_groups ? v->groups[s->group].name : NULL);
	key_number(out, "ratio", f ? f->ratio : NAN);
	key_string(out, "direction", f ? verdict_mark_name(f->direction) : NULL);
	key_bool(out, "acknowledged", s->acknowledged);
	fputc('}', out);
}

static void write_suspects(FILE *out, const struct lp_verdict *v, const char *key,
	const struct lp_suspect *suspects, uint32_t n)
{
	fprintf(out, ",\"%s\":[", key);
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? ",\n" : "\n", out);
		write_suspect(out, v, &suspects[i]);
	}
	fputc(']', out);
}

/* The problem in one sentence, and the steps for the operator: {"host","commands":[..],"text"}. */
static void write_words(FILE *out, const struct lp_verdict *v, const struct lp_incident *in)
{
	_cleanup_(strbuf_release) struct strbuf what = {0};
	struct incident_steps steps = {0};
	const char *at;

	incident_add_what(&what, v, in);
	incident_steps(v, in, &steps);
	key_string(out, "what", what.text);
	fputs(",\"do\":{\"host\":", out);
	json_write_string(out, steps.host);
	fputs(",\"commands\":[", out);
	at = steps.commands.text;
	for (bool first = true; at && *at; first = false) {
		size_t len = strcspn(at, "\n");
		_cleanup_free_ char *line = strndup(at, len);

		fputs(first ? "" : ",", out);
		json_write_string(out, line ? line : "");
		at += len + (at[len] == '\n');
	}
	fputc(']', out);
	key_string(out, "text", steps.text.text);
	fputc('}', out);
	incident_steps_release(&steps);
}

static void write_headline(FILE *out, const struct lp_verdict *v)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	verdict_add_headline(&sb, v);
	key_string(out, "state", incident_state_name(v->status));
	key_string(out, "headline", sb.text);
}

static void write_incident(FILE *out, const struct lp_verdict *v, const struct lp_incident *in)
{
	fputs("{\"part\":", out);
	json_write_string(out, in->part);
	key_components(out, "components", v, in->components, in->n_components);
	key_count(out, "part_size", in->n_of_part);
	key_string(out, "cause", in->cause);
	key_string(out, "level", verdict_level_name(in->level));
	key_number(out, "severity", in->severity);
	write_times(out, (int64_t[]){in->first_us, in->last_us, in->indicted_us},
		in->onset_error_us, in->since_before, in->ended);
	key_number(out, "confidence", in->confidence);
	key_count(out, "persistence", in->persistence);
	key_string(out, "summary", in->summary);
	key_string(out, "advice", in->advice);
	write_words(out, v, in);
	key_bool(out, "acknowledged", verdict_incident_acknowledged(v, in));
	fputc('}', out);
}

int verdict_print_json(FILE *out, const struct lp_verdict *v)
{
	fputs("{\"limpet\":\"" LIMPET_VERSION "\"", out);
	key_string(out, "method", v->method);
	key_bool(out, "trained", v->trained);
	key_bool(out, "fixed", v->fixed);
	write_params(out, v);
	write_groups(out, v);
	write_anomalies(out, v);
	write_suspects(out, v, "suspects", v->suspects, v->n_suspects);
	write_suspects(out, v, "warnings", v->warnings, v->n_warnings);
	write_suspects(out, v, "absent", v->absent, v->n_absent);
	write_suspects(out, v, "asymmetries", v->asymmetries, v->n_asymmetries);
	fputs(",\"incidents\":[", out);
	for (uint32_t i = 0; i < v->n_incidents; i++) {
		fputs(i ? ",\n" : "\n", out);
		write_incident(out, v, &v->incidents[i]);
	}
	fputc(']', out);
	key_count(out, "traced", v->n_traced);
	key_count(out, "muted", v->n_muted);
	key_components(out, "muted_components", v, v->muted, v->n_muted);
	key_string(out, "status", verdict_status_name(v->status));
	write_headline(out, v);
	key_strings(out, "unknown", v->unknown, v->n_unknown);
	key_strings(out, "notes", v->notes, v->n_notes);
	fputs("}\n", out);
	return ferror(out) ? -EIO : 0;
}
