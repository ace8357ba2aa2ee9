#include "unit.h"

#include "base/time.h"
#include "detect/mild.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS 12
#define WINDOWS 24
#define DAYS 4

/* A comparison of windows of a quarter of an hour, each shifted by half of that. */
struct mild_rig {
	struct comparison c;
	struct detect_options opt;
	struct lp_verdict v;
	struct lp_table table, *tables;
	struct lp_peer_group group;
	struct lp_series series;
	struct lp_identity *components[MEMBERS];
	uint32_t members[MEMBERS], first[WINDOWS * DAYS], last[WINDOWS * DAYS];
	float ratios[MEMBERS * WINDOWS * DAYS], own[MEMBERS * WINDOWS * DAYS];
	float peers[MEMBERS * WINDOWS * DAYS];
	struct findings found;
};

/* Noise of `spread`, the same in every run. */
static double noise(uint32_t member, uint32_t window, double spread)
{
	return exp(spread * sin(12.9898 * member + 78.233 * window + member * window));
}

/* Each disk belongs to a separate host, or to one of `n_hosts`. */
static void rig_hosts(struct mild_rig *r, uint32_t n_hosts)
{
	r->v.components = r->components;
	for (uint32_t i = 0; i < MEMBERS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "h%u/disk:d%u", i % n_hosts, i);
		lp_identity_unref(r->components[i]);
		r->components[i] = lp_identity_parse(name);
	}
}

/* Noise of `spread` in all windows, which are those of some hours of each day. */
static void rig_fill(struct mild_rig *r, uint32_t n_windows, double spread)
{
	r->series.n_windows = n_windows;
	for (uint32_t w = 0; w < n_windows; w++) {
		r->first[w] = 30 * (w % WINDOWS) + (uint32_t)(w / WINDOWS) * 24 * 240;
		r->last[w] = r->first[w] + 59;
	}
	for (uint32_t i = 0; i < MEMBERS; i++) {
		r->members[i] = i;
		for (uint32_t w = 0; w < n_windows; w++) {
			size_t at = (size_t)i * n_windows + w;

			r->ratios[at] = (float)noise(i, w, spread);
			r->peers[at] = 10;
			r->own[at] = 10 * r->ratios[at];
		}
	}
}

static void rig_init(struct mild_rig *r, double spread)
{
	memset(r, 0, sizeof(*r));
	r->tables = &r->table;
	r->table.step_us = 15 * US_PER_SEC;
	r->v.tables = &r->tables;
	r->v.groups = &r->group;
	r->group.members = r->members;
	r->group.n_members = MEMBERS;
	r->series = (struct lp_series){
		.n_windows = WINDOWS, .ratios = r->ratios, .first = r->first, .last = r->last};
	r->opt.warn_at = 1;
	r->c = (struct comparison){.opt = &r->opt,
		.v = &r->v,
		.series = &r->series,
		.role = LP_ROLE_LATENCY,
		.calibrated = true,
		.span = 192,
		.own = r->own,
		.peers = r->peers};
	r->c.params = (struct lp_params){15, 60, 30, 3, 15 * US_PER_SEC};
	r->c.smoothed.n_members = MEMBERS;
	r->table.n_slots = 24 * 240 * DAYS;
	rig_hosts(r, MEMBERS);
	rig_fill(r, WINDOWS, spread);
}

static void make_slow(
	struct mild_rig *r, uint32_t member, double factor, uint32_t first, uint32_t last)
{
	for (uint32_t w = first; w <= last; w++) {
		r->ratios[member * r->series.n_windows + w] *= (float)factor;
		r->own[member * r->series.n_windows + w] *= (float)factor;
	}
}

/* What is found; the caller frees nothing. */
static size_t find(struct mild_rig *r)
{
	free(r->found.items);
	r->found = (struct findings){0};
	assert_int_equal(mild_find(&r->c, 0, 0, &r->found), 0);
	return r->found.n;
}

static void rig_release(struct mild_rig *r)
{
	free(r->found.items);
	for (uint32_t i = 0; i < MEMBERS; i++)
		lp_identity_unref(r->components[i]);
}

/* How far outside the peers' own spread decides, not how far. */
static void test_certain(void **state)
{
	struct mild_rig r;

	(void)state;
	rig_init(&r, 0.05);
	assert_int_equal(find(&r), 0);
	make_slow(&r, 5, 1.25, 0, WINDOWS - 1);
	assert_int_equal(find(&r), 1);
	if (!r.found.items)
		abort();
	assert_int_equal(r.found.items[0].component, 5);
	assert_int_equal(r.found.items[0].direction, LP_MARK_ABOVE);
	assert_true(r.found.items[0].mild && r.found.items[0].culprit);
	assert_true(r.found.items[0].distance >= 1);
	assert_true(r.found.items[0].ratio > 1.2 && r.found.items[0].ratio < 1.3);
	assert_true(r.found.items[0].since_before);
	assert_int_equal(r.found.items[0].n_windows, WINDOWS);
	rig_release(&r);
	rig_init(&r, 0.5);
	make_slow(&r, 5, 1.25, 0, WINDOWS - 1);
	assert_int_equal(find(&r), 0);
	rig_release(&r);
}

/* A small difference is never reported, however certain; a component that is twice as slow is no
 * longer mild. */
static void test_size(void **state)
{
	struct mild_rig r;

	(void)state;
	rig_init(&r, 0.01);
	make_slow(&r, 5, 1.1, 0, WINDOWS - 1);
	make_slow(&r, 6, 3, 0, WINDOWS - 1);
	assert_int_equal(find(&r), 1);
	if (!r.found.items)
		abort();
	assert_int_equal(r.found.items[0].component, 6);
	assert_false(r.found.items[0].mild);
	assert_true(r.found.items[0].weight >= 1);
	rig_release(&r);
}

/* For hours, and steadily: not in half of the windows, nor where there are too few. */
static void test_lasts(void **state)
{
	struct mild_rig r;

	(void)state;
	rig_init(&r, 0.05);
	make_slow(&r, 5, 1.5, 0, WINDOWS / 2 - 1);
	assert_int_equal(find(&r), 0);
	make_slow(&r, 5, 1.5, WINDOWS / 2, WINDOWS - 1);
	assert_int_equal(find(&r), 1);
	r.c.params.step_us /= 8;
	assert_int_equal(find(&r), 0);
	rig_release(&r);
}

/* It may have been over for long: parts of a span are looked at by themselves. */
static void test_parts(void **state)
{
	struct mild_rig r;

	(void)state;
	rig_init(&r, 0.02);
	r.c.params.win_shift *= 2;
	make_slow(&r, 5, 1.4, 8, WINDOWS - 1);
	assert_int_equal(find(&r), 0);
	r.c.span = 16;
	assert_int_equal(find(&r), 1);
	if (!r.found.items)
		abort();
	assert_false(r.found.items[0].since_before);
	rig_release(&r);
}

/* What no day shows for certain is certain if all of them show it: each day each disk is off by as
 * much as by chance, one of them always to the same side. */
static void test_days(void **state)
{
	struct mild_rig r;

	(void)state;
	rig_init(&r, 0.02);
	rig_fill(&r, WINDOWS * DAYS, 0.3);
	for (uint32_t i = 0; i < MEMBERS; i++) {
		for (uint32_t d = 0; d < DAYS; d++)
			make_slow(&r, i, noise(i + 3, d, 0.1), d * WINDOWS, (d + 1) * WINDOWS - 1);
	}
	assert_int_equal(find(&r), 0);
	make_slow(&r, 5, 1.3, 0, WINDOWS * DAYS - 1);
	assert_int_equal(find(&r), 1);
	if (!r.found.items)
		abort();
	assert_int_equal(r.found.items[0].component, 5);
	assert_true(r.found.items[0].mild && r.found.items[0].since_before);
	assert_true(r.found.items[0].distance >= 1);
	/* Two days are too few, and one as before may be chance. */
	make_slow(&r, 5, 1 / 1.3, 0, 2 * WINDOWS - 1);
	assert_int_equal(find(&r), 0);
	rig_release(&r);
}

/* A component that is slow together with those beside it is of another class, or of a slow host. */
static void test_cohort(void **state)
{
	struct mild_rig r;

	(void)state;
	rig_init(&r, 0.02);
	rig_hosts(&r, 3);
	for (uint32_t i = 1; i < MEMBERS; i += 3)
		make_slow(&r, i, 1.4, 0, WINDOWS - 1);
	assert_int_equal(find(&r), 0);
	make_slow(&r, 4, 1.4, 0, WINDOWS - 1); /* and one of them more so */
	assert_int_equal(find(&r), 1);
	assert_true(r.found.items && r.found.items[0].component == 4);
	rig_release(&r);
}

/* Where nothing is compared by its own spread, or few are compared, nothing is said. */
static void test_not_asked(void **state)
{
	struct mild_rig r;

	(void)state;
	rig_init(&r, 0.02);
	make_slow(&r, 5, 1.4, 0, WINDOWS - 1);
	assert_int_equal(find(&r), 1);
	r.opt.warn_at = 100;
	assert_int_equal(find(&r), 0);
	r.opt.warn_at = 1;
	r.c.span = 0; /* parameters by hand */
	assert_int_equal(find(&r), 0);
	r.c.span = 192;
	r.c.calibrated = false;
	assert_int_equal(find(&r), 0);
	r.c.calibrated = true;
	r.c.role = LP_ROLE_WORK;
	assert_int_equal(find(&r), 0);
	r.c.role = LP_ROLE_YIELD; /* more is better */
	assert_int_equal(find(&r), 0);
	r.c.role = LP_ROLE_LATENCY;
	r.c.smoothed.n_members = 5;
	assert_int_equal(find(&r), 0);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_certain),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_lasts),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_days),
		cmocka_unit_test(test_cohort),
		cmocka_unit_test(test_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
