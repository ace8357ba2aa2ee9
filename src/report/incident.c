#include "report/incident.h"

#include "base/array.h"
#include "explain/behaviour.h"
#include "model/hosts.h"
#include "model/naming.h"
#include "model/quantity.h"
#include "model/syscalls.h"
#include "report/verdict_facts.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CODE_MAX 24
#define ERRNOS 256 /* more than there are */

const struct lp_identity *incident_component(
	const struct lp_verdict *v, const struct lp_incident *in)
{
	return in->n_components ? v->components[in->components[0]] : NULL;
}

const struct lp_suspect *incident_lead(const struct lp_verdict *v, const struct lp_incident *in)
{
	return in->n_components ? verdict_suspect_of(v, in->components[0]) : NULL;
}

static bool is_about_component(const struct lp_verdict *v, const struct lp_incident *in)
{
	const struct lp_identity *c = incident_component(v, in);

	return c && !strcmp(in->part, c->text);
}

const char *incident_observer(const struct lp_verdict *v, const struct lp_incident *in)
{
	const struct lp_identity *c = incident_component(v, in);
	static const char observer[] = "observer:";

	if (!strncmp(in->part, observer, sizeof(observer) - 1))
		return in->part + sizeof(observer) - 1;
	return is_about_component(v, in) ? c->observer : "";
}

void incident_add_who(struct strbuf *sb, const struct lp_verdict *v, const struct lp_incident *in)
{
	if (is_about_component(v, in))
		naming_add(sb, incident_component(v, in));
	else
		naming_add_part(sb, in->part);
}

const char *incident_level_name(enum lp_level level)
{
	return level == LP_LEVEL_WARNING ? "warning" : "critical";
}

const char *incident_state_name(enum lp_status status)
{
	static const char *const names[] = {
		[LP_STATUS_OK] = "OK",
		[LP_STATUS_SUSPECTS] = "CRITICAL",
		[LP_STATUS_UNKNOWN] = "UNKNOWN",
		[LP_STATUS_ABSENT] = "CRITICAL",
		[LP_STATUS_WARNINGS] = "WARNING",
	};

	return names[status];
}

const char *incident_confidence_name(double confidence)
{
	long percent = lround(confidence * 100); /* as printed */

	return percent >= 80 ? "high" : percent >= 50 ? "medium" : "low";
}

/* The parts of a sentence about an incident. */
struct subject {
	const struct lp_verdict *v;
	const struct lp_incident *in;
	const struct lp_identity *first; /* component; may be NULL */
	const struct lp_suspect *lead;	 /* may be NULL */
	bool past;			 /* it is over */
	uint32_t n_alike;		 /* components of the same kind as the first one */
};

static const char *verb(const struct subject *s, const char *is, const char *was)
{
	return s->past ? was : is;
}

/* Is it about one component, or a server with one component in trouble? */
static bool is_single(const struct subject *s)
{
	return is_about_component(s->v, s->in) || s->n_alike < 2;
}

static enum lp_role role_of(const struct subject *s, const struct lp_finding *f)
{
	return f->role != LP_ROLE_OTHER ? f->role
					: lp_metric_role(s->v->components[f->component]->kind,
						  s->v->tables[f->metric]->metric);
}

static bool is_above(const struct lp_finding *f)
{
	return f->direction == LP_MARK_ABOVE && !f->n_dimensions;
}

/* The most important finding above its peers in one of two roles, NULL: none. Findings and
 * components are sorted by importance. */
static const struct lp_finding *first_above(
	const struct subject *s, enum lp_role one, enum lp_role other)
{
	for (uint32_t c = 0; c < s->in->n_components; c++) {
		const struct lp_suspect *suspect = verdict_suspect_of(s->v, s->in->components[c]);

		for (uint32_t i = 0; suspect && i < suspect->n_findings; i++) {
			const struct lp_finding *f = &s->v->findings[suspect->findings[i]];
			enum lp_role role = role_of(s, f);

			if (is_above(f) && (role == one || role == other))
				return f;
		}
	}
	return NULL;
}

/* Add ", 9.4x its peers" if the ratio is a number; above ten without decimals. */
static void add_times(struct strbuf *sb, const struct lp_finding *f, const char *of)
{
	char ratio[QUANTITY_TEXT_MAX];

	if (!f || !isfinite(f->ratio) || f->ratio <= 0)
		return;
	strbuf_printf(sb, ", %s %s",
		quantity_format_ratio(f->ratio >= 9.95 ? round(f->ratio) : f->ratio, ratio), of);
}

/* "12x" or "9.4x" in a sentence. */
static const char *ratio_text(const struct lp_finding *f, char buf[QUANTITY_TEXT_MAX])
{
	if (!f || !isfinite(f->ratio) || f->ratio <= 0)
		return NULL;
	if (f->ratio >= 9.95 && f->ratio < 99.5)
		snprintf(buf, QUANTITY_TEXT_MAX, "%.0fx", f->ratio);
	else
		quantity_format_ratio(f->ratio, buf);
	return buf;
}

/* The subject of a sentence about storage: "oss5: disk sdb is", "controller ddn12a: 7 of its 8
 * disks are". */
static void add_storage(struct strbuf *sb, const struct subject *s, const char *is, const char *are)
{
	const char *kind = s->first ? s->first->kind : "component";

	if (is_single(s) && s->first) {
		naming_add(sb, s->first);
		strbuf_printf(sb, " %s", is);
		return;
	}
	naming_add_part(sb, s->in->part);
	strbuf_printf(sb, ": %" PRIu32, s->n_alike);
	if (s->in->n_of_part >= s->n_alike)
		strbuf_printf(sb, " of its %" PRIu32, s->in->n_of_part);
	strbuf_printf(
		sb, " %s%s %s", kind, s->n_alike == 1 && s->in->n_of_part <= 1 ? "" : "s", are);
}

/* Add ", it delivers 0.40x what its peers do", for a metric for which less is worse. */
static void add_yield(struct strbuf *sb, const struct subject *s)
{
	const struct lp_finding *f =
		s->lead && s->lead->n_findings ? &s->v->findings[s->lead->findings[0]] : NULL;
	char ratio[QUANTITY_TEXT_MAX];

	if (f && f->direction == LP_MARK_BELOW && isfinite(f->ratio))
		strbuf_printf(sb, ", its %s is %s its peers'", s->v->tables[f->metric]->metric,
			quantity_format_ratio(f->ratio, ratio));
}

/* Is it only about the longest requests, like those of a disk that stalls? */
static bool is_peak(const struct subject *s, const struct lp_finding *f)
{
	const char *metric = s->v->tables[f->metric]->metric, *dash = strrchr(metric, '-');

	return dash && !strcmp(dash, "-peak");
}

static void say_slow(struct strbuf *sb, const struct subject *s)
{
	const struct lp_finding *f = first_above(s, LP_ROLE_LATENCY, LP_ROLE_HARM);
	char ratio[QUANTITY_TEXT_MAX];
	const char *times;

	if (!f)
		f = first_above(s, LP_ROLE_SERVICE, LP_ROLE_SERVICE);
	times = ratio_text(f, ratio);
	if (times && is_single(s) && is_peak(s, f)) {
		add_storage(sb, s, verb(s, "stalls now and then", "stalled now and then"), "");
		strbuf_printf(sb, ", its slowest requests take %s as long as its peers'", times);
		return;
	}
	add_storage(sb, s, verb(s, "is slow", "was slow"), verb(s, "are slow", "were slow"));
	if (!times)
		add_yield(sb, s);
	else if (f->whole)
		strbuf_printf(sb, ", %s its own past", times);
	else if (is_single(s))
		strbuf_printf(sb, ", %s its peers", times);
	else
		strbuf_printf(sb, ", the worst %s its peers", times);
}

static void say_flooded_disk(struct strbuf *sb, const struct subject *s)
{
	char ratio[QUANTITY_TEXT_MAX];
	const char *times = ratio_text(first_above(s, LP_ROLE_WORK, LP_ROLE_WORK), ratio);

	add_storage(sb, s, verb(s, "is overloaded", "was overloaded"),
		verb(s, "are overloaded", "were overloaded"));
	if (times)
		strbuf_printf(sb, " with %s the work of its peers", times);
	else
		strbuf_puts(sb, " with work that its peers do not have");
}

static void say_errors(struct strbuf *sb, const struct subject *s)
{
	add_storage(sb, s, verb(s, "has", "had"), verb(s, "have", "had"));
	strbuf_puts(sb, " errors that its peers do not have");
}

/* "oss5", or "client3 and 10.0.0.7" for a connection that is not pooled. */
static void add_ends(struct strbuf *sb, const struct subject *s)
{
	const char *observer = incident_observer(s->v, s->in);
	struct connection c;

	if (!s->first || !remote_parse(s->first, &c)) {
		naming_add_part(sb, *observer ? observer : s->in->part);
		strbuf_puts(sb, " and its peers");
	} else if (c.end == CONNECTION_REMOTE) {
		strbuf_printf(sb, "%s and %s", s->first->observer, c.address);
	} else {
		bool accepts = c.end == CONNECTION_ALL ? !c.out : c.out;

		naming_add_part(sb, *observer ? observer : s->in->part);
		strbuf_printf(sb, " and %s",
			c.servers	  ? "other servers"
				: accepts ? "its clients"
					  : "its servers");
	}
}

static void say_lost_packets(struct strbuf *sb, const struct subject *s)
{
	const struct lp_finding *f = first_above(s, LP_ROLE_TROUBLE, LP_ROLE_TROUBLE);
	char rate[QUANTITY_TEXT_MAX];

	strbuf_puts(sb, "packets between ");
	add_ends(sb, s);
	strbuf_puts(sb, verb(s, " are lost", " were lost"));
	if (f && isfinite(f->own) && !strcmp(s->v->tables[f->metric]->metric, "retrans"))
		strbuf_printf(sb, ", %s retransmitted",
			quantity_format(f->own, s->v->tables[f->metric]->unit, rate));
}

/* "oss5" if the trouble is that of a whole server. */
static void add_server(struct strbuf *sb, const struct subject *s)
{
	const char *observer = incident_observer(s->v, s->in);

	if (*observer)
		strbuf_puts(sb, observer);
	else
		incident_add_who(sb, s->v, s->in);
}

static void say_flooded_network(struct strbuf *sb, const struct subject *s)
{
	const struct lp_finding *f = first_above(s, LP_ROLE_WORK, LP_ROLE_WORK);
	char ratio[QUANTITY_TEXT_MAX], rate[QUANTITY_TEXT_MAX];
	const char *times = ratio_text(f, ratio);

	add_server(sb, s);
	strbuf_printf(sb, ": the network %s flooded", verb(s, "is", "was"));
	if (!f)
		return;
	quantity_format(f->own, s->v->tables[f->metric]->unit, rate);
	if (times)
		strbuf_printf(sb, ", %s on %s, %s its peers", rate,
			s->v->components[f->component]->name, times);
	else
		strbuf_printf(sb, ", %s on %s", rate, s->v->components[f->component]->name);
}

static void say_slow_link(struct strbuf *sb, const struct subject *s)
{
	char ratio[QUANTITY_TEXT_MAX];
	const char *times = ratio_text(first_above(s, LP_ROLE_LATENCY, LP_ROLE_SERVICE), ratio);

	add_server(sb, s);
	strbuf_printf(sb, ": the network link %s slow", verb(s, "is", "was"));
	if (times)
		strbuf_printf(sb, ", round trips %s %s as long as its peers'",
			verb(s, "take", "took"), times);
}

static void say_slow_network(struct strbuf *sb, const struct subject *s)
{
	char ratio[QUANTITY_TEXT_MAX];
	const char *times = ratio_text(first_above(s, LP_ROLE_SERVICE, LP_ROLE_LATENCY), ratio);

	add_server(sb, s);
	strbuf_printf(sb, ": requests %s slow to cross the network", verb(s, "are", "were"));
	if (times)
		strbuf_printf(sb, ", %s as long as its peers'", times);
}

static void say_bad_link(struct strbuf *sb, const struct subject *s)
{
	if (s->first)
		naming_add(sb, s->first);
	else
		add_server(sb, s);
	strbuf_printf(sb, " %s errors that its peers do not", verb(s, "reports", "reported"));
}

static void say_too_little_cpu(struct strbuf *sb, const struct subject *s)
{
	const struct lp_finding *f = first_above(s, LP_ROLE_TROUBLE, LP_ROLE_BUSY);

	add_server(sb, s);
	strbuf_printf(sb, " %s short of CPU", verb(s, "is", "was"));
	if (f && isfinite(f->own) && !strcmp(s->v->tables[f->metric]->metric, "psi_cpu"))
		strbuf_printf(sb, ": its processes %s for a processor %.0f%% of the time",
			verb(s, "wait", "waited"), f->own);
}

/* Is it a program with traced system calls? */
static bool is_program(const struct subject *s)
{
	return s->first && !strcmp(s->first->kind, "sys");
}

/* "oss5: glusterfsd" */
static void add_program(struct strbuf *sb, const struct subject *s)
{
	add_server(sb, s);
	if (is_program(s))
		strbuf_printf(sb, ": %s", s->first->name);
}

static void say_hung(struct strbuf *sb, const struct subject *s)
{
	add_program(sb, s);
	if (is_program(s))
		strbuf_puts(sb, verb(s, " does not answer its clients", " did not answer"));
	else
		strbuf_puts(sb,
			verb(s, " hangs: it does not read what its clients send",
				" hung: it did not read what its clients sent"));
}

static void say_down(struct strbuf *sb, const struct subject *s)
{
	add_server(sb, s);
	strbuf_puts(sb,
		verb(s, " is down, or its recorder is: no data from it",
			" was down, or its recorder was: no data from it"));
}

static void say_absent(struct strbuf *sb, const struct subject *s)
{
	bool no_data =
		s->lead && (s->lead->gone == LP_GONE_DATA || s->lead->gone == LP_GONE_OBSERVER);

	if (no_data) {
		add_storage(sb, s, verb(s, "has disappeared", "had disappeared"),
			verb(s, "have disappeared", "had disappeared"));
		strbuf_puts(sb, ": no data");
		return;
	}
	add_storage(sb, s, verb(s, "does no work", "did no work"),
		verb(s, "do no work", "did no work"));
	strbuf_puts(sb, verb(s, ", while its peers do", ", while its peers did"));
}

/* The first word in capitals that begins with `start` in the evidence: "EMFILE", "SIGSEGV".
 */
static bool find_code(const struct lp_suspect *s, const char *start, char buf[CODE_MAX])
{
	for (uint32_t i = 0; s && i < s->n_evidence; i++) {
		for (const char *at = s->evidence[i]; (at = strstr(at, start)); at++) {
			size_t n = 0;

			if (at > s->evidence[i] && at[-1] != ' ')
				continue;
			while (isupper((unsigned char)at[n]) || isdigit((unsigned char)at[n]))
				n++;
			if (n <= strlen(start) + 1 || n >= CODE_MAX ||
				isalnum((unsigned char)at[n]) || at[n] == '_')
				continue;
			memcpy(buf, at, n);
			buf[n] = '\0';
			return true;
		}
	}
	return false;
}

/* " (EMFILE: too many open files)" */
static void add_error(struct strbuf *sb, const struct lp_suspect *s)
{
	char code[CODE_MAX], name[SYSCALL_NAME_MAX];

	if (!find_code(s, "E", code))
		return;
	strbuf_printf(sb, " (%s", code);
	for (int error = 1; error < ERRNOS; error++) {
		const char *words = strerror(error);

		if (!strcmp(errno_name(error, name), code))
			strbuf_printf(sb, ": %c%s", tolower((unsigned char)words[0]), words + 1);
	}
	strbuf_putc(sb, ')');
}

static void say_propagated(struct strbuf *sb, const struct subject *s)
{
	add_program(sb, s);
	strbuf_puts(
		sb, verb(s, " returns errors to its clients", " returned errors to its clients"));
	add_error(sb, s->lead);
}

static void say_crashed(struct strbuf *sb, const struct subject *s)
{
	char code[CODE_MAX];

	add_program(sb, s);
	strbuf_puts(sb, " crashed");
	if (find_code(s->lead, "SIG", code))
		strbuf_printf(sb, " (%s)", code);
}

static void say_exhausted(struct strbuf *sb, const struct subject *s)
{
	add_program(sb, s);
	strbuf_puts(sb, verb(s, " runs out of a resource", " ran out of a resource"));
	add_error(sb, s->lead);
}

static void say_rogue(struct strbuf *sb, const struct subject *s)
{
	const struct lp_process *p = s->lead ? behaviour_process(s->v, s->lead) : NULL;

	add_server(sb, s);
	strbuf_printf(sb, " %s ", verb(s, "runs", "ran"));
	if (p)
		strbuf_printf(sb, "%s (process %" PRId32 ")", p->program, p->pid);
	else
		strbuf_puts(sb, "a program");
	strbuf_puts(sb, verb(s, " that its peers do not run", " that its peers did not run"));
}

static void say_behaviour(struct strbuf *sb, const struct subject *s)
{
	add_server(sb, s);
	strbuf_printf(
		sb, " %s its time in other functions than its peers", verb(s, "spends", "spent"));
}

static void say_unknown(struct strbuf *sb, const struct subject *s)
{
	const struct lp_finding *f =
		s->lead && s->lead->n_findings ? &s->v->findings[s->lead->findings[0]] : NULL;

	add_storage(sb, s, verb(s, "differs from its peers", "differed from its peers"),
		verb(s, "differ from their peers", "differed from their peers"));
	if (f && isfinite(f->ratio) && f->ratio > 0) {
		strbuf_printf(sb, " in %s", s->v->tables[f->metric]->metric);
		add_times(sb, f, "theirs");
	}
}

static const struct {
	const char *cause;
	void (*say)(struct strbuf *sb, const struct subject *s);
} sentences[] = {
	{"disk-busy", say_slow},
	{"disk-hog", say_flooded_disk},
	{"disk-errors", say_errors},
	{"network-hog", say_flooded_network},
	{"packet-loss", say_lost_packets},
	{"slow-link", say_slow_link},
	{"slow-network", say_slow_network},
	{"bad-link", say_bad_link},
	{"cpu-hog", say_too_little_cpu},
	{"server-hung", say_hung},
	{"server-down", say_down},
	{"lost-path", say_absent},
	{"propagated-error", say_propagated},
	{"crash", say_crashed},
	{"resource-exhausted", say_exhausted},
	{"rogue-process", say_rogue},
	{"behaviour", say_behaviour},
};

/* The number of components of the incident that have the same kind as its first one. */
static uint32_t count_alike(const struct lp_verdict *v, const struct lp_incident *in)
{
	const struct lp_identity *first = incident_component(v, in);
	uint32_t n = 0;

	for (uint32_t i = 0; first && i < in->n_components; i++)
		n += !strcmp(v->components[in->components[i]]->kind, first->kind);
	return n;
}

/* A component without peers is compared with its own past. */
static void speak_of_past(struct strbuf *sb, size_t from)
{
	static const char *const words[][2] = {{", while its peers do", ", as it did before"},
		{", while its peers did", ", as it did before"}, {"its peers'", "before"},
		{"its peers", "its own past"}};
	struct strbuf to = {0};

	for (const char *at = sb->text ? sb->text + from : ""; *at;) {
		size_t i = 0, len = 0;

		for (; i < ARRAY_SIZE(words); i++) {
			len = strlen(words[i][0]);
			if (!strncmp(at, words[i][0], len))
				break;
		}
		if (i < ARRAY_SIZE(words))
			strbuf_puts(&to, words[i][1]);
		else
			strbuf_putc(&to, *at);
		at += i < ARRAY_SIZE(words) ? len : 1;
	}
	if (to.text && !to.failed) {
		sb->len = from;
		strbuf_puts(sb, to.text);
	}
	strbuf_release(&to);
}

static void say(struct strbuf *sb, const struct subject *s)
{
	const char *cause = s->in->cause;

	for (size_t i = 0; cause && i < ARRAY_SIZE(sentences); i++) {
		if (!strcmp(cause, sentences[i].cause)) {
			sentences[i].say(sb, s);
			return;
		}
	}
	say_unknown(sb, s);
}

void incident_add_what(struct strbuf *sb, const struct lp_verdict *v, const struct lp_incident *in)
{
	size_t from = sb->len;
	struct subject s = {.v = v,
		.in = in,
		.first = incident_component(v, in),
		.lead = incident_lead(v, in),
		.past = in->ended,
		.n_alike = count_alike(v, in)};

	say(sb, &s);
	if (v->past)
		speak_of_past(sb, from);
}

void incident_add_warning(
	struct strbuf *sb, const struct lp_verdict *v, const struct lp_suspect *warning)
{
	const struct lp_finding *f =
		warning->n_findings ? &v->findings[warning->findings[0]] : NULL;

	naming_add(sb, v->components[warning->component]);
	strbuf_puts(sb, warning->ended ? " was a little slow" : " is a little slow");
	add_times(sb, f, v->past || (f && f->whole) ? "its own past" : "its peers");
}
