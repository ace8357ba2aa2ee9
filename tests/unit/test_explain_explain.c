/* The whole explanation with statements of the operator. */
#include "explain_rig.h"
#include "temp_dir.h"

static void make(struct rig *r, const char *name)
{
	struct lp_err err = {0};

	rig_init(r, 40);
	rig_disks(r, 8);
	rig_metric(r, "disk", "await");
	rig_find(r, "oss1/disk:sdb", "await", LP_MARK_ABOVE, 40, 10, 5, 39);
	rig_find(r, "oss2/disk:sdb", "await", LP_MARK_ABOVE, 40, 10, 5, 39);
	rig_find(r, "oss3/disk:sdb", "await", LP_MARK_BELOW, 4, 10, 5, 39)->culprit = false;
	if (state_open(temp_path(name), false, &r->state, &err) < 0)
		fail_msg("%s", err.text);
}

static void say(
	struct rig *r, enum state_verb verb, const char *component, int64_t at_us, int64_t until_us)
{
	struct state_entry e = {(char *)(uintptr_t)component, verb, at_us, until_us, NULL};
	struct lp_err err = {0};

	if (state_say(r->state, &e, &err) < 0)
		fail_msg("%s", err.text);
}

static void test_ack(void **state)
{
	struct rig r;

	(void)state;
	make(&r, "ack.db");
	say(&r, STATE_ACK, "oss2/*", RIG_START_US, 0);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 2);
	assert_false(rig_suspect(&r, "oss1/disk:sdb")->acknowledged);
	assert_true(rig_suspect(&r, "oss2/disk:sdb")->acknowledged);
	assert_int_equal(r.v->n_muted, 0);
	rig_release(&r);
}

static void test_mute(void **state)
{
	struct rig r;

	(void)state;
	make(&r, "mute.db");
	say(&r, STATE_MUTE, "oss2/disk:sdb", RIG_START_US, 0);
	say(&r, STATE_MUTE, "oss1/disk:sdb", RIG_START_US, RIG_START_US + 5); /* long over */
	say(&r, STATE_MUTE, "oss3/disk:sdb", RIG_START_US, 0);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 1);
	assert_non_null(rig_suspect(&r, "oss1/disk:sdb"));
	assert_int_equal(r.v->n_muted, 1);
	assert_int_equal(r.v->n_asymmetries, 0);
	rig_expect_incidents(&r, 1);
	rig_release(&r);
}

static void test_clear(void **state)
{
	const struct lp_finding *f;
	struct rig r;

	(void)state;
	make(&r, "clear.db");
	say(&r, STATE_CLEAR, "oss1/disk:sdb", RIG_START_US + 20 * RIG_STEP_US, 0);
	say(&r, STATE_CLEAR, "oss2/disk:sdb", RIG_START_US + 37 * RIG_STEP_US, 0);
	rig_explain(&r);
	/* Windows 21 .. 39 begin after the first clear; after the second there are only two. */
	assert_int_equal(r.v->n_suspects, 1);
	f = &r.v->findings[rig_suspect(&r, "oss1/disk:sdb")->findings[0]];
	assert_int_equal(f->persistence, 19);
	assert_int_equal(f->peak, 19);
	assert_int_equal(f->n_anomalous, 19);
	assert_int_equal(f->n_windows, 19);
	assert_int_equal(f->first_us, RIG_START_US + 20 * RIG_STEP_US);
	assert_int_equal(f->indicted_us, RIG_START_US + 24 * RIG_STEP_US);
	assert_float_equal(f->own, 40, 1e-9);
	assert_float_equal(f->peers, 10, 1e-6);
	assert_null(rig_suspect(&r, "oss2/disk:sdb"));
	assert_string_equal(rig_asymmetry(&r, "oss2/disk:sdb"), "(no asymmetry)");
	rig_release(&r);
}

/* A clear before the data, or in its future. */
static void test_clear_outside(void **state)
{
	struct rig r;

	(void)state;
	make(&r, "outside.db");
	say(&r, STATE_CLEAR, "oss1/disk:sdb", RIG_START_US - 20 * RIG_STEP_US, 0);
	say(&r, STATE_CLEAR, "oss2/disk:sdb", RIG_START_US + 5000 * RIG_STEP_US, 0);
	rig_explain(&r);
	assert_int_equal(r.v->n_suspects, 1);
	assert_int_equal(rig_suspect(&r, "oss1/disk:sdb")->persistence, 35);
	rig_release(&r);
}

/* What lasts longer than its windows are kept counts from the clear on, too. */
static void test_clear_before_windows(void **state)
{
	const struct lp_suspect *s;
	struct rig r;

	(void)state;
	make(&r, "before.db");
	for (uint32_t i = 0; i < r.v->n_findings; i++)
		r.v->findings[i].first_us = RIG_START_US - 90 * RIG_STEP_US;
	say(&r, STATE_CLEAR, "oss1/disk:sdb", RIG_START_US - 20 * RIG_STEP_US, 0);
	rig_explain(&r);
	s = rig_suspect(&r, "oss1/disk:sdb");
	assert_non_null(s);
	assert_true(s->first_us >= RIG_START_US - RIG_STEP_US);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ack),
		cmocka_unit_test(test_mute),
		cmocka_unit_test(test_clear),
		cmocka_unit_test(test_clear_outside),
		cmocka_unit_test(test_clear_before_windows),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
