#include "explain_rig.h"

#include "explain/idleness.h"

/* Six servers with a disk sda for the system and a disk sdb for data each. */
static void rig_boot_disks(struct rig *r)
{
	rig_init(r, 40);
	for (uint32_t i = 1; i <= 6; i++) {
		char name[64];

		snprintf(name, sizeof(name), "oss%u/disk:sda", i);
		rig_add(r, "disk", name);
		snprintf(name, sizeof(name), "oss%u/disk:sdb", i);
		rig_add(r, "disk", name);
	}
	rig_metric(r, "disk", "await");
	rig_metric(r, "disk", "wr_sec");
}

/* All values of a component in a metric, from slot `first` on. */
static void put(struct rig *r, const char *component, uint32_t metric, uint32_t first, double value)
{
	const struct lp_table *t = r->v->tables[metric];

	for (uint32_t c = 0; c < r->v->n_components; c++) {
		uint32_t row = r->v->row_of[metric][c];

		if (strcmp(r->v->components[c]->text, component) != 0)
			continue;
		for (uint32_t s = first; s < t->n_slots; s++)
			t->values[(size_t)row * t->n_slots + s] = value;
	}
}

static void boot_disks_idle(struct rig *r, double work)
{
	for (uint32_t i = 1; i <= 6; i++) {
		char name[64];

		snprintf(name, sizeof(name), "oss%u/disk:sda", i);
		put(r, name, 1, 0, work);
	}
}

static bool excuses(struct rig *r, const struct lp_finding *f, enum lp_role role)
{
	return idleness_excuses(r->v, f, role);
}

/* A component is lost if it worked and then stopped. */
static void test_absent(void **state)
{
	struct lp_finding *never, *stopped, *always;
	struct rig r;

	(void)state;
	rig_boot_disks(&r);
	put(&r, "oss1/disk:sdb", 1, 0, 0);
	put(&r, "oss4/disk:sdb", 1, 0, 0);
	put(&r, "oss2/disk:sdb", 1, 20, 0);
	never = rig_find(&r, "oss1/disk:sdb", "wr_sec", LP_MARK_ABSENT, 0, 10, 20, 39);
	stopped = rig_find(&r, "oss2/disk:sdb", "wr_sec", LP_MARK_ABSENT, 0, 10, 20, 39);
	always = rig_find(&r, "oss3/disk:sdb", "wr_sec", LP_MARK_ABSENT, 0, 10, 0, 39);
	assert_true(excuses(&r, never, LP_ROLE_WORK));
	assert_false(excuses(&r, stopped, LP_ROLE_WORK));
	/* Nothing is known of the time before. */
	assert_true(excuses(&r, always, LP_ROLE_WORK));
	rig_release(&r);
}

/* Who never works where all of that name do is absent; a spare is not. */
static void test_never(void **state)
{
	struct lp_finding *never;
	struct rig r;

	(void)state;
	rig_boot_disks(&r);
	put(&r, "oss1/disk:sdb", 1, 0, 0);
	never = rig_find(&r, "oss1/disk:sdb", "wr_sec", LP_MARK_ABSENT, 0, 10, 0, 39);
	assert_false(excuses(&r, never, LP_ROLE_WORK));
	put(&r, "oss4/disk:sdb", 1, 0, 0); /* another one is idle as well */
	assert_true(excuses(&r, never, LP_ROLE_WORK));
	put(&r, "oss4/disk:sdb", 1, 0, 10);
	put(&r, "oss1/disk:sdb", 1, 30, 10); /* it works, after all */
	assert_true(excuses(&r, never, LP_ROLE_WORK));
	rig_release(&r);
	/* A name that not all have, and observers that have more than others. */
	rig_init(&r, 40);
	rig_disks(&r, 6);
	rig_add(&r, "disk", "oss1/disk:sdz");
	rig_metric(&r, "disk", "await");
	rig_metric(&r, "disk", "wr_sec");
	put(&r, "oss1/disk:sdz", 1, 0, 0);
	never = rig_find(&r, "oss1/disk:sdz", "wr_sec", LP_MARK_ABSENT, 0, 10, 0, 39);
	assert_true(excuses(&r, never, LP_ROLE_WORK));
	put(&r, "oss2/disk:sdb", 1, 0, 0);
	never = rig_find(&r, "oss2/disk:sdb", "wr_sec", LP_MARK_ABSENT, 0, 10, 0, 39);
	assert_true(excuses(&r, never, LP_ROLE_WORK));
	rig_release(&r);
}

/* No latency is no sign where there was hardly any work before. */
static void test_absent_latency(void **state)
{
	struct lp_finding *boot, *data;
	struct rig r;

	(void)state;
	rig_boot_disks(&r);
	boot_disks_idle(&r, 0.5);
	boot = rig_find(&r, "oss1/disk:sda", "await", LP_MARK_ABSENT, NAN, 10, 20, 39);
	data = rig_find(&r, "oss1/disk:sdb", "await", LP_MARK_ABSENT, NAN, 10, 20, 39);
	assert_true(excuses(&r, boot, LP_ROLE_LATENCY));
	assert_false(excuses(&r, data, LP_ROLE_LATENCY));
	rig_release(&r);
}

/* A component that hardly works, like all with its name, is not slow; one that is the only idle one
 * may be. */
static void test_slow(void **state)
{
	struct lp_finding *boot, *data;
	struct rig r;

	(void)state;
	rig_boot_disks(&r);
	boot_disks_idle(&r, 0.1);
	boot = rig_find(&r, "oss1/disk:sda", "await", LP_MARK_ABOVE, 50, 10, 10, 39);
	assert_true(excuses(&r, boot, LP_ROLE_LATENCY));
	put(&r, "oss4/disk:sdb", 1, 0, 0.1);
	data = rig_find(&r, "oss4/disk:sdb", "await", LP_MARK_ABOVE, 50, 10, 10, 39);
	assert_false(excuses(&r, data, LP_ROLE_LATENCY));
	/* Who works as the others do is never excused. */
	data = rig_find(&r, "oss5/disk:sdb", "await", LP_MARK_ABOVE, 50, 10, 10, 39);
	assert_false(excuses(&r, data, LP_ROLE_LATENCY));
	rig_release(&r);
}

/* Put work into every tenth slot only, from slot `first` on. */
static void work_seldom(struct rig *r, const char *component, uint32_t first)
{
	const struct lp_table *t = r->v->tables[1];
	uint32_t row = r->v->row_of[1][rig_component(r, component)];

	for (uint32_t s = first; s < t->n_slots; s++)
		t->values[(size_t)row * t->n_slots + s] = s % 10 ? 0 : 1;
}

/* A component that works only sometimes, and always did, is not compared by how long that takes;
 * one that is slow works all the time, and one that worked before has stopped. */
static void test_seldom(void **state)
{
	struct lp_finding *f;
	struct rig r;

	(void)state;
	rig_boot_disks(&r);
	f = rig_find(&r, "oss4/disk:sdb", "await", LP_MARK_ABOVE, 50, 10, 10, 39);
	work_seldom(&r, "oss4/disk:sdb", 0);
	assert_true(excuses(&r, f, LP_ROLE_LATENCY));
	put(&r, "oss4/disk:sdb", 1, 0, 0.1);
	assert_false(excuses(&r, f, LP_ROLE_LATENCY));
	put(&r, "oss4/disk:sdb", 1, 0, 10);
	work_seldom(&r, "oss4/disk:sdb", 10);
	assert_false(excuses(&r, f, LP_ROLE_LATENCY));
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_absent_latency),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_seldom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
