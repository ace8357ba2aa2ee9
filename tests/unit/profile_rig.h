/* Tables with invented functions, for tests of vectors. */
#ifndef PROFILE_RIG_H
#define PROFILE_RIG_H

#include "detect/detect.h"
#include "identity_rig.h"
#include "vectors.h"
#include <stdio.h>

/* The profile of observers: function f has a share in proportion to 1 / (f + 1), the usual
 * shape.
 */
struct profile {
	const char *metric, *unit;
	uint32_t n_observers, n_functions, n_slots;
	int64_t step_us;
	double total; /* of all functions, per slot */
	double noise; /* relative to the value; below 0: that of counting, the square root */
};

/* Approximately normally distributed. */
static inline double profile_normal(void)
{
	double sum = 0;

	for (int i = 0; i < 4; i++)
		sum += vectors_uniform() - 0.5;
	return sum * 1.7320508;
}

static inline double profile_value(const struct profile *p, double level)
{
	double noise = p->noise < 0 ? sqrt(level) : level * p->noise;
	double value = level + noise * profile_normal();

	/* Small counts of samples are whole numbers, mostly 0. */
	if (p->noise < 0 && level < 3)
		return vectors_uniform() < level / 3 ? 3 : 0;
	return value > 0 ? value : 0;
}

static inline double *profile_row(struct lp_table *t, uint32_t row)
{
	return t->values + (size_t)row * t->n_slots;
}

static inline struct lp_table *profile_make(const struct profile *p)
{
	struct lp_table *t = calloc(1, sizeof(*t));
	double harmonic = 0;

	assert_non_null(t);
	*t = (struct lp_table){.metric = strdup(p->metric),
		.unit = strdup(p->unit),
		.start_us = 1000000000,
		.step_us = p->step_us,
		.n_slots = p->n_slots,
		.n_components = p->n_observers * p->n_functions};
	t->components = calloc(t->n_components, sizeof(struct lp_identity *));
	t->values = calloc((size_t)t->n_components * t->n_slots + 1, sizeof(double));
	assert_true(t->components && t->values);
	for (uint32_t f = 0; f < p->n_functions; f++)
		harmonic += 1.0 / (f + 1);
	for (uint32_t i = 0; i < t->n_components; i++) {
		uint32_t f = i / p->n_observers;

		t->components[i] = identity_printf("oss%u/function:f%u", i % p->n_observers, f);
		for (uint32_t s = 0; s < p->n_slots; s++) {
			double now = 1 + 0.4 * sin(s / 9.0); /* all have the same load */

			profile_row(t, i)[s] =
				profile_value(p, now * p->total / harmonic / (f + 1));
		}
	}
	return t;
}

/* Multiply one observer's values of a function, and add to them, from a slot on. */
static inline void profile_change(const struct profile *p, struct lp_table *t, uint32_t observer,
	uint32_t function, uint32_t from, double factor, double add)
{
	double *row = profile_row(t, function * p->n_observers + observer);

	for (uint32_t s = from; s < t->n_slots; s++)
		row[s] = row[s] * factor + add;
}

/* All of an observer is missing in slots from .. to - 1. */
static inline void profile_lose(
	const struct profile *p, struct lp_table *t, uint32_t observer, uint32_t from, uint32_t to)
{
	for (uint32_t f = 0; f < p->n_functions; f++) {
		for (uint32_t s = from; s < to; s++)
			profile_row(t, f * p->n_observers + observer)[s] = NAN;
	}
}

/* Only metrics that vectors compare. */
static inline struct detect_options profile_options(uint32_t win_size)
{
	static const char *const groups[] = {"functions"};

	return (struct detect_options){.groups = groups,
		.n_groups = 1,
		.params = {.win_size = win_size, .win_shift = win_size / 2, .k = 3}};
}

static inline struct lp_verdict *profile_run(struct lp_table *t, const struct detect_options *opt)
{
	struct lp_table **tables = calloc(1, sizeof(struct lp_table *));
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};

	assert_non_null(tables);
	tables[0] = t;
	if (detect_run(tables, 1, opt, &v, &err) < 0)
		fail_msg("%s", err.text);
	return v;
}

static inline const char *profile_accused(const struct lp_verdict *v, uint32_t finding)
{
	return v->components[v->findings[finding].component]->text;
}

#endif
