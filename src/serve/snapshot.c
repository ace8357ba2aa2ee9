#include "serve/snapshot.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "model/hosts.h"
#include "report/peer_lines.h"
#include "report/verdict_json.h"
#include "serve/sightings.h"
#include <limpet/metric.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ratios of normal windows are shown only up to this value. Below it a window is never anomalous;
 * larger ratios of normal windows are irrelevant in the metric's unit. */
#define RATIO_NORMAL_MAX 1.2
#define WINDOWS_BACK 4 /* windows to search for the last one with data */
#define LINE_POINTS 600
#define GROUPED_BY 4 /* components of a server that decide its group */
#define LINES_SUSPECTS_MAX 32

static void strings_free(char **strings, uint32_t n)
{
	for (uint32_t i = 0; strings && i < n; i++)
		free(strings[i]);
	free(strings);
}

static void snapshot_free(struct snapshot *s)
{
	free(s->verdict);
	strings_free(s->metrics, s->n_metrics);
	strings_free(s->units, s->n_metrics);
	strings_free(s->groups, s->n_groups);
	strings_free(s->notes, s->n_notes);
	for (size_t i = 0; i < s->n_lines; i++)
		free(s->lines[i].t); /* all of them */
	free(s->lines);
	for (uint32_t i = 0; i < s->n_components; i++)
		lp_identity_unref(s->components[i].id);
	free(s->components);
	strmap_release(&s->component_index);
	for (uint32_t i = 0; i < s->n_servers; i++) {
		free(s->servers[i].name);
		free(s->servers[i].group);
	}
	free(s->servers);
	free(s);
}

struct snapshot *snapshot_ref(struct snapshot *s)
{
	__atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
	return s;
}

void snapshot_unref(struct snapshot *s)
{
	if (s && __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) == 0)
		snapshot_free(s);
}

const char *snapshot_level_name(enum snapshot_level level)
{
	static const char *const names[] = {[SNAPSHOT_OK] = "ok",
		[SNAPSHOT_WARNING] = "warning",
		[SNAPSHOT_CRITICAL] = "critical"};

	return names[level];
}

uint32_t snapshot_count(const struct snapshot *s, enum observer_state state)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_servers; i++)
		n += s->servers[i].state == state;
	return n;
}

static bool verdict_copy(struct snapshot *s, const struct lp_verdict *v)
{
	FILE *out = open_memstream(&s->verdict, &s->verdict_size);
	int r = out ? verdict_print_json(out, v) : -1;

	return out && fclose(out) == 0 && r == 0;
}

static bool metrics_copy(struct snapshot *s, const struct lp_verdict *v)
{
	uint32_t n = v->n_tables < SNAPSHOT_METRICS_MAX ? v->n_tables : SNAPSHOT_METRICS_MAX;

	s->metrics = calloc((size_t)n + 1, sizeof(*s->metrics));
	s->units = calloc((size_t)n + 1, sizeof(*s->units));
	if (!s->metrics || !s->units)
		return false;
	for (; s->n_metrics < n; s->n_metrics++) {
		const struct lp_table *t = v->tables[s->n_metrics];

		s->metrics[s->n_metrics] = strdup(t->metric);
		s->units[s->n_metrics] = strdup(t->unit ? t->unit : "");
		if (!s->metrics[s->n_metrics] || !s->units[s->n_metrics])
			return false;
	}
	return true;
}

static bool components_copy(struct snapshot *s, const struct lp_verdict *v)
{
	s->components = calloc((size_t)v->n_components + 1, sizeof(*s->components));
	if (!s->components)
		return false;
	for (uint32_t i = 0; i < v->n_components; i++) {
		struct snapshot_component *c = &s->components[i];

		*c = (struct snapshot_component){.id = lp_identity_ref(v->components[i]),
			.group = UINT32_MAX,
			.ratio = (double)NAN,
			.metric = UINT32_MAX};
		for (uint32_t m = 0; m < s->n_metrics; m++) {
			if (v->row_of[m][i] != UINT32_MAX && !v->tables[m]->beside)
				c->metrics |= UINT64_C(1) << m;
		}
		s->n_components++;
		if (!c->id || strmap_put(&s->component_index, c->id->text, i) < 0)
			return false;
	}
	return true;
}

static bool groups_copy(struct snapshot *s, const struct lp_verdict *v)
{
	s->groups = calloc((size_t)v->n_groups + 1, sizeof(*s->groups));
	if (!s->groups)
		return false;
	for (; s->n_groups < v->n_groups; s->n_groups++) {
		const struct lp_peer_group *g = &v->groups[s->n_groups];

		s->groups[s->n_groups] = strdup(g->name);
		if (!s->groups[s->n_groups])
			return false;
		for (uint32_t i = 0; i < g->n_members; i++) {
			if (s->components[g->members[i]].group == UINT32_MAX)
				s->components[g->members[i]].group = s->n_groups;
		}
	}
	return true;
}

static const char *kind_of(const struct snapshot_component *c)
{
	return c->id ? c->id->kind : "";
}

/* How bad a ratio is, by the role of its metric; above 1 is worse. NaN: unknown. */
static double badness(enum lp_role role, double ratio)
{
	switch (role) {
	case LP_ROLE_LATENCY:
	case LP_ROLE_SERVICE:
	case LP_ROLE_TROUBLE:
	case LP_ROLE_HARM:
		return ratio;
	case LP_ROLE_WINDOW:
	case LP_ROLE_YIELD:
		return ratio > 0 ? 1 / ratio : (double)NAN;
	default:
		return (double)NAN;
	}
}

/* The ratio of a member in its last window with data. */
static double series_ratio(const struct lp_series *s, uint32_t member, enum lp_role role)
{
	for (uint32_t w = s->n_windows; w-- > 0 && s->n_windows - w <= WINDOWS_BACK;) {
		size_t at = (size_t)member * s->n_windows + w;
		double bad;

		if (s->marks[at] == LP_MARK_NONE || s->marks[at] == LP_MARK_ABSENT)
			continue;
		bad = badness(role, s->ratios[at]);
		if (s->marks[at] == LP_MARK_NORMAL && bad > RATIO_NORMAL_MAX)
			bad = RATIO_NORMAL_MAX;
		return bad;
	}
	return (double)NAN;
}

static void ratios_take(struct snapshot *s, const struct lp_verdict *v)
{
	for (uint32_t i = 0; i < v->n_series; i++) {
		const struct lp_series *x = &v->series[i];
		const struct lp_peer_group *g = &v->groups[x->group];

		for (uint32_t m = 0; m < g->n_members; m++) {
			struct snapshot_component *c = &s->components[g->members[m]];
			enum lp_role role =
				lp_metric_role(kind_of(c), v->tables[x->metric]->metric);
			double ratio = series_ratio(x, m, role);

			if (isfinite(ratio) && !(c->ratio >= ratio)) {
				c->ratio = ratio;
				c->metric = x->metric;
			}
		}
	}
}

/* The current suspects and their findings. */
static void suspects_take(struct snapshot *s, const struct lp_verdict *v,
	const struct lp_suspect *list, uint32_t n, enum snapshot_level level)
{
	for (uint32_t i = 0; i < n; i++) {
		struct snapshot_component *c = &s->components[list[i].component];
		const struct lp_finding *f =
			list[i].n_findings ? &v->findings[list[i].findings[0]] : NULL;
		double bad = f ? badness(f->role ? f->role
						 : lp_metric_role(kind_of(c),
							   v->tables[f->metric]->metric),
					 f->ratio)
			       : (double)NAN;

		if (list[i].ended)
			continue;
		if (level > c->level)
			c->level = level;
		/* Show the metric that accuses the component. */
		if (f && isfinite(bad)) {
			c->ratio = bad;
			c->metric = f->metric;
		}
	}
}

/* The time of a point is that of its last slot. */
static double point_time(const struct lp_table *t, uint32_t point, uint32_t n_points)
{
	int64_t slot = (int64_t)(point + 1) * t->n_slots / n_points - 1;

	return (double)lp_table_time(t, slot) / 1e6;
}

static bool line_take(struct snapshot *s, const struct lp_verdict *v, uint32_t component,
	uint32_t group, uint32_t metric)
{
	_cleanup_(peer_lines_release) struct peer_lines p = {0};
	const struct lp_table *t = v->tables[metric];
	struct snapshot_line *l;
	size_t n;

	if (array_reserve(&s->lines, &s->cap_lines, s->n_lines + 1, sizeof(*s->lines)) < 0 ||
		peer_lines_make(v, component, group, metric, LINE_POINTS, &p) < 0)
		return false;
	n = p.n_points;
	l = &s->lines[s->n_lines];
	*l = (struct snapshot_line){.component = component,
		.metric = metric,
		.n = p.n_points,
		.n_peers = p.n_others,
		.step_s = n ? (double)t->step_us / 1e6 * ((double)t->n_slots / (double)n) : 0,
		.t = calloc(5 * n + 1, sizeof(double))};
	if (!l->t)
		return false;
	s->n_lines++;
	l->own = l->t + n;
	l->median = l->own + n;
	l->low = l->median + n;
	l->high = l->low + n;
	for (uint32_t i = 0; i < n; i++)
		l->t[i] = point_time(t, i, p.n_points);
	memcpy(l->own, p.own, n * sizeof(double));
	memcpy(l->median, p.median, n * sizeof(double));
	memcpy(l->low, p.bottom, n * sizeof(double));
	memcpy(l->high, p.top, n * sizeof(double));
	return true;
}

/* Is it pooled from other components? */
static bool is_pooled(const struct lp_identity *id)
{
	struct connection c;

	return remote_parse(id, &c) && c.end != CONNECTION_REMOTE;
}

/* Keep all metrics of suspects that are pooled. */
static bool lines_take(struct snapshot *s, const struct lp_verdict *v)
{
	uint32_t n = v->n_suspects < LINES_SUSPECTS_MAX ? v->n_suspects : LINES_SUSPECTS_MAX;

	for (uint32_t i = 0; i < n; i++) {
		const struct lp_suspect *x = &v->suspects[i];

		if (x->group >= v->n_groups || !is_pooled(v->components[x->component]))
			continue;
		for (uint32_t m = 0; m < s->n_metrics; m++) {
			if ((s->components[x->component].metrics >> m & 1) &&
				!line_take(s, v, x->component, x->group, m))
				return false;
		}
	}
	return true;
}

static bool notes_take(struct snapshot *s, const struct lp_verdict *v)
{
	uint32_t n = 0;

	s->notes = calloc((size_t)v->n_unknown + v->n_notes + 1, sizeof(*s->notes));
	for (uint32_t i = 0; s->notes && i < v->n_unknown; i++)
		s->notes[n++] = strdup(v->unknown[i]);
	for (uint32_t i = 0; s->notes && i < v->n_notes; i++)
		s->notes[n++] = strdup(v->notes[i]);
	s->n_notes = n;
	return s->notes != NULL;
}

static bool verdict_take(struct snapshot *s, const struct lp_verdict *v)
{
	if (!verdict_copy(s, v) || !metrics_copy(s, v) || !components_copy(s, v) ||
		!groups_copy(s, v) || !notes_take(s, v) || !lines_take(s, v))
		return false;
	s->status = v->status;
	s->n_suspects = v->n_suspects;
	s->n_warnings = v->n_warnings;
	s->n_absent = v->n_absent;
	ratios_take(s, v);
	suspects_take(s, v, v->warnings, v->n_warnings, SNAPSHOT_WARNING);
	suspects_take(s, v, v->suspects, v->n_suspects, SNAPSHOT_CRITICAL);
	suspects_take(s, v, v->absent, v->n_absent, SNAPSHOT_CRITICAL);
	return true;
}

static int server_compare(const void *a, const void *b)
{
	const struct snapshot_server *x = a, *y = b;
	int r = strcmp(x->group, y->group);

	return r ? r : strverscmp(x->name, y->name);
}

/* Samples that came too late are mentioned for so long. */
#define FILLED_IN_US (600 * US_PER_SEC)
/* A server that has just begun may be some seconds behind. */
#define FILLED_IN_LEAST_US (10 * US_PER_SEC)

static bool servers_copy(struct snapshot *s, const struct observers *o, const struct topology *t)
{
	char part[300];

	s->servers = calloc(o->n + 1, sizeof(*s->servers));
	if (!s->servers)
		return false;
	for (size_t i = 0; i < o->n; i++) {
		const struct observer *x = &o->items[i];
		bool grouped = sightings_part_of(t, x->name, part, sizeof(part));
		const char *value = grouped ? strchr(part, ':') + 1 : "";

		s->servers[s->n_servers++] = (struct snapshot_server){.name = strdup(x->name),
			.group = strdup(value),
			.state = x->state,
			.ratio = (double)NAN,
			.worst = UINT32_MAX,
			.last_us = x->last_us,
			.heard_us = x->heard_us,
			.skew_us = x->skew_us,
			.n_samples = x->n_samples};
		if (!s->servers[i].name || !s->servers[i].group)
			return false;
		s->n_filled_in +=
			x->late_heard_us > INT64_MIN && s->now_us - x->late_heard_us < FILLED_IN_US;
	}
	return true;
}

/* Rules may apply to components only. Then the group of a server is that of its first components,
 * if they agree. */
static bool servers_group(struct snapshot *s, const struct topology *t)
{
	struct strmap index = {0};
	char part[300];
	uint32_t at;

	for (uint32_t i = 0; t && i < s->n_servers; i++) {
		if (!*s->servers[i].group && strmap_put(&index, s->servers[i].name, i << 3) < 0)
			return false;
	}
	for (uint32_t i = 0; index.n && i < s->n_components; i++) {
		const struct lp_identity *id = s->components[i].id;
		struct snapshot_server *x;

		if (!id || !strmap_get(&index, id->observer, &at) || (at & 7) >= GROUPED_BY)
			continue;
		x = &s->servers[at >> 3];
		if (!sightings_part_of_component(t, id, part, sizeof(part)))
			continue;
		if (!(at & 7) || strcmp(x->group, strchr(part, ':') + 1) != 0) {
			free(x->group);
			x->group = strdup(at & 7 ? "" : strchr(part, ':') + 1);
		}
		if (!x->group || strmap_put(&index, id->observer, *x->group ? at + 1 : at | 7) < 0)
			return false;
	}
	strmap_release(&index);
	if (s->n_servers)
		qsort(s->servers, s->n_servers, sizeof(*s->servers), server_compare);
	return true;
}

/* The state of a server is that of its components. */
static bool servers_rate(struct snapshot *s)
{
	struct strmap index = {0};
	uint32_t at;

	for (uint32_t i = 0; i < s->n_servers; i++) {
		if (strmap_put(&index, s->servers[i].name, i) < 0)
			return false;
	}
	for (uint32_t i = 0; i < s->n_components; i++) {
		const struct snapshot_component *c = &s->components[i];
		struct snapshot_server *x;

		if (!c->id || !strmap_get(&index, c->id->observer, &at))
			continue;
		x = &s->servers[at];
		if (c->level > x->level ||
			(c->level == x->level && isfinite(c->ratio) && !(x->ratio >= c->ratio))) {
			x->ratio = c->ratio;
			x->worst = i;
		}
		x->level = c->level > x->level ? c->level : x->level;
	}
	for (uint32_t i = 0; i < s->n_servers; i++) {
		if (s->servers[i].state == OBSERVER_SILENT)
			s->servers[i].level = SNAPSHOT_CRITICAL;
	}
	strmap_release(&index);
	return true;
}

struct snapshot *snapshot_new(const struct lp_verdict *v, int64_t watermark_us,
	const struct observers *o, const struct topology *t, int64_t now_us)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->refs = 1;
	s->status = LP_STATUS_UNKNOWN;
	s->watermark_us = v ? watermark_us : INT64_MIN;
	s->now_us = now_us;
	if (servers_copy(s, o, t) && (!v || verdict_take(s, v)) && servers_group(s, t) &&
		servers_rate(s))
		return s;
	snapshot_unref(s);
	return NULL;
}
