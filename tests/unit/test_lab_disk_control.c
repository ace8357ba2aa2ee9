#include "lab/disk_control.h"
#include "unit.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void test_set(void **state)
{
	struct disk_trouble t = DISK_TROUBLE_NONE;
	enum disk_word word = DISK_WORD_SHOW;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(disk_control_parse("slow 2.5", &t, &word, &err), 0);
	assert_int_equal(word, DISK_WORD_SET);
	assert_int_equal(disk_control_parse(" busy\t50 \r", &t, &word, &err), 0);
	assert_int_equal(disk_control_parse("stall 5000 1000", &t, &word, &err), 0);
	assert_true(t.slow == 2.5 && t.busy == 0.5);
	assert_true(t.stall_every_ms == 5000 && t.stall_for_ms == 1000);
	assert_int_equal(disk_control_parse("stall 0 0", &t, &word, &err), 0);
	assert_true(t.stall_every_ms == 0 && t.stall_for_ms == 0 && t.busy == 0.5);
	assert_int_equal(disk_control_parse("busy 0", &t, &word, &err), 0);
	assert_true(t.busy == 0 && t.slow == 2.5);
	assert_int_equal(disk_control_parse("reset", &t, &word, &err), 0);
	assert_true(t.slow == 1);
	assert_int_equal(disk_control_parse("show", &t, &word, &err), 0);
	assert_int_equal(word, DISK_WORD_SHOW);
}

static void test_bad_lines(void **state)
{
	static const char *const lines[][2] = {
		{"", "'' is not slow, busy, stall, show or reset"},
		{"fast 2", "'fast' is not"},
		{"slo 2", "'slo' is not"},
		{"slow", "slow takes 1 number"},
		{"slow nan", "slow takes 1 number"},
		{"slow -1", "slow takes 1 number"},
		{"slow 0x2", "slow: bad number"},
		{"slow 1.2.3", "slow: bad number"},
		{"slow 0", "slow: the factor must be 0.001 to 1000"},
		{"slow 2 3", "slow: unexpected '3'"},
		{"busy 96", "busy: the percentage must be 0, or 0.01 to 95"},
		{"busy .000000000000000000001", "busy: the percentage must be 0, or 0.01 to 95"},
		{"stall 5", "stall takes 2 numbers"},
		{"stall 5 0", "FOR_MS must be at least 1"},
		{"stall 0 5", "EVERY_MS must be 1 to"},
		{"stall 1000 501", "at most half"},
		{"stall 99999999999999999999 1", "EVERY_MS must be 1 to"},
		{"show 1", "show: unexpected '1'"},
		{"reset all", "reset: unexpected 'all'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct disk_trouble t = {.slow = 3, .busy = 0.25};
		enum disk_word word;
		struct lp_err err = {0};

		assert_int_equal(disk_control_parse(lines[i][0], &t, &word, &err), -EINVAL);
		if (!strstr(err.text, lines[i][1]))
			fail_msg("'%s' says '%s'", lines[i][0], err.text);
		assert_true(t.slow == 3 && t.busy == 0.25 && t.stall_every_ms == 0);
	}
}

static void test_show(void **state)
{
	struct disk_trouble t = {
		.slow = 1, .busy = 0.5, .stall_every_ms = 5000, .stall_for_ms = 1000};
	struct disk_counts counts = {
		.requests = 3, .bytes = 12288, .late_us = 70, .late_max_us = 40};
	char reply[DISK_LINE_MAX];

	(void)state;
	disk_control_show(&t, &counts, reply);
	assert_string_equal(reply,
		"slow 1 busy 50 stall 5000 1000 requests 3 bytes 12288 late_us 70 late_max_us 40");
}

static void test_show_fits(void **state)
{
	struct disk_trouble t = {.slow = 0.00123456789,
		.busy = 0.123456789,
		.stall_every_ms = UINT64_MAX,
		.stall_for_ms = UINT64_MAX};
	struct disk_counts counts = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	char reply[DISK_LINE_MAX];

	(void)state;
	disk_control_show(&t, &counts, reply);
	assert_true(strlen(reply) < DISK_LINE_MAX - 1);
}

static void test_nobody_there(void **state)
{
	char path[200], reply[DISK_LINE_MAX] = "untouched";
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(
		disk_control("/nonexistent/disk.ctl", "show", reply, sizeof(reply), &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/disk.ctl: no disk answers there"));
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	assert_int_equal(disk_control(path, "show", reply, sizeof(reply), &err), -ENAMETOOLONG);
	assert_string_equal(reply, "untouched");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_show_fits),
		cmocka_unit_test(test_nobody_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
