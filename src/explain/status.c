#include "explain/status.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "detect/compare/compare.h"
#include "explain/coverage.h"
#include "model/identity.h"
#include "model/quantity.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <limpet/metric.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MAX 8    /* observers listed by name; more are counted */
#define COVERED_MAX 4  /* the same, each with its times */
#define GROUPS_MAX 4   /* groups that are too small, the same */
#define FAILURES_MAX 8 /* files that could not be read, each a separate reason */

/* Files are collected one after the other: data that ends earlier than the others by less than this
 * is not missing. */
#define SILENT_US (INT64_C(600) * US_PER_SEC)
#define SILENT_STEPS 3

/* A list of names, "a, b and 3 more". */
struct name_list {
	struct strbuf text;
	uint32_t n, max;
};

static void names_add(struct name_list *l, const char *name)
{
	if (l->n++ < l->max)
		strbuf_printf(&l->text, "%s%s", l->n > 1 ? ", " : "", name);
}

static void names_end(struct name_list *l)
{
	if (l->n > l->max)
		strbuf_printf(&l->text, " and %u more", l->n - l->max);
}

static void names_release(struct name_list *l)
{
	strbuf_release(&l->text);
}

/* Could a component of this observer be selected? */
static bool is_asked_for(const struct lp_diagnose_options *o, const char *observer)
{
	for (uint32_t i = 0; i < o->n_components; i++) {
		const char *glob = o->components[i], *slash = strchr(glob, '/');
		_cleanup_free_ char *own = slash ? strndup(glob, (size_t)(slash - glob)) : NULL;

		if (!own || fnmatch(own, observer, 0) == 0)
			return true;
	}
	return !o->n_components;
}

/* If metrics or groups are selected, only some components are visible, so an archive is enough.
 * Clients have an archive, too, although their components are left out. */
static bool is_there(const struct status_grounds *g, const struct coverage *c, const char *observer)
{
	const struct observer_coverage *own = coverage_find(c, observer);

	if (own && coverage_has_data(own))
		return true;
	return g->data &&
		dataset_has_observer(g->data, observer, g->options->from_us, g->options->to_us);
}

static bool is_listed_before(const struct status_grounds *g, size_t inventory, const char *observer)
{
	for (size_t i = 0; i < inventory; i++) {
		if (g->inventories[i] && inventory_has(g->inventories[i], observer))
			return true;
	}
	return false;
}

static int judge_missing(
	struct lp_verdict *v, const struct status_grounds *g, const struct coverage *c)
{
	_cleanup_(names_release) struct name_list missing = {.max = NAMES_MAX};
	uint32_t n_listed = 0;

	for (size_t k = 0; k < 2; k++) {
		const struct inventory *inv = g->inventories[k];

		for (uint32_t i = 0; inv && i < inv->n; i++) {
			const char *observer = inv->observers[i];

			if (is_listed_before(g, k, observer) || !is_asked_for(g->options, observer))
				continue;
			n_listed++;
			if (!is_there(g, c, observer))
				names_add(&missing, observer);
		}
	}
	v->n_expected = n_listed;
	v->n_missing = missing.n;
	if (!missing.n)
		return 0;
	names_end(&missing);
	if (missing.text.failed)
		return -ENOMEM;
	return verdict_unknown(v, "no data from %s (of %u observer%s that must be there)",
		missing.text.text, n_listed, n_listed == 1 ? "" : "s");
}

/* Observers that no inventory lists. */
static int note_unlisted(
	struct lp_verdict *v, const struct status_grounds *g, const struct coverage *c)
{
	_cleanup_(names_release) struct name_list unlisted = {.max = NAMES_MAX};

	if (!g->inventories[0] && !g->inventories[1])
		return 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct observer_coverage *o = &c->items[i];

		if (coverage_has_data(o) && !is_listed_before(g, 2, o->observer))
			names_add(&unlisted, o->observer);
	}
	if (!unlisted.n)
		return 0;
	names_end(&unlisted);
	if (unlisted.text.failed)
		return -ENOMEM;
	return lp_verdict_note(v, "the inventory does not list %s", unlisted.text.text);
}

static int judge_unread(struct lp_verdict *v, const struct lp_dataset *data)
{
	size_t n = data ? data->n_failures : 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n && i < FAILURES_MAX; i++)
		r = verdict_unknown(v, "not all data could be read: %s", data->failures[i]);
	if (r == 0 && n > FAILURES_MAX)
		r = verdict_unknown(v, "%zu more files could not be read", n - FAILURES_MAX);
	return r;
}

/* Add the notes and problems of the data. Observers that were set aside as a whole are unknown. */
static int note_data(struct lp_verdict *v, const struct lp_dataset *data)
{
	int r = 0;

	for (size_t i = 0; r == 0 && data && i < data->n_notes; i++) {
		bool whole = false;

		for (size_t a = 0; a < data->n_aside; a++)
			whole |= data->aside[a].note == i && data->aside[a].whole;
		r = whole ? verdict_unknown(v, "%s", data->notes[i])
			  : lp_verdict_note(v, "%s", data->notes[i]);
	}
	return r;
}

/* Add observers with the times of their data, "oss3 T to T, oss4 T to T and 3 more"; `alone`: only
 * those that were recorded when no other was. */
static uint32_t add_times(struct strbuf *sb, const struct coverage *c, bool alone)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct observer_coverage *o = &c->items[i];
		char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX];

		if (!coverage_has_data(o) ||
			(alone && (o->n_compared || !coverage_is_alone(c, o))) ||
			n++ >= COVERED_MAX)
			continue;
		strbuf_printf(sb, "%s%s %s to %s", n > 1 ? ", " : "", o->observer,
			time_format(o->first_us, first), time_format(o->last_us, last));
	}
	if (n > COVERED_MAX)
		strbuf_printf(sb, " and %u more", n - COVERED_MAX);
	return n;
}

/* Nothing was compared although there is enough data: observers were recorded at different
 * times. */
static int unknown_apart(struct lp_verdict *v, const struct coverage *c)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	add_times(&sb, c, false);
	if (sb.failed)
		return -ENOMEM;
	return verdict_unknown(v,
		"the recordings of %d peers do not overlap long enough to be compared "
		"(%s)",
		COVERAGE_PEERS_LEAST, sb.text ? sb.text : "");
}

static int unknown_alone(struct lp_verdict *v)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	for (uint32_t i = 0; i < v->n_groups && i < GROUPS_MAX; i++)
		strbuf_printf(
			&sb, "%s%s %u", i ? ", " : "", v->groups[i].name, v->groups[i].n_members);
	if (v->n_groups > GROUPS_MAX)
		strbuf_printf(&sb, " and %u more groups", v->n_groups - GROUPS_MAX);
	if (sb.failed)
		return -ENOMEM;
	return verdict_unknown(v, "no group has the %d components that a comparison needs (%s)",
		COVERAGE_PEERS_LEAST, sb.text ? sb.text : "there is none");
}

static int unknown_short(struct lp_verdict *v, int64_t have_us, int64_t need_us)
{
	char have[QUANTITY_TEXT_MAX], need[QUANTITY_TEXT_MAX], window[QUANTITY_TEXT_MAX];

	return verdict_unknown(v,
		"too little data: %s, and a comparison needs %s (%u windows of %s)",
		quantity_format_span(have_us, have), quantity_format_span(need_us, need),
		v->params.k,
		quantity_format_span((int64_t)v->params.win_size * v->params.step_us, window));
}

/* " in that time (from T on); the data is from T to T": the selected time, if there is one. It
 * shows a mistyped time, or a forgotten zone. */
static void add_selected_time(struct strbuf *sb, const struct status_grounds *g)
{
	int64_t from_us = g->options->from_us, to_us = g->options->to_us, first_us = 0, last_us = 0;
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];
	struct lp_err err = {0}; /* without the times of the data, the verdict is the same */

	if (!from_us && !to_us)
		return;
	strbuf_puts(sb, " in that time (");
	if (from_us)
		strbuf_printf(sb, "from %s %s",
			time_format(from_us / US_PER_SEC * US_PER_SEC, from), to_us ? "" : "on");
	if (to_us)
		strbuf_printf(sb, "%sto %s", from_us ? "" : "up ",
			time_format(to_us / US_PER_SEC * US_PER_SEC, to));
	strbuf_putc(sb, ')');
	if (!g->data || lp_dataset_span(g->data, &first_us, &last_us, &err) < 0 || !last_us)
		return;
	strbuf_printf(sb, "; the data is from %s to %s",
		time_format(first_us / US_PER_SEC * US_PER_SEC, from),
		time_format(last_us / US_PER_SEC * US_PER_SEC, to));
}

static int unknown_empty(struct lp_verdict *v, const struct status_grounds *g)
{
	const struct lp_diagnose_options *o = g->options;
	_cleanup_(strbuf_release) struct strbuf when = {0};
	const char *text;

	add_selected_time(&when, g);
	if (when.failed)
		return -ENOMEM;
	text = when.text ? when.text : "";
	if (o->n_metrics)
		return verdict_unknown(v, "no component has a metric '%s'%s", o->metrics[0], text);
	if (o->n_components)
		return verdict_unknown(v, "no component matches '%s'%s", o->components[0], text);
	if (*text)
		return verdict_unknown(v, "there is nothing to compare%s", text);
	return verdict_unknown(v, "there is nothing to compare in this data");
}

/* Why was no group compared in enough windows? */
static int judge_nothing(
	struct lp_verdict *v, const struct status_grounds *g, const struct coverage *c)
{
	const struct lp_params *p = &v->params;
	int64_t need_us = p->step_us * ((int64_t)p->win_size + (int64_t)(p->k - 1) * p->win_shift);
	int64_t have_us = v->n_tables ? v->tables[0]->n_slots * v->tables[0]->step_us : 0;
	uint32_t refused = 0;

	for (uint32_t i = 0; i < v->n_groups; i++)
		refused += v->groups[i].refused != NULL;
	if (!v->n_components || !v->n_tables)
		return unknown_empty(v, g);
	if (refused == v->n_groups)
		return unknown_alone(v);
	if (have_us < need_us)
		return unknown_short(v, have_us, need_us);
	if (!v->n_series)
		return verdict_unknown(v, "%s",
			refused ? "all values that have peers are the same: there was no activity"
				: "all values are the same: there was no activity");
	return unknown_apart(v, c);
}

/* Is it a working part of a server, not just a connection to it? */
static bool is_part(const char *kind)
{
	const struct kind *k = kind_find(kind);

	return k->resource == RESOURCE_STORAGE ||
		(k->resource == RESOURCE_NETWORK && k->peers_by != PEERS_BY_END);
}

/* Connections of one server can be compared with each other. If they are alike, that proves nothing
 * about its disks and interfaces. If none of these has peers, their state is unknown. */
static int judge_parts(struct lp_verdict *v)
{
	_cleanup_(names_release) struct name_list refused = {.max = GROUPS_MAX};

	for (uint32_t i = 0; i < v->n_groups; i++) {
		const struct lp_peer_group *g = &v->groups[i];
		char text[NAME_MAX + 1];

		if (!g->n_members || !is_part(v->components[g->members[0]]->kind))
			continue;
		if (!g->refused)
			return 0;
		snprintf(text, sizeof(text), "%s %u", g->name, g->n_members);
		names_add(&refused, text);
	}
	if (!refused.n)
		return 0;
	names_end(&refused);
	if (refused.text.failed)
		return -ENOMEM;
	return verdict_unknown(v,
		"no disk and no network interface has the %d peers that a comparison needs (%s)",
		COVERAGE_PEERS_LEAST - 1, refused.text.text);
}

/* Report observers that were recorded when no other was. */
static int judge_alone(struct lp_verdict *v, const struct coverage *c)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	uint32_t n = add_times(&sb, c, true);

	if (sb.failed)
		return -ENOMEM;
	if (!n)
		return 0;
	return verdict_unknown(v,
		"%u observer%s compared with no other, as none was recorded at the same time "
		"(%s)",
		n, n == 1 ? " was" : "s were", sb.text);
}

/* Is the observer already in the verdict, for any reason? */
static bool is_reported(const struct lp_verdict *v, const char *observer)
{
	const struct lp_suspect *lists[] = {v->suspects, v->absent};
	const uint32_t n[] = {v->n_suspects, v->n_absent};

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
		for (uint32_t i = 0; i < n[k]; i++) {
			if (!strcmp(v->components[lists[k][i].component]->observer, observer))
				return true;
		}
	}
	return false;
}

/* When the data of most observers ends; 0: there are too few observers. */
static int most_end(const struct coverage *c, int64_t *ret_us)
{
	_cleanup_free_ double *last = calloc((size_t)c->n + 1, sizeof(*last));
	uint32_t n = 0;

	if (!last)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n; i++) {
		if (coverage_has_data(&c->items[i]))
			last[n++] = (double)c->items[i].last_us; /* exact: below 2^53 */
	}
	median_sort(last, n);
	*ret_us = n >= COVERAGE_PEERS_LEAST ? (int64_t)last[(n - 1) / 2] : 0;
	return 0;
}

/* Find observers with data that ends long before that of most others. With windows of minutes and
 * more, it takes long until the comparison shows that. */
static int judge_silent(struct lp_verdict *v, const struct coverage *c)
{
	_cleanup_(names_release) struct name_list silent = {.max = NAMES_MAX};
	int64_t step_us = v->n_tables ? v->tables[0]->step_us : 0, end_us;
	char end[TIME_TEXT_MAX], least[QUANTITY_TEXT_MAX];
	int64_t least_us = SILENT_US > SILENT_STEPS * step_us ? SILENT_US : SILENT_STEPS * step_us;

	if (most_end(c, &end_us) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; end_us && i < c->n; i++) {
		const struct observer_coverage *o = &c->items[i];

		if (coverage_has_data(o) && end_us - o->last_us > least_us &&
			!is_reported(v, o->observer) && !coverage_is_alone(c, o))
			names_add(&silent, o->observer);
	}
	if (!silent.n)
		return 0;
	names_end(&silent);
	if (silent.text.failed)
		return -ENOMEM;
	return verdict_unknown(v,
		"no data from %s in the last %s and more, while that of most others goes on to %s",
		silent.text.text, quantity_format_span(least_us, least), time_format(end_us, end));
}

/* Is there a metric of a component whose meaning is known? */
static bool is_understood(
	const struct lp_verdict *v, const struct meanings *meanings, uint32_t component)
{
	const char *kind = v->components[component]->kind;

	for (uint32_t t = 0; t < v->n_tables; t++) {
		const char *metric = v->tables[t]->metric;

		if (v->row_of[t][component] != UINT32_MAX &&
			meanings_role(meanings, metric, lp_metric_role(kind, metric)) !=
				LP_ROLE_OTHER)
			return true;
	}
	return false;
}

/* Report components that differ from their peers if limpet does not know the meaning of any of
 * their metrics: they may be at fault or better than the others. */
static int judge_meaning(struct lp_verdict *v, const struct meanings *meanings)
{
	_cleanup_(names_release) struct name_list names = {.max = NAMES_MAX};
	const char *metric = NULL;

	for (uint32_t i = 0; i < v->n_asymmetries; i++) {
		const struct lp_suspect *s = &v->asymmetries[i];

		if (!s->n_findings || group_has_vectors(v, s->group) ||
			is_understood(v, meanings, s->component))
			continue;
		names_add(&names, v->components[s->component]->text);
		metric = metric ? metric : v->tables[v->findings[s->findings[0]].metric]->metric;
	}
	if (!names.n)
		return 0;
	names_end(&names);
	if (names.text.failed)
		return -ENOMEM;
	return verdict_unknown(v,
		"%s differ%s in a metric whose meaning limpet does not know (%.64s): say which "
		"side "
		"of it is worse, for instance --worse higher %.64s",
		names.text.text, names.n == 1 ? "s" : "", metric, metric);
}

int status_judge(struct lp_verdict *v, const struct status_grounds *g, struct lp_err *err)
{
	_cleanup_(coverage_release) struct coverage c = {0};
	int r = coverage_make(v, &c);

	v->n_compared = c.n_compared;
	if (r == 0)
		r = judge_missing(v, g, &c);
	if (r == 0)
		r = judge_unread(v, g->data);
	if (r == 0)
		r = note_data(v, g->data);
	/* Logs of system calls are judged without peers. */
	if (r == 0 && c.n_compared < v->params.k && !v->n_traced)
		r = judge_nothing(v, g, &c);
	else if (r == 0)
		r = judge_alone(v, &c);
	if (r == 0 && c.n_compared >= v->params.k && !v->n_traced)
		r = judge_parts(v);
	if (r == 0)
		r = judge_meaning(v, g->meanings);
	if (r == 0)
		r = judge_silent(v, &c);
	if (r == 0)
		r = patchy_judge(v);
	if (r == 0)
		r = note_unlisted(v, g, &c);
	v->status = v->n_suspects ? LP_STATUS_SUSPECTS
		: v->n_absent	  ? LP_STATUS_ABSENT
		: v->n_unknown	  ? LP_STATUS_UNKNOWN
		: v->n_warnings	  ? LP_STATUS_WARNINGS
				  : LP_STATUS_OK;
	return r < 0 ? lp_err_sys(err, r, "cannot judge what is known") : 0;
}
