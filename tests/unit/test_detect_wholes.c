/* Whole observers that became slow, where observers are compared apart. */
#include "unit.h"

#include "base/time.h"
#include "detect/wholes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBSERVERS 6
#define DISKS 4
#define MEMBERS (OBSERVERS * DISKS)
#define SLOTS 640
#define WORK 0
#define WAIT 1

/* Observers of different classes, each a separate group. */
struct wholes_rig {
	struct lp_verdict v;
	struct lp_table table[2], *tables[2];
	struct lp_identity *components[MEMBERS];
	struct lp_peer_group groups[OBSERVERS];
	struct lp_series series[OBSERVERS];
	uint32_t members[MEMBERS], row_of[MEMBERS], *rows[2];
	double values[2][MEMBERS * SLOTS];
	struct findings found;
};

/* Noise of some percent, the same in every run. */
static double noise(uint32_t member, uint32_t slot)
{
	return exp(0.05 * sin(12.9898 * member + 78.233 * slot + member * slot));
}

static void rig_tables(struct wholes_rig *r)
{
	static const char *const metrics[] = {"throughput", "latency"};

	for (uint32_t t = 0; t < 2; t++) {
		r->table[t] = (struct lp_table){.metric = (char *)metrics[t],
			.unit = "",
			.step_us = 60 * US_PER_SEC,
			.start_us = 60000 * US_PER_SEC,
			.n_slots = SLOTS,
			.n_components = MEMBERS,
			.values = r->values[t]};
		r->tables[t] = &r->table[t];
		r->rows[t] = r->row_of;
	}
	for (uint32_t i = 0; i < MEMBERS; i++) {
		uint32_t class = 1 + i / DISKS;

		for (uint32_t s = 0; s < SLOTS; s++) {
			r->values[WORK][i * SLOTS + s] = 1000 * noise(i, s);
			r->values[WAIT][i * SLOTS + s] =
				class * (2 + 0.05 * sin(s / 50.0)) * noise(i + 1, s);
		}
	}
}

static void rig_init(struct wholes_rig *r)
{
	memset(r, 0, sizeof(*r));
	rig_tables(r);
	for (uint32_t i = 0; i < MEMBERS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "h%u/disk:d%u", i / DISKS, i % DISKS);
		r->components[i] = lp_identity_parse(name);
		r->members[i] = r->row_of[i] = i;
	}
	for (uint32_t o = 0; o < OBSERVERS; o++) {
		r->groups[o] = (struct lp_peer_group){
			.members = r->members + (size_t)o * DISKS, .n_members = DISKS, .family = 1};
		r->series[o] = (struct lp_series){.group = o, .metric = WAIT};
	}
	r->v = (struct lp_verdict){.tables = r->tables,
		.n_tables = 2,
		.components = r->components,
		.n_components = MEMBERS,
		.row_of = r->rows,
		.groups = r->groups,
		.n_groups = OBSERVERS,
		.series = r->series,
		.n_series = OBSERVERS,
		.params = {7, 15, 7, 3, 60 * US_PER_SEC}};
}

static void scale(struct wholes_rig *r, uint32_t table, uint32_t first, uint32_t n, uint32_t from,
	uint32_t end, double factor)
{
	for (uint32_t i = first; i < first + n; i++) {
		for (uint32_t s = from; s < end; s++)
			r->values[table][i * SLOTS + s] *= factor;
	}
}

static void rig_release(struct wholes_rig *r)
{
	free(r->found.items);
	for (uint32_t i = 0; i < MEMBERS; i++)
		lp_identity_unref(r->components[i]);
	for (uint32_t i = 0; i < r->v.n_notes; i++) {
		free(r->v.notes[i]);
		free(r->v.hints[i]);
	}
	free(r->v.notes);
	free(r->v.hints);
	for (uint32_t i = 0; i < r->v.n_unknown; i++)
		free(r->v.unknown[i]);
	free(r->v.unknown);
}

static size_t find(struct wholes_rig *r)
{
	assert_int_equal(wholes_find(&r->v, &r->found), 0);
	return r->found.n;
}

/* All of an observer becomes slow: its disks are reported, compared with the others. */
static void test_became(void **state)
{
	struct wholes_rig r;

	(void)state;
	rig_init(&r);
	assert_int_equal(find(&r), 0);
	scale(&r, WAIT, 2 * DISKS, DISKS, 320, SLOTS, 4);
	assert_int_equal(find(&r), DISKS);
	for (uint32_t i = 0; r.found.items && i < DISKS; i++) {
		const struct lp_finding *f = &r.found.items[i];

		assert_int_equal(f->component, 2 * DISKS + i);
		assert_int_equal(f->group, 2);
		assert_int_equal(f->member, i);
		assert_true(f->whole && f->culprit && !f->ended);
		assert_float_equal(f->ratio, 4, 0.4);
		assert_true(f->first_us >= 60300 * US_PER_SEC);
		assert_true(f->load_ratio > 0.9 && f->load_ratio < 1.1);
	}
	assert_int_equal(r.v.n_notes, 0);
	rig_release(&r);
}

/* It passes, and is reported with its end. */
static void test_ended(void **state)
{
	struct wholes_rig r;

	(void)state;
	rig_init(&r);
	scale(&r, WAIT, 0, DISKS, 200, 400, 3);
	assert_int_equal(find(&r), DISKS);
	assert_true(r.found.items && r.found.items[0].ended);
	rig_release(&r);
}

/* An observer that was always slow is a class; so is one that was slower than others all the
 * time. */
static void test_class(void **state)
{
	struct wholes_rig r;

	(void)state;
	rig_init(&r);
	scale(&r, WAIT, 0, DISKS, 0, SLOTS, 10);
	assert_int_equal(find(&r), 0);
	rig_release(&r);
}

/* Small differences, and differences that do not concern a whole observer, are not accused. */
static void test_little(void **state)
{
	struct wholes_rig r;

	(void)state;
	rig_init(&r);
	scale(&r, WAIT, 0, DISKS, 320, SLOTS, 1.7);
	assert_int_equal(find(&r), 0);
	assert_int_equal(r.v.n_notes, 1);
	assert_non_null(strstr(r.v.notes[0], "h0 as a whole became 1.7 times as slow in latency"));
	rig_release(&r);
	rig_init(&r);
	scale(&r, WAIT, 0, 1, 320, SLOTS, 10); /* one disk */
	assert_int_equal(find(&r), 0);
	assert_int_equal(r.v.n_notes, 0);
	rig_release(&r);
}

/* More work explains it, and so do others that became faster. */
static void test_explained(void **state)
{
	struct wholes_rig r;

	(void)state;
	rig_init(&r);
	scale(&r, WAIT, 0, DISKS, 320, SLOTS, 3);
	scale(&r, WORK, 0, DISKS, 320, SLOTS, 2);
	assert_int_equal(find(&r), 0);
	rig_release(&r);
	rig_init(&r);
	scale(&r, WAIT, 2 * DISKS, MEMBERS - 2 * DISKS, 320, SLOTS, 0.3); /* a class of them */
	assert_int_equal(find(&r), 0);
	rig_release(&r);
	rig_init(&r); /* as all do */
	scale(&r, WAIT, 0, MEMBERS, 320, SLOTS, 5);
	assert_int_equal(find(&r), 0);
	rig_release(&r);
}

/* With many it cannot be decided; observers that are compared with each other are judged
 * elsewhere. */
static void test_not_told(void **state)
{
	struct wholes_rig r;

	(void)state;
	rig_init(&r);
	scale(&r, WAIT, 0, 3 * DISKS - 1, 320, SLOTS, 6);
	r.groups[2].refused = (char *)"too few";
	assert_int_equal(find(&r), 0);
	assert_int_equal(r.v.n_unknown, 1);
	assert_non_null(strstr(r.v.unknown[0], "2 of 5 observers became slow as a whole"));
	rig_release(&r);
	rig_init(&r);
	scale(&r, WAIT, 0, DISKS, 320, SLOTS, 4);
	for (uint32_t o = 0; o < OBSERVERS; o++)
		r.groups[o].family = 0;
	assert_int_equal(find(&r), 0);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_became),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_class),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_explained),
		cmocka_unit_test(test_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
