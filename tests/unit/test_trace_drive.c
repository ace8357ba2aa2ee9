#include "unit.h"

#include "trace/stack/drive.h"
#include <errno.h>
#include <math.h>
#include <string.h>

static int parse(const char *text, struct drives *d, struct lp_err *err)
{
	return drives_parse(text, strlen(text), "d.yaml", d, err);
}

static void test_built_in(void **state)
{
	struct drives d = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(drives_load(NULL, &d, &err), 0);
	assert_true(d.n >= 4);
	assert_non_null(drives_find(&d, "ultrastar-36z15"));
	assert_null(drives_find(&d, "x"));
	for (size_t i = 0; i < d.n; i++) {
		assert_true(d.items[i].active_w > d.items[i].idle_w);
		assert_true(d.items[i].seek_w > 0);
	}
	drives_release(&d);
}

static void test_wrong(void **state)
{
	static const struct {
		const char *text, *says;
	} wrong[] = {
		{"", "d.yaml:1: the file is empty"},
		{"drives: 3\n", "d.yaml:1: a drive must have lines 'key: value'"},
		{"- x\n", "d.yaml:1: a file of drives must have a list 'drives:'"},
		{"drives:\n - name: a\n   activ: 3\n",
			"d.yaml:3: there is no key 'activ'; did you "
			"mean 'active'?"},
		{"drives:\n - name: a\n", "d.yaml:2: the drive 'a' has no 'active' power"},
		{"drives:\n - active: 1\n", "d.yaml:2: a drive has no name"},
		{"drives:\n - name: a\n   active: x\n",
			"d.yaml:3: 'active' is a number from 0 to 1e+06, not 'x'"},
		{"drives:\n - name: a\n   active: 1\n   idle: 2\n",
			"d.yaml:2: the drive 'a' takes more power when idle than when active"},
		{"drives:\n - name: a\n   name: b\n", "d.yaml:3: 'name' is given twice"},
		{"drives: [\n", "d.yaml:2: did not find expected node content"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct drives d = {0};
		struct lp_err err = {0};

		assert_int_equal(parse(wrong[i].text, &d, &err), -EINVAL);
		assert_string_equal(err.text, wrong[i].says);
		drives_release(&d);
	}
}

/* Overlapping accesses cost the disk's time once; it spins up after a long pause. */
static void test_accesses(void **state)
{
	const struct drive d = {.active_w = 10,
		.idle_w = 4,
		.seek_w = 14,
		.seek_ms = 10,
		.spin_w = 20,
		.spin_s = 5,
		.standby_s = 60};
	const int64_t s = 1000000000;
	struct drive_state disk = {0};

	(void)state;
	assert_true(fabs(drive_access(&d, &disk, 0, s, 0, 100) - (0.99 * 6 + 0.01 * 10)) < 1e-9);
	assert_true(fabs(drive_access(&d, &disk, s / 2, 2 * s, 100, 50) - 6) < 1e-9);
	assert_true(fabs(drive_access(&d, &disk, s, 2 * s, 7, 1)) < 1e-9);
	assert_true(fabs(drive_access(&d, &disk, 100 * s, 101 * s, -1, 0) - (6 + 5 * 16)) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_built_in),
		cmocka_unit_test(test_wrong), cmocka_unit_test(test_accesses)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
