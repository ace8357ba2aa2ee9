/* Tables with invented disks, for tests of detection. */
#ifndef DETECT_RIG_H
#define DETECT_RIG_H

#include "unit.h"

#include "detect/detect.h"
#include "identity_rig.h"
#include "oracle.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIG_TABLES_MAX 4

struct rig {
	struct lp_table **tables;
	uint32_t n_tables, n_components, n_slots;
	struct lp_verdict *verdict;
};

/* `n` disks, one per server, for `n_slots` samples of 1 s. */
static inline void rig_init(struct rig *r, uint32_t n, uint32_t n_slots)
{
	*r = (struct rig){.n_components = n, .n_slots = n_slots};
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	r->tables = calloc(RIG_TABLES_MAX, sizeof(*r->tables));
	assert_non_null(r->tables);
}

/* A table of a metric; the test fills in its values. */
static inline double *rig_add(struct rig *r, const char *metric, const char *unit)
{
	struct lp_table *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	assert_true(r->n_tables < RIG_TABLES_MAX);
	*t = (struct lp_table){.metric = strdup(metric),
		.unit = strdup(unit),
		.start_us = 1000000000,
		.step_us = 1000000,
		.n_slots = r->n_slots,
		.n_components = r->n_components,
		.components = calloc(r->n_components, sizeof(struct lp_identity *)),
		.values = calloc((size_t)r->n_components * r->n_slots + 1, sizeof(double))};
	assert_non_null(t->components);
	assert_non_null(t->values);
	for (uint32_t i = 0; i < r->n_components; i++)
		t->components[i] = identity_printf("oss%u/disk:sda", i);
	r->tables[r->n_tables++] = t;
	return t->values;
}

/* Noise around `level`, the same level for all at a time, like healthy peers. */
static inline double *rig_add_noise(
	struct rig *r, const char *metric, const char *unit, double level, double noise)
{
	double *values = rig_add(r, metric, unit);

	for (uint32_t s = 0; s < r->n_slots; s++) {
		double now = level * (1 + 0.5 * sin(s / 40.0));

		for (uint32_t i = 0; i < r->n_components; i++)
			values[(size_t)i * r->n_slots + s] =
				now * (1 + noise * (oracle_uniform() - 0.5));
	}
	return values;
}

/* Multiply the values of one of them, from a slot on. */
static inline void rig_scale(
	const struct rig *r, double *values, uint32_t component, uint32_t from, double factor)
{
	for (uint32_t s = from; s < r->n_slots; s++)
		values[(size_t)component * r->n_slots + s] *= factor;
}

static inline struct lp_verdict *rig_run(struct rig *r, const struct detect_options *opt)
{
	struct lp_err err = {0};

	assert_int_equal(detect_run(r->tables, r->n_tables, opt, &r->verdict, &err), 0);
	r->tables = NULL;
	return r->verdict;
}

static inline void rig_release(struct rig *r)
{
	lp_verdict_free(r->verdict);
}

/* The finding about a component in a metric, or NULL. */
static inline const struct lp_finding *rig_finding(
	const struct lp_verdict *v, uint32_t component, const char *metric)
{
	for (uint32_t i = 0; i < v->n_findings; i++) {
		if (v->findings[i].component == component &&
			!strcmp(v->tables[v->findings[i].metric]->metric, metric))
			return &v->findings[i];
	}
	return NULL;
}

static inline bool rig_accused(const struct lp_verdict *v, uint32_t component)
{
	for (uint32_t i = 0; i < v->n_findings; i++) {
		const struct lp_finding *f = &v->findings[i];

		if (f->component == component && f->culprit && !f->explained_by_load &&
			!f->explained_by_idle)
			return true;
	}
	return false;
}

static inline uint32_t rig_n_accused(const struct lp_verdict *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_components; i++)
		n += rig_accused(v, i);
	return n;
}

#endif
