#include "serve/sightings.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "model/naming.h"
#include "model/topology.h"
#include "report/incident.h"
#include "report/json.h"
#include "report/verdict_facts.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVIDENCE_MAX 12
#define COMPONENTS_MAX 200 /* listed; the sentence has the total number */

static void sighting_release(struct sighting *s)
{
	free(s->part);
	free(s->cause);
	free(s->what);
	free(s->observer);
	for (uint32_t i = 0; i < s->n_components; i++)
		free(s->components[i]);
	free(s->components);
	json_decref(s->details);
}

void sightings_release(struct sightings *s)
{
	for (size_t i = 0; i < s->n; i++)
		sighting_release(&s->items[i]);
	free(s->items);
	*s = (struct sightings){0};
}

/* Add a complete sighting, and take ownership of it. */
static int sighting_add(struct sightings *s, struct sighting *x)
{
	if (!x->part || !x->cause || !x->what || !x->observer || !x->details ||
		array_reserve(&s->items, &s->cap, s->n + 1, sizeof(*s->items)) < 0) {
		sighting_release(x);
		return -ENOMEM;
	}
	s->items[s->n++] = *x;
	return 0;
}

static void text_append(json_t *array, const char *text)
{
	json_array_append_new(array, json_text(text));
}

/* The components of an incident, as names and as JSON. */
static int components_take(
	struct sighting *x, const struct lp_verdict *v, const uint32_t *list, uint32_t n)
{
	json_t *names = json_array();

	x->components = calloc((size_t)n + 1, sizeof(*x->components));
	if (!x->components || !names || json_object_set_new(x->details, "components", names) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		x->components[i] = strdup(v->components[list[i]]->text);
		if (!x->components[i])
			return -ENOMEM;
		x->n_components++;
		if (i < COMPONENTS_MAX)
			text_append(names, x->components[i]);
	}
	return 0;
}

static bool array_has(const json_t *array, const char *text)
{
	size_t i;
	json_t *item;

	json_array_foreach(array, i, item)
	{
		if (!strcmp(json_string_value(item), text))
			return true;
	}
	return false;
}

static json_t *function_new(const struct lp_dimension *d, const struct lp_table *of)
{
	json_t *one = json_object();

	json_object_set_new(one, "function", json_text(d->name));
	json_object_set_new(one, "metric", json_text(of->metric));
	json_object_set_new(one, "unit", json_text(of->unit));
	json_object_set_new(one, "direction", json_text(d->own < d->peers ? "below" : "above"));
	json_object_set_new(one, "own", isfinite(d->own) ? json_real(d->own) : json_null());
	json_object_set_new(one, "peers", isfinite(d->peers) ? json_real(d->peers) : json_null());
	json_object_set_new(one, "share", isfinite(d->share) ? json_real(d->share) : json_null());
	return one;
}

/* Add the functions in which a suspect differs. */
static void functions_take(
	json_t *details, const struct lp_verdict *v, const struct lp_suspect *suspect)
{
	json_t *list = json_object_get(details, "functions");

	for (uint32_t i = 0; suspect && i < suspect->n_findings; i++) {
		const struct lp_finding *f = &v->findings[suspect->findings[i]];

		if (f->n_dimensions && !list) {
			list = json_array();
			json_object_set_new(details, "functions", list);
		}
		for (uint32_t k = 0; k < f->n_dimensions; k++)
			json_array_append_new(list,
				function_new(&v->dimensions[f->first_dimension + k],
					v->tables[f->metric]));
	}
}

/* The system calls that a trace logged. */
static void calls_take(json_t *details, const struct lp_suspect *lead)
{
	json_t *list;

	if (!lead || !lead->n_calls)
		return;
	list = json_array();
	for (uint32_t i = 0; i < lead->n_calls; i++) {
		const struct lp_traced_call *c = &lead->calls[i];
		char at[TIME_TEXT_MAX];
		json_t *one = json_object();

		json_object_set_new(
			one, "time", json_text(time_format(floor_div(c->at_us, 1000) * 1000, at)));
		json_object_set_new(one, "server", json_text(c->observer));
		json_object_set_new(one, "process", json_text(c->process));
		json_object_set_new(one, "pid", json_integer(c->pid));
		json_object_set_new(one, "call", json_text(c->call));
		json_object_set_new(one, "file", c->file ? json_text(c->file) : json_null());
		json_object_set_new(one, "result", json_text(c->result));
		json_object_set_new(one, "duration_s",
			isfinite(c->duration_s) ? json_real(c->duration_s) : json_null());
		json_array_append_new(list, one);
	}
	json_object_set_new(details, "calls", list);
}

/* Metrics, evidence, functions and calls of its lead. */
static void lead_take(struct sighting *x, const struct lp_verdict *v, const struct lp_suspect *lead)
{
	json_t *metrics = json_array(), *evidence = json_array();
	const struct lp_finding *f =
		lead && lead->n_findings ? &v->findings[lead->findings[0]] : NULL;

	for (uint32_t i = 0; lead && i < lead->n_findings; i++) {
		const char *name = v->tables[v->findings[lead->findings[i]].metric]->metric;

		if (!array_has(metrics, name))
			text_append(metrics, name);
	}
	for (uint32_t i = 0; lead && i < lead->n_evidence && i < EVIDENCE_MAX; i++)
		text_append(evidence, lead->evidence[i]);
	json_object_set_new(x->details, "metrics", metrics);
	json_object_set_new(x->details, "evidence", evidence);
	functions_take(x->details, v, lead);
	calls_take(x->details, lead);
	x->ratio = f && isfinite(f->ratio) ? f->ratio : (double)NAN;
}

/* The functions of the lead's server are in the same incident as its disk, say. Those of other
 * servers are left out: an entry does not name its server. */
static void other_functions_take(
	struct sighting *x, const struct lp_verdict *v, const struct lp_incident *in)
{
	for (uint32_t i = 1; i < in->n_components; i++) {
		const struct lp_identity *c = v->components[in->components[i]];

		if (!strcmp(c->observer, v->components[in->components[0]]->observer))
			functions_take(x->details, v, verdict_suspect_of(v, in->components[i]));
	}
}

/* What to do: what to check, and commands with the host to run them on. */
static void steps_take(struct sighting *x, const struct lp_verdict *v, const struct lp_incident *in)
{
	struct incident_steps steps = {0};
	json_t *list = json_array();
	char *save = NULL;

	incident_steps(v, in, &steps);
	if (steps.text.text && *steps.text.text)
		text_append(list, steps.text.text);
	for (char *line = steps.commands.text ? strtok_r(steps.commands.text, "\n", &save) : NULL;
		line; line = strtok_r(NULL, "\n", &save)) {
		_cleanup_free_ char *text = NULL;

		if (asprintf(&text, "%s%s%s", steps.host, *steps.host ? "$ " : "", line) < 0)
			text = NULL;
		else
			text_append(list, text);
	}
	json_object_set_new(x->details, "do", list);
	incident_steps_release(&steps);
}

/* Samples come too late only a while after others: so much is missing around those that did. */
#define LATE_AROUND_US (90 * US_PER_SEC)

/* Is it about the time of samples that a server sent too late? */
static bool came_late(const struct observer *x, const struct lp_incident *in)
{
	return x->late_heard_us > INT64_MIN && in->first_us >= x->late_from_us - LATE_AROUND_US &&
		in->last_us <= x->late_until_us + LATE_AROUND_US;
}

/* Is it about a server that delivers nothing, or did so later? That is reported separately. */
static bool is_silence(
	const struct lp_verdict *v, const struct lp_incident *in, const struct observers *o)
{
	uint32_t at;

	return o && in->level == LP_LEVEL_ABSENT &&
		strmap_get(&o->index, incident_observer(v, in), &at) &&
		(o->items[at].state == OBSERVER_SILENT || came_late(&o->items[at], in));
}

static int incident_take(
	struct sightings *s, const struct lp_verdict *v, const struct lp_incident *in)
{
	struct strbuf what = {0};
	struct sighting x = {.part = strdup(in->part),
		.cause = strdup(in->cause ? in->cause : "unknown"),
		.observer = strdup(incident_observer(v, in)),
		.level = incident_level_name(in->level),
		.severity = in->severity,
		.confidence = in->confidence,
		.first_us = in->first_us,
		.first_error_us = in->since_before ? -1 : in->onset_error_us,
		.last_us = in->last_us,
		.ended = in->ended,
		.details = json_object()};

	incident_add_what(&what, v, in);
	x.what = strbuf_take(&what);
	if (!x.details || components_take(&x, v, in->components, in->n_components) < 0) {
		sighting_release(&x);
		return -ENOMEM;
	}
	lead_take(&x, v, incident_lead(v, in));
	other_functions_take(&x, v, in);
	steps_take(&x, v, in);
	return sighting_add(s, &x);
}

static int warning_take(struct sightings *s, const struct lp_verdict *v, const struct lp_suspect *w)
{
	const struct lp_identity *c = v->components[w->component];
	struct strbuf what = {0};
	struct sighting x = {.part = strdup(c->text),
		.cause = strdup(w->cause ? w->cause : "unknown"),
		.observer = strdup(c->observer),
		.level = "warning",
		.severity = w->severity,
		.confidence = w->confidence,
		.first_us = w->first_us,
		.first_error_us = w->since_before ? -1 : w->onset_error_us,
		.last_us = w->last_us,
		.ended = w->ended,
		.details = json_object()};

	incident_add_warning(&what, v, w);
	x.what = strbuf_take(&what);
	if (!x.details || components_take(&x, v, &w->component, 1) < 0) {
		sighting_release(&x);
		return -ENOMEM;
	}
	lead_take(&x, v, w);
	if (w->advice) {
		json_t *list = json_array();

		text_append(list, w->advice);
		json_object_set_new(x.details, "do", list);
	}
	return sighting_add(s, &x);
}

int sightings_add_verdict(
	struct sightings *s, const struct lp_verdict *v, const struct observers *observers)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < v->n_incidents; i++) {
		if (!is_silence(v, &v->incidents[i], observers))
			r = incident_take(s, v, &v->incidents[i]);
	}
	for (uint32_t i = 0; r == 0 && i < v->n_warnings; i++)
		r = warning_take(s, v, &v->warnings[i]);
	return r;
}

bool sightings_part_of_component(
	const struct topology *t, const struct lp_identity *component, char *buf, size_t size)
{
	bool found = false;

	for (const char *const *part = topology_parts(t); !found && *part; part++) {
		char value[256];

		if (!strcmp(*part, "observer") || !strcmp(*part, "server"))
			break; /* the following ones are smaller */
		found = topology_attribute(t, component, *part, value, sizeof(value)) != NULL;
		if (found)
			snprintf(buf, size, "%s:%s", *part, value);
	}
	return found;
}

bool sightings_part_of(const struct topology *t, const char *observer, char *buf, size_t size)
{
	struct lp_identity *host;
	bool found;

	if (!t)
		return false;
	host = lp_identity_new(observer, "host", observer, NULL);
	found = host && sightings_part_of_component(t, host, buf, size);
	lp_identity_unref(host);
	return found;
}

/* A sighting about the delivery of servers. */
static int delivery_add(struct sightings *s, const char *part, const char *observer,
	const char *cause, const char *level, int64_t first_us, int64_t now_us, struct strbuf *what,
	json_t *evidence)
{
	struct sighting x = {.part = strdup(part),
		.cause = strdup(cause),
		.observer = strdup(observer),
		.what = strbuf_take(what),
		.level = level,
		.delivery = true,
		.ratio = (double)NAN,
		.severity = !strcmp(level, "critical") ? 2 : 1,
		.confidence = 1,
		.first_us = first_us > INT64_MIN ? first_us : now_us,
		.first_error_us = 0,
		.last_us = now_us,
		.details = json_object()};

	json_object_set_new(x.details, "components", json_array());
	json_object_set_new(x.details, "metrics", json_array());
	json_object_set_new(x.details, "evidence", evidence ? evidence : json_array());
	return sighting_add(s, &x);
}

static json_t *evidence_of(const struct observer *x)
{
	json_t *list = json_array();
	char text[160], at[TIME_TEXT_MAX];

	if (x->last_us == INT64_MIN)
		snprintf(text, sizeof(text), "it is expected, but has never sent data");
	else
		snprintf(text, sizeof(text), "its last sample is from %s",
			time_format(x->last_us / US_PER_SEC * US_PER_SEC, at));
	text_append(list, text);
	return list;
}

/* The servers of a part. */
struct share {
	uint32_t n, n_silent;
	int64_t first_us;
};

struct shares {
	struct strmap index;
	struct share *items;
	size_t n, cap;
};

static void shares_release(struct shares *s)
{
	strmap_release(&s->index);
	free(s->items);
}

static int shares_count(struct shares *s, const struct observers *o, const struct topology *t)
{
	char part[300];
	uint32_t at;

	for (size_t i = 0; t && i < o->n; i++) {
		const struct observer *x = &o->items[i];

		if (!sightings_part_of(t, x->name, part, sizeof(part)))
			continue;
		if (!strmap_get(&s->index, part, &at)) {
			at = (uint32_t)s->n;
			if (array_reserve(&s->items, &s->cap, s->n + 1, sizeof(*s->items)) < 0 ||
				strmap_put(&s->index, part, at) < 0)
				return -ENOMEM;
			s->items[s->n++] = (struct share){.first_us = INT64_MIN};
		}
		if (at >= s->n)
			continue;
		s->items[at].n++;
		s->items[at].n_silent += x->state == OBSERVER_SILENT;
		if (x->state == OBSERVER_SILENT && x->last_us > s->items[at].first_us)
			s->items[at].first_us = x->last_us;
	}
	return 0;
}

static bool is_all_silent(const struct share *s)
{
	return s->n > 1 && s->n_silent == s->n;
}

static int parts_add(struct sightings *s, const struct shares *shares, int64_t now_us)
{
	const char *part;
	size_t at = 0;
	uint32_t i;
	int r = 0;

	while (r == 0 && strmap_next(&shares->index, &at, &part, &i)) {
		const struct share *x = shares->items ? &shares->items[i] : NULL;
		struct strbuf what = {0};

		if (!x || !is_all_silent(x))
			continue;
		naming_add_part(&what, part);
		strbuf_printf(&what, ": none of its %u servers sends data", x->n);
		r = delivery_add(
			s, part, "", CAUSE_SILENT, "critical", x->first_us, now_us, &what, NULL);
	}
	return r;
}

/* Was it already reported with its part? */
static bool is_told(const struct shares *shares, const struct topology *t, const struct observer *x)
{
	char part[300];
	uint32_t at;

	return t && sightings_part_of(t, x->name, part, sizeof(part)) &&
		strmap_get(&shares->index, part, &at) && at < shares->n &&
		is_all_silent(&shares->items[at]);
}

/* Lateness is not reported if a slow clock explains it. (An unknown skew is below all others.) */
static bool is_late(const struct observer *x)
{
	return x->state == OBSERVER_LATE &&
		(x->skew_us == INT64_MIN || x->skew_us >= -OBSERVERS_CLOCK_US);
}

/* `live`: the clock was seen to be wrong, and not concluded from load. */
static int observer_add(struct sightings *s, const struct observer *x, bool live, int64_t now_us)
{
	char part[300], span[TIME_TEXT_MAX];
	struct strbuf what = {0};
	int r = 0;

	snprintf(part, sizeof(part), "observer:%s", x->name);
	if (x->state == OBSERVER_SILENT) {
		strbuf_printf(&what,
			x->last_us > INT64_MIN ? "%s sends no data any more"
					       : "%s has never sent any data",
			x->name);
		r = delivery_add(s, part, x->name, CAUSE_SILENT, "critical", x->last_us, now_us,
			&what, evidence_of(x));
	} else if (is_late(x)) {
		strbuf_printf(&what, "%s sends its data late", x->name);
		r = delivery_add(s, part, x->name, CAUSE_LATE, "warning", x->last_us, now_us, &what,
			evidence_of(x));
	}
	what = (struct strbuf){0};
	if (r == 0 && live && x->skew_us > INT64_MIN && llabs(x->skew_us) > OBSERVERS_CLOCK_US) {
		int64_t by = llabs(x->skew_us) / US_PER_SEC * US_PER_SEC;
		json_t *evidence = json_array();
		char text[160];

		strbuf_printf(&what, "the clock of %s is %s", x->name,
			x->skew_us > 0 ? "ahead of the others" : "behind the others");
		snprintf(text, sizeof(text), "by %s", span_format(by, span));
		text_append(evidence, text);
		r = delivery_add(
			s, part, x->name, CAUSE_CLOCK, "warning", now_us, now_us, &what, evidence);
	}
	return r;
}

int sightings_add_observers(
	struct sightings *s, const struct observers *o, const struct topology *t, int64_t now_us)
{
	_cleanup_(shares_release) struct shares shares = {0};
	int r = shares_count(&shares, o, t);

	if (r == 0)
		r = parts_add(s, &shares, now_us);
	for (size_t i = 0; r == 0 && i < o->n; i++) {
		const struct observer *x = &o->items[i];

		if (x->state != OBSERVER_SILENT || !is_told(&shares, t, x))
			r = observer_add(s, x, o->live, now_us);
	}
	return r;
}
