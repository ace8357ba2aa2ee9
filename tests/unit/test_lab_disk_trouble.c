#include "lab/disk_trouble.h"
#include "unit.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void test_parse(void **state)
{
	struct disk_shown s = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(
		disk_trouble_parse(
			"slow 2.5 busy 80 stall 8000 1000 requests 3 bytes 12288 late_us 0", &s,
			&err),
		0);
	assert_true(s.slow == 2.5);
	assert_true(s.busy_percent == 80);
	assert_true(s.stall_every_ms == 8000);
	assert_true(s.stall_for_ms == 1000);
}

static void test_parse_refuses(void **state)
{
	static const char *const bad[] = {
		"", "ok", "slow", "slow x busy 0 stall 0 0", "slow 1 busy 0 stall 0"};
	struct lp_err err = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct disk_shown s = {.slow = 77};

		assert_int_equal(disk_trouble_parse(bad[i], &s, &err), -EBADMSG);
		assert_non_null(strstr(err.text, bad[i]));
		assert_true(s.slow == 77);
	}
}

/* Where there is no disk nothing is wrong with it; to break it is an error. */
static void test_no_disk(void **state)
{
	struct lab lab = {.dir = "/nonexistent"};
	struct lp_err err = {0};
	struct disk_shown s;

	(void)state;
	snprintf(lab.nodes[0].name, sizeof(lab.nodes[0].name), "s1");
	assert_int_equal(disk_trouble_undo(&lab, &lab.nodes[0], "busy 0", &err), 0);
	assert_true(disk_trouble_say(&lab, &lab.nodes[0], &err, "busy %d", 50) < 0);
	assert_true(disk_trouble_show(&lab, &lab.nodes[0], &s, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_refuses),
		cmocka_unit_test(test_no_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
