#include "engine/past.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "detect/detect.h"
#include "detect/load.h"
#include "engine/setup.h"
#include "explain/absence.h"
#include "explain/explain.h"
#include "explain/status.h"
#include "model/identity.h"
#include "model/metric_role.h"
#include "model/quantity.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_US (INT64_C(3600) * US_PER_SEC)
#define PAST_MAX 7     /* stretches of the past */
#define PAST_LEAST 2   /* fewer do not show what is usual */
#define SLOTS_LEAST 20 /* slots of a stretch */
#define SLOTS_MAX 240  /* with more, the step is coarser than that of the data */
#define STRETCHES 4    /* of data that is shorter than days: the present one and three before it */
#define MARK "@-"      /* in the observer of a row from the past: "oss5@-2d" */

DEFINE_CLEANUP(struct lp_verdict *, lp_verdict_free);
DEFINE_CLEANUP(struct operator_state *, state_close);

/* How the data is divided: stretches of `length_us`, `period_us` apart. The last one is the
 * present. */
struct cutting {
	int64_t end_us, length_us, period_us, step_us;
	uint32_t n_past;
};

/* Is there only one observer? */
static bool is_alone(const struct lp_verdict *v)
{
	for (uint32_t i = 1; i < v->n_components; i++) {
		if (strcmp(v->components[i]->observer, v->components[0]->observer) != 0)
			return false;
	}
	return v->n_components > 0;
}

/* Idle interfaces are not compared either, although there are enough of them. */
static bool nothing_compared(const struct lp_verdict *v)
{
	for (uint32_t i = 0; v->n_series && i < v->n_groups; i++) {
		if (!v->groups[i].refused)
			return false;
	}
	return v->n_groups && v->n_tables;
}

static bool cut(const struct lp_verdict *v, int64_t interval_us, struct cutting *ret)
{
	const struct lp_table *t = v->tables[0];
	int64_t end_us = lp_table_time(t, (int64_t)t->n_slots - 1);
	int64_t span_us = span_between(lp_table_time(t, 0), end_us);
	int64_t length_us =
		SLOTS_LEAST * interval_us > HOUR_US ? SLOTS_LEAST * interval_us : HOUR_US;
	int64_t days = length_us < span_us ? (span_us - length_us) / US_PER_DAY : 0;

	*ret = (struct cutting){.end_us = end_us, .length_us = length_us, .period_us = US_PER_DAY};
	if (days < PAST_LEAST) {
		days = STRETCHES - 1;
		ret->length_us = ret->period_us = span_us / STRETCHES;
	}
	ret->n_past = days < PAST_MAX ? (uint32_t)days : PAST_MAX;
	ret->step_us = interval_us;
	while (ret->length_us / ret->step_us > SLOTS_MAX)
		ret->step_us += interval_us;
	/* Stretches begin on the grid. */
	ret->length_us -= ret->length_us % ret->step_us;
	ret->period_us -= ret->period_us % ret->step_us;
	ret->end_us -= floor_div(ret->end_us, ret->step_us) * ret->step_us == ret->end_us
		? 0
		: ret->end_us % ret->step_us;
	return ret->length_us / ret->step_us >= SLOTS_LEAST;
}

/* The tables of a stretch; stretch 0 is the present. */
static int stretch_read(struct lp_dataset *ds, const struct lp_diagnose_options *o,
	const struct cutting *c, uint32_t back, struct lp_table ***ret, uint32_t *ret_n,
	struct lp_err *err)
{
	int64_t to_us = c->end_us - back * c->period_us;
	struct lp_table_options how = {.judged = true,
		.metrics = o->n_metrics ? o->metrics : NULL,
		.n_metrics = o->n_metrics,
		.components = o->n_components ? o->components : NULL,
		.n_components = o->n_components,
		.from_us = to_us - c->length_us,
		.to_us = to_us + 1,
		.step_us = c->step_us};

	return lp_dataset_tables(ds, &how, ret, ret_n, err);
}

static void tables_free(struct lp_table **tables, uint32_t n)
{
	for (uint32_t i = 0; tables && i < n; i++)
		lp_table_free(tables[i]);
	free(tables);
}

static const struct lp_table *table_of(struct lp_table *const *tables, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!strcmp(tables[i]->metric, name))
			return tables[i];
	}
	return NULL;
}

static const double *row_of(const struct lp_table *t, const char *component)
{
	for (uint32_t i = 0; t && i < t->n_components; i++) {
		if (!strcmp(t->components[i]->text, component))
			return t->values + (size_t)i * t->n_slots;
	}
	return NULL;
}

static struct lp_identity *name_past(
	const struct lp_identity *now, const struct cutting *c, uint32_t back)
{
	char observer[300], span[TIME_TEXT_MAX];

	snprintf(observer, sizeof(observer), "%.250s" MARK "%s", now->observer,
		span_format(back * c->period_us, span));
	return lp_identity_new(observer, now->kind, now->name, now->labels);
}

bool past_is_row(const struct lp_identity *component)
{
	return strstr(component->observer, MARK);
}

/* Add rows for the past after those of the present, all missing. */
static int table_widen(struct lp_table *t, uint32_t n_past)
{
	size_t n = (size_t)t->n_components * (n_past + 1);
	double *values = realloc(t->values, (n * t->n_slots + 1) * sizeof(*values));
	struct lp_identity **ids;

	if (!values)
		return -ENOMEM;
	t->values = values;
	ids = realloc(t->components, (n + 1) * sizeof(void *));
	if (!ids)
		return -ENOMEM;
	t->components = ids;
	for (size_t i = (size_t)t->n_components * t->n_slots; i < n * t->n_slots; i++)
		t->values[i] = NAN;
	return 0;
}

/* Add a stretch of the past to the present, slot by slot: `back` periods earlier. */
static int table_add(struct lp_table *t, uint32_t n_now, const struct lp_table *old,
	const struct cutting *c, uint32_t back)
{
	for (uint32_t i = 0; i < n_now; i++) {
		const double *from = row_of(old, t->components[i]->text);
		double *to = t->values + (size_t)t->n_components * t->n_slots;

		t->components[t->n_components] = name_past(t->components[i], c, back);
		if (!t->components[t->n_components])
			return -ENOMEM;
		for (uint32_t s = 0; from && s < t->n_slots; s++) {
			int64_t at = lp_table_slot(old, lp_table_time(t, s) - back * c->period_us);

			to[s] = at >= 0 && at < old->n_slots ? from[at] : NAN;
		}
		t->n_components++;
	}
	return 0;
}

/* The tables of the present, with the past as further rows. */
static int tables_make(struct lp_dataset *ds, const struct lp_diagnose_options *o,
	const struct cutting *c, struct lp_table ***ret, uint32_t *ret_n, struct lp_err *err)
{
	struct lp_table **now = NULL;
	uint32_t n = 0, *n_now;
	int r = stretch_read(ds, o, c, 0, &now, &n, err);

	n_now = calloc((size_t)n + 1, sizeof(*n_now));
	if (r == 0 && !n_now)
		r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		n_now[i] = now[i]->n_components;
		r = table_widen(now[i], c->n_past);
	}
	for (uint32_t back = 1; r == 0 && back <= c->n_past; back++) {
		struct lp_table **old = NULL;
		uint32_t n_old = 0;

		r = stretch_read(ds, o, c, back, &old, &n_old, err);
		for (uint32_t i = 0; r == 0 && i < n; i++)
			r = table_add(
				now[i], n_now[i], table_of(old, n_old, now[i]->metric), c, back);
		tables_free(old, n_old);
	}
	free(n_now);
	if (r < 0) {
		tables_free(now, n);
		return err->code ? r : lp_err_sys(err, r, "cannot compare");
	}
	*ret = now;
	*ret_n = n;
	return 0;
}

/* The data may name other observers that have no valid value. The past says nothing about them. */
static bool tables_alone(struct lp_table *const *tables, uint32_t n)
{
	const char *observer = NULL;

	for (uint32_t t = 0; t < n; t++) {
		for (uint32_t i = 0; i < tables[t]->n_components; i++) {
			const struct lp_identity *c = tables[t]->components[i];

			if (past_is_row(c))
				continue;
			if (observer && strcmp(observer, c->observer) != 0)
				return false;
			observer = c->observer;
		}
	}
	return true;
}

/* A peak lasts as long as the time of which it is the maximum. If windows are shorter than that, a
 * single slow request fills several of them. */
static bool is_long_peak(const struct lp_table *t, int64_t window_us)
{
	const struct lp_metric *m =
		t->n_components ? lp_metric_find(t->components[0]->kind, t->metric) : NULL;

	return m && m->peak_s * US_PER_SEC > window_us;
}

static void tables_drop_peaks(struct lp_table **tables, uint32_t *n, int64_t window_us)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *n; i++) {
		if (is_long_peak(tables[i], window_us))
			lp_table_free(tables[i]);
		else
			tables[kept++] = tables[i];
	}
	*n = kept;
}

/* Does a component do no more work than before? */
static bool is_loaded_alike(const struct lp_verdict *v, const struct lp_finding *f)
{
	double own = load_work(v, f->component, f->first_us, f->last_us);
	double before = load_work_of_peers(v, f->group, f->component, f->first_us, f->last_us);

	return !(own > LOAD_MORE * before);
}

/* Does a difference from its own past prove that a component has a fault? Clients may send any
 * amount of work, at any time, so neither the work nor what follows from it (round trips,
 * congestion windows, retransmits, data that was not read, waits for a CPU) proves anything. A
 * fault is proven if requests to a device, or calls, take longer than their load explains, or if a
 * device has errors that it did not have for the same work. */
static bool past_proves(const struct lp_verdict *v, const struct lp_finding *f)
{
	const char *name = v->components[f->component]->kind;
	const struct kind *kind = kind_find(name);
	enum lp_role role = f->role ? f->role : lp_metric_role(name, v->tables[f->metric]->metric);

	if (!f->culprit || f->explained_by_load || f->explained_by_idle ||
		kind->peers_by == PEERS_BY_END)
		return false;
	if (role == LP_ROLE_TROUBLE)
		return (kind->resource == RESOURCE_STORAGE || kind->resource == RESOURCE_NETWORK) &&
			is_loaded_alike(v, f);
	return role_is_time(role) || role == LP_ROLE_YIELD || role == LP_ROLE_HARM;
}

/* Without work there are no latencies. A component that is gone has no values of its work either.
 */
static bool is_only_idle(const struct lp_verdict *v, const struct lp_finding *f)
{
	return f->direction == LP_MARK_ABSENT &&
		(role_is_time(f->role) || absence_of(v, f) == LP_GONE_WORK);
}

static bool past_proves_any(const struct lp_verdict *v, uint32_t component)
{
	for (uint32_t i = 0; i < v->n_findings; i++) {
		const struct lp_finding *f = &v->findings[i];

		if (f->component == component && past_proves(v, f))
			return true;
	}
	return false;
}

/* Differences within the past are not reported, and those that prove nothing accuse no component.
 */
static void findings_keep_now(struct lp_verdict *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_findings; i++) {
		if (!past_is_row(v->components[v->findings[i].component]) &&
			!is_only_idle(v, &v->findings[i]))
			v->findings[n++] = v->findings[i];
	}
	v->n_findings = n;
	for (uint32_t i = 0; i < n; i++)
		v->findings[i].culprit = v->findings[i].direction == LP_MARK_ABSENT ||
			(v->findings[i].culprit && past_proves_any(v, v->findings[i].component));
}

static int conclude(struct lp_verdict *v, struct lp_dataset *ds,
	const struct lp_diagnose_options *o, const struct cutting *c, struct lp_err *err)
{
	const struct status_grounds grounds = {.options = o, .data = ds};
	_cleanup_(state_closep) struct operator_state *state = NULL;
	char length[QUANTITY_TEXT_MAX];
	int r = o->state ? state_open(o->state, true, &state, err) : 0;

	findings_keep_now(v);
	v->past = true;
	if (r == 0)
		r = explain_verdict(v, NULL, NULL, state, NULL, err);
	if (r == 0)
		r = status_judge(v, &grounds, err);
	if (r == 0 &&
		lp_verdict_note(v,
			"there is one server, so the last %s of its data are compared with %s %u "
			"%s%s",
			quantity_format_span(c->length_us, length),
			c->period_us == US_PER_DAY - US_PER_DAY % c->step_us ? "the same time of"
									     : "the",
			c->n_past,
			c->period_us == US_PER_DAY - US_PER_DAY % c->step_us
				? "days before"
				: "stretches of that length before",
			"; a fault that is older does not show, more or less work counts as none, "
			"and more servers make a better comparison") < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot compare");
	return r;
}

#define TO_COMPARE "there is one server: to compare it with others, name the data of at least 3; "

static int noted(int r, struct lp_err *err)
{
	return r < 0 ? lp_err_sys(err, -ENOMEM, "cannot compare") : 0;
}

/* Its past is too short. */
static int advise_longer(struct lp_verdict *v, int64_t interval_us, struct lp_err *err)
{
	char length[QUANTITY_TEXT_MAX];

	return noted(
		lp_verdict_note(v,
			TO_COMPARE "to compare it with its own past, record it for %s or longer",
			quantity_format_span(STRETCHES * SLOTS_LEAST * interval_us, length)),
		err);
}

/* The kind of the disks, OSTs etc. without peers; NULL: there are none. */
static const char *storage_alone(const struct lp_verdict *v)
{
	for (uint32_t i = 0; i < v->n_groups; i++) {
		const struct lp_peer_group *g = &v->groups[i];
		const char *kind = g->n_members ? v->components[g->members[0]]->kind : "";

		if (g->refused && kind_find(kind)->resource == RESOURCE_STORAGE)
			return kind;
	}
	return NULL;
}

/* Something else was compared, for instance its interfaces with each other: say how to compare the
 * disks. */
static int advise_rest(struct lp_verdict *v, struct lp_err *err)
{
	const char *kind = storage_alone(v);

	if (!kind)
		return 0;
	return noted(lp_verdict_note(v,
			     TO_COMPARE "to compare each %s with its own past, use -c '*/%s:*'",
			     kind_find(kind)->words, kind),
		err);
}

static bool any_refused(const struct lp_verdict *v)
{
	for (uint32_t i = 0; i < v->n_groups; i++) {
		if (v->groups[i].refused)
			return true;
	}
	return false;
}

static bool is_judged_by_past(const struct lp_verdict *v)
{
	return (v->status == LP_STATUS_UNKNOWN || v->status == LP_STATUS_OK) && !v->n_missing &&
		!v->n_traced;
}

int diagnose_past(struct lp_dataset *ds, const struct lp_diagnose_options *options,
	struct lp_verdict **verdict, struct lp_err *err)
{
	static const char *const by_name[] = {"name"};
	_cleanup_(lp_verdict_freep) struct lp_verdict *v = NULL;
	struct detect_options detect = {.split_by = by_name, .n_split = 1, .warn_at = 1};
	struct lp_table **tables = NULL;
	struct cutting c;
	int64_t interval_us = 0;
	uint32_t n = 0, slots;
	int r;

	/* Its past says nothing about servers that are missing, and logs of system calls need
	 * neither peers nor a past. */
	if (options_are_plain(options) || !is_judged_by_past(*verdict) || !is_alone(*verdict) ||
		!any_refused(*verdict))
		return 0;
	if (!nothing_compared(*verdict))
		return advise_rest(*verdict, err);
	r = lp_dataset_interval(ds, &interval_us, err);
	if (r < 0)
		return r;
	if (!cut(*verdict, interval_us, &c))
		return advise_longer(*verdict, interval_us, err);
	r = tables_make(ds, options, &c, &tables, &n, err);
	if (r < 0)
		return r;
	if (!tables_alone(tables, n)) {
		tables_free(tables, n);
		return 0;
	}
	slots = (uint32_t)(c.length_us / c.step_us);
	tables_drop_peaks(tables, &n, slots / 4 * c.step_us);
	detect.params = (struct lp_params){.smooth = slots / 16 + 1,
		.win_size = slots / 4,
		.win_shift = slots / 8,
		.k = 3,
		.step_us = c.step_us};
	r = detect_methods(&detect, err);
	if (r == 0)
		r = detect_run(tables, n, &detect, &v, err);
	else
		tables_free(tables, n);
	if (r == 0)
		r = conclude(v, ds, options, &c, err);
	if (r < 0)
		return r;
	if (!v || !v->n_series)
		return 0;
	lp_verdict_free(*verdict);
	*verdict = TAKE_PTR(v);
	return 1;
}
