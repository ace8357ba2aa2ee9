#include "unit.h"

#include "base/time.h"
#include "detect/straggle.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS 8
#define SLOTS 600
#define BURST 12

/* A group of disks that share out a job: at slot 100 all begin, and most have done after BURST. */
struct straggle_rig {
	struct lp_verdict v;
	struct lp_table table, *tables[1];
	struct lp_identity *components[MEMBERS];
	struct lp_peer_group group;
	struct lp_series series;
	uint32_t members[MEMBERS], row_of[MEMBERS], *rows[1];
	double values[MEMBERS * SLOTS];
	struct findings found;
};

static void work(struct straggle_rig *r, uint32_t member, uint32_t from, uint32_t n, double pace)
{
	for (uint32_t s = from; s < from + n; s++)
		r->values[member * SLOTS + s] = pace;
}

static void rig_init(struct straggle_rig *r, const char *metric)
{
	memset(r, 0, sizeof(*r));
	r->table = (struct lp_table){.metric = (char *)metric,
		.unit = "",
		.step_us = US_PER_SEC,
		.start_us = 1000 * US_PER_SEC,
		.n_slots = SLOTS,
		.n_components = MEMBERS,
		.values = r->values};
	r->tables[0] = &r->table;
	r->rows[0] = r->row_of;
	r->group = (struct lp_peer_group){.members = r->members, .n_members = MEMBERS};
	r->v = (struct lp_verdict){.tables = r->tables,
		.n_tables = 1,
		.components = r->components,
		.n_components = MEMBERS,
		.row_of = r->rows,
		.groups = &r->group,
		.n_groups = 1,
		.series = &r->series,
		.n_series = 1};
	r->v.params = (struct lp_params){7, 30, 15, 3, US_PER_SEC};
	for (uint32_t i = 0; i < MEMBERS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "oss%u/disk:ost%u", i, i);
		r->components[i] = lp_identity_parse(name);
		r->members[i] = r->row_of[i] = i;
		work(r, i, 100, BURST, 1000);
	}
}

static size_t find(struct straggle_rig *r)
{
	free(r->found.items);
	r->found = (struct findings){0};
	assert_int_equal(straggle_find(&r->v, &r->found), 0);
	return r->found.n;
}

static void rig_release(struct straggle_rig *r)
{
	free(r->found.items);
	for (uint32_t i = 0; i < MEMBERS; i++)
		lp_identity_unref(r->components[i]);
}

static void test_alone(void **state)
{
	struct straggle_rig r;

	(void)state;
	rig_init(&r, "wr_sec");
	assert_int_equal(find(&r), 0);
	work(&r, 3, 100, 400, 30);
	assert_int_equal(find(&r), 1);
	if (!r.found.items)
		abort();
	assert_int_equal(r.found.items[0].component, 3);
	assert_true(r.found.items[0].straggler && r.found.items[0].culprit);
	assert_int_equal(r.found.items[0].direction, LP_MARK_BELOW);
	assert_float_equal(r.found.items[0].ratio, 0.03, 1e-9);
	assert_float_equal(r.found.items[0].distance, 400.0 / BURST, 1e-9);
	assert_true(r.found.items[0].first_us == 1099 * US_PER_SEC);
	assert_true(r.found.items[0].last_us == 1499 * US_PER_SEC);
	assert_true(r.found.items[0].ended);
	rig_release(&r);
}

/* More to do, another job, as fast as its peers, or only a little later: no straggler. */
static void test_others(void **state)
{
	struct straggle_rig r;

	(void)state;
	rig_init(&r, "wr_sec");
	work(&r, 3, 100, 400, 500);
	assert_int_equal(find(&r), 0); /* many times the work */
	rig_release(&r);
	rig_init(&r, "wr_sec");
	work(&r, 3, 100, BURST, 0);
	work(&r, 3, 100 + BURST, 400, 30);
	assert_int_equal(find(&r), 0); /* it did not work with them */
	rig_release(&r);
	rig_init(&r, "wr_sec");
	work(&r, 3, 100, 2 * BURST, 500);
	assert_int_equal(find(&r), 0); /* a few seconds late */
	rig_release(&r);
	rig_init(&r, "wr_sec");
	work(&r, 3, 100, 400, 30);
	work(&r, 4, 100, 400, 30);
	assert_int_equal(find(&r), 0); /* without peers it cannot be decided */
	rig_release(&r);
	rig_init(&r, "await");
	work(&r, 3, 100, 400, 30);
	assert_int_equal(find(&r), 0); /* no work */
	rig_release(&r);
}

/* Of several jobs the last in which it straggled. */
static void test_jobs(void **state)
{
	struct straggle_rig r;

	(void)state;
	rig_init(&r, "wr_sec");
	work(&r, 3, 100, 120, 100);
	for (uint32_t i = 0; i < MEMBERS; i++)
		work(&r, i, 300, BURST, 1000);
	work(&r, 3, 300, 120, 100);
	for (uint32_t i = 0; i < MEMBERS; i++)
		work(&r, i, 500, BURST, 1000);
	assert_int_equal(find(&r), 1);
	if (!r.found.items)
		abort();
	assert_true(r.found.items[0].first_us == 1299 * US_PER_SEC);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
