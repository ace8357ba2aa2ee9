/* Hand-made verdicts, as detection leaves them: groups of components, marks, findings. A window is
 * two slots of a minute; the next one begins one slot later. */
#ifndef EXPLAIN_RIG_H
#define EXPLAIN_RIG_H

#include "unit.h"

#include "base/time.h"
#include "explain/explain.h"
#include <limpet/metric.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIG_START_US (INT64_C(1304899200) * US_PER_SEC)
#define RIG_STEP_US (60 * US_PER_SEC)
#define RIG_FINDINGS_MAX 8192
#define RIG_MEMBERS_MAX 4096

struct rig {
	struct lp_verdict *v;
	uint32_t n_windows;
	struct topology *topology;
	struct operator_state *state;
};

static inline void rig_init(struct rig *r, uint32_t n_windows)
{
	*r = (struct rig){.n_windows = n_windows};
	r->v = calloc(1, sizeof(*r->v));
	assert_non_null(r->v);
	r->v->method = "cdf";
	r->v->params = (struct lp_params){1, 2, 1, 3, RIG_STEP_US};
	r->v->findings = calloc(RIG_FINDINGS_MAX, sizeof(*r->v->findings));
}

static inline void rig_release(struct rig *r)
{
	lp_verdict_free(r->v);
	topology_free(r->topology);
	state_close(r->state);
}

static inline void rig_topology(struct rig *r, const char *yaml)
{
	struct lp_err err = {0};

	if (topology_parse(yaml, strlen(yaml), "site.yaml", &r->topology, &err) < 0)
		fail_msg("%s", err.text);
}

/* Add a component to a group, which is created with its first component. */
static inline uint32_t rig_add(struct rig *r, const char *group, const char *component)
{
	struct lp_verdict *v = r->v;
	struct lp_peer_group *g = NULL;

	v->components =
		reallocarray(v->components, v->n_components + 1, sizeof(struct lp_identity *));
	v->components[v->n_components] = lp_identity_parse(component);
	for (uint32_t i = 0; i < v->n_groups; i++) {
		if (!strcmp(v->groups[i].name, group))
			g = &v->groups[i];
	}
	if (!g) {
		v->groups = reallocarray(v->groups, v->n_groups + 1, sizeof(*v->groups));
		g = &v->groups[v->n_groups++];
		*g = (struct lp_peer_group){.name = strdup(group)};
		g->members = calloc(RIG_MEMBERS_MAX, sizeof(uint32_t));
	}
	assert_true(g->n_members < RIG_MEMBERS_MAX);
	g->members[g->n_members++] = v->n_components;
	return v->n_components++;
}

/* One disk "sdb" on each of n servers "oss1" ... */
static inline void rig_disks(struct rig *r, uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "oss%u/disk:sdb", i);
		rig_add(r, "disk", name);
	}
}

static inline void rig_series(struct rig *r, uint32_t group, uint32_t metric)
{
	struct lp_verdict *v = r->v;
	size_t cells = (size_t)v->groups[group].n_members * r->n_windows;
	struct lp_series *s;

	v->series = reallocarray(v->series, v->n_series + 1, sizeof(*s));
	s = &v->series[v->n_series++];
	*s = (struct lp_series){
		.group = group, .metric = metric, .n_windows = r->n_windows, .method = "cdf"};
	s->marks = malloc(cells);
	s->ratios = calloc(cells, sizeof(float));
	s->distances = calloc(cells, sizeof(float));
	s->thresholds = calloc(v->groups[group].n_members, sizeof(double));
	s->first = calloc(r->n_windows, sizeof(uint32_t));
	s->last = calloc(r->n_windows, sizeof(uint32_t));
	memset(s->marks, LP_MARK_NORMAL, cells);
	for (size_t i = 0; i < cells; i++) {
		s->ratios[i] = 1;
		s->distances[i] = NAN;
	}
	for (uint32_t w = 0; w < r->n_windows; w++) {
		s->first[w] = w;
		s->last[w] = w + 1;
	}
}

/* Add a metric of the components of a kind, with the value 10 everywhere, and a series for each
 * group that has such components. All components must exist. */
static inline uint32_t rig_metric(struct rig *r, const char *kind, const char *metric)
{
	struct lp_verdict *v = r->v;
	const struct lp_metric *known = lp_metric_find(kind, metric);
	struct lp_table *t = calloc(1, sizeof(*t));
	uint32_t *rows = calloc(v->n_components + 1, sizeof(uint32_t)), m = v->n_tables;

	*t = (struct lp_table){.metric = strdup(metric),
		.unit = strdup(known ? known->unit : ""),
		.start_us = RIG_START_US,
		.step_us = RIG_STEP_US,
		.n_slots = r->n_windows + 1,
		.components = calloc(v->n_components + 1, sizeof(struct lp_identity *)),
		.values =
			calloc((size_t)(r->n_windows + 1) * (v->n_components + 1), sizeof(double))};
	v->tables = reallocarray(v->tables, m + 1, sizeof(struct lp_table *));
	v->row_of = reallocarray(v->row_of, m + 1, sizeof(uint32_t *));
	v->tables[m] = t;
	v->row_of[m] = rows;
	v->n_tables++;
	for (uint32_t c = 0; c < v->n_components; c++) {
		char buf[64];

		rows[c] = UINT32_MAX;
		if (strcmp(topology_attribute(NULL, v->components[c], "kind", buf, sizeof(buf)),
			    kind) != 0)
			continue;
		rows[c] = t->n_components;
		t->components[t->n_components++] = lp_identity_ref(v->components[c]);
		for (uint32_t i = 0; i < t->n_slots; i++)
			t->values[(size_t)rows[c] * t->n_slots + i] = 10;
	}
	for (uint32_t g = 0; g < v->n_groups; g++) {
		if (rows[v->groups[g].members[0]] != UINT32_MAX)
			rig_series(r, g, m);
	}
	return m;
}

static inline uint32_t rig_component(const struct rig *r, const char *component)
{
	for (uint32_t c = 0; c < r->v->n_components; c++) {
		if (!strcmp(r->v->components[c]->text, component))
			return c;
	}
	fail_msg("no component %s", component);
	return 0;
}

static inline uint32_t rig_metric_find(const struct rig *r, const char *metric)
{
	for (uint32_t m = 0; m < r->v->n_tables; m++) {
		if (!strcmp(r->v->tables[m]->metric, metric))
			return m;
	}
	fail_msg("no metric %s", metric);
	return 0;
}

/* Set `series` and `member` of a finding from its component and metric. */
static inline void rig_locate(const struct rig *r, struct lp_finding *f)
{
	for (uint32_t s = 0; s < r->v->n_series; s++) {
		const struct lp_peer_group *g = &r->v->groups[r->v->series[s].group];

		for (uint32_t i = 0; r->v->series[s].metric == f->metric && i < g->n_members; i++) {
			if (g->members[i] == f->component) {
				f->series = s;
				f->group = r->v->series[s].group;
				f->member = i;
				return;
			}
		}
	}
	fail_msg("no series");
}

/* Mark the windows first .. last and overwrite their values. */
static inline void rig_mark(
	struct rig *r, const struct lp_finding *f, uint32_t first, uint32_t last)
{
	struct lp_series *s = &r->v->series[f->series];
	struct lp_table *t = r->v->tables[f->metric];
	uint32_t row = r->v->row_of[f->metric][f->component];

	for (uint32_t w = first; w <= last; w++) {
		s->marks[(size_t)f->member * s->n_windows + w] = (uint8_t)f->direction;
		s->ratios[(size_t)f->member * s->n_windows + w] = (float)f->ratio;
		s->distances[(size_t)f->member * s->n_windows + w] = (float)f->distance;
		t->values[(size_t)row * t->n_slots + w] = f->own;
		t->values[(size_t)row * t->n_slots + w + 1] = f->own;
	}
}

/* The component differs in the windows first .. last (own NaN: no data). By default it is a
 * culprit. */
static inline struct lp_finding *rig_find(struct rig *r, const char *component, const char *metric,
	enum lp_mark direction, double own, double peers, uint32_t first, uint32_t last)
{
	struct lp_finding *f = &r->v->findings[r->v->n_findings++];
	uint32_t n = last - first + 1;

	assert_true(r->v->n_findings <= RIG_FINDINGS_MAX);
	*f = (struct lp_finding){.component = rig_component(r, component),
		.metric = rig_metric_find(r, metric),
		.direction = direction,
		.n_windows = r->n_windows,
		.n_anomalous = n,
		.peak = n,
		.first_us = RIG_START_US + (first - INT64_C(1)) * RIG_STEP_US,
		.last_us = RIG_START_US + (last + INT64_C(1)) * RIG_STEP_US,
		.indicted_us = RIG_START_US + (first + INT64_C(3)) * RIG_STEP_US,
		.own = own,
		.peers = peers,
		.ratio = direction == LP_MARK_ABSENT ? 0
			: peers > 0		     ? own / peers
						     : INFINITY,
		.distance = 20,
		.threshold = 5,
		.weight = 2,
		.load_ratio = NAN,
		.culprit = true};
	f->persistence = n > r->n_windows - 1 - last ? n - (r->n_windows - 1 - last) : 0;
	rig_locate(r, f);
	rig_mark(r, f, first, last);
	return f;
}

static inline void rig_explain(struct rig *r)
{
	struct lp_err err = {0};

	if (explain_verdict(r->v, r->topology, NULL, r->state, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

/* The suspect, or the absent component, with that name, or NULL. */
static inline const struct lp_suspect *rig_suspect(const struct rig *r, const char *component)
{
	for (uint32_t i = 0; i < r->v->n_suspects; i++) {
		if (!strcmp(r->v->components[r->v->suspects[i].component]->text, component))
			return &r->v->suspects[i];
	}
	for (uint32_t i = 0; i < r->v->n_absent; i++) {
		if (!strcmp(r->v->components[r->v->absent[i].component]->text, component))
			return &r->v->absent[i];
	}
	return NULL;
}

static inline const char *rig_cause(const struct rig *r, const char *component)
{
	const struct lp_suspect *s = rig_suspect(r, component);

	return s ? s->cause : "(no suspect)";
}

static inline const char *rig_asymmetry(const struct rig *r, const char *component)
{
	for (uint32_t i = 0; i < r->v->n_asymmetries; i++) {
		if (!strcmp(r->v->components[r->v->asymmetries[i].component]->text, component))
			return r->v->asymmetries[i].cause;
	}
	return "(no asymmetry)";
}

/* The incident about that part, or NULL. */
static inline const struct lp_incident *rig_incident(const struct rig *r, const char *part)
{
	for (uint32_t i = 0; i < r->v->n_incidents; i++) {
		if (!strcmp(r->v->incidents[i].part, part))
			return &r->v->incidents[i];
	}
	return NULL;
}

/* Fail and print all incidents, unless there are n. */
static inline void rig_expect_incidents(const struct rig *r, uint32_t n)
{
	for (uint32_t i = 0; r->v->n_incidents != n && i < r->v->n_incidents; i++)
		print_error("%s: %s (%u)\n", r->v->incidents[i].part, r->v->incidents[i].summary,
			r->v->incidents[i].n_components);
	assert_int_equal(r->v->n_incidents, n);
}

#endif
