#include "report/verdict_hourly.h"

#include "printed.h"
#include "verdict_rig.h"
#include <jansson.h>

static char *print(const struct lp_verdict *v, uint32_t top)
{
	struct printed p;

	assert_int_equal(verdict_print_hourly(printed_begin(&p), v, top), 0);
	return printed_end(&p);
}

/* The faster disk and the one that works harder are anomalous all the time, and no culprits. */
static void test_rows(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text = print(v, 3);

	(void)state;
	assert_string_equal(text,
		"Date.Hour:    Value Group:Component\n"
		"20110417.00:\n"
		"20110417.01:\n"
		"20110417.02:     4 1:fs3/disk:<img src=x onerror=alert(1)>\n"
		"20110417.03:    10 1:fs3/disk:<img src=x onerror=alert(1)>\n"
		"20110417.04:     8 1:fs2/disk:sdd     2 1:fs3/disk:<img src=x onerror=alert(1)>\n"
		"20110417.05:    16 1:fs2/disk:sdd\n"
		"20110417.06:    24 1:fs2/disk:sdd     6 1:fs3/disk:<img src=x onerror=alert(1)>\n"
		"20110417.07:    32 1:fs2/disk:sdd     6 1:fs3/disk:<img src=x onerror=alert(1)>\n"
		"20110417.08:    40 1:fs2/disk:sdd\n"
		"20110417.09:    48 1:fs2/disk:sdd     8 1:fs3/disk:sdc\n"
		"20110417.10:    56 1:fs2/disk:sdd    16 1:fs3/disk:sdc\n"
		"20110417.11:    64 1:fs2/disk:sdd    24 1:fs3/disk:sdc\n"
		"Group 1: disk\n");
	free(text);
	lp_verdict_free(v);
}

static void test_every_anomaly_counts(void **state)
{
	struct lp_verdict *v = rig_healthy();
	char *text = print(v, 4);

	(void)state;
	assert_non_null(strstr(text,
		"20110417.11:    95 1:fs1/disk:sdc    95 1:fs1/disk:sdf    "
		"64 1:fs2/disk:sdd    24 1:fs3/disk:sdc\n"));
	free(text);
	lp_verdict_free(v);
}

static void test_top(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text = print(v, 1);

	(void)state;
	assert_non_null(strstr(text, "20110417.11:    64 1:fs2/disk:sdd\n"));
	free(text);
	lp_verdict_free(v);
}

/* Up, down, not below zero, and unchanged if there is no data. */
static void test_accumulator(void **state)
{
	static const uint8_t marks[] = {LP_MARK_NORMAL, LP_MARK_ABOVE, LP_MARK_NONE, LP_MARK_ABSENT,
		LP_MARK_BELOW, LP_MARK_NORMAL, LP_MARK_NONE, LP_MARK_NONE};
	struct lp_verdict *v = rig_healthy();
	char *text;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		memset(v->series[i].marks, LP_MARK_NORMAL, (size_t)RIG_DISKS * RIG_WINDOWS);
		v->series[i].n_windows = 8;
	}
	memcpy(v->series[0].marks, marks, sizeof(marks));
	text = print(v, 3);
	/* The first hour ends with the seventh window, 01:00:00. */
	assert_string_equal(text,
		"Date.Hour:    Value Group:Component\n"
		"20110417.00:     2 1:fs1/disk:sda\n"
		"20110417.01:     2 1:fs1/disk:sda\n"
		"Group 1: disk\n");
	free(text);
	lp_verdict_free(v);
}

static void test_json(void **state)
{
	struct lp_verdict *v = rig_verdict();
	struct printed p;
	json_t *root, *hour, *first;
	char *text;

	(void)state;
	v->status = LP_STATUS_SUSPECTS;
	assert_int_equal(verdict_unknown(v, "no \"x\""), 0);
	assert_int_equal(verdict_print_hourly_json(printed_begin(&p), v, 2), 0);
	text = printed_end(&p);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	free(text);
	assert_int_equal(json_array_size(json_object_get(root, "hours")), 12);
	assert_string_equal(json_string_value(json_object_get(root, "status")), "suspects");
	assert_int_equal(json_array_size(json_object_get(root, "unknown")), 1);
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(root, "unknown"), 0)), "no \"x\"");
	hour = json_array_get(json_object_get(root, "hours"), 9);
	assert_string_equal(
		json_string_value(json_object_get(hour, "hour")), "2011-04-17T09:00:00Z");
	hour = json_object_get(hour, "persistent");
	assert_int_equal(json_array_size(hour), 2);
	first = json_array_get(hour, 0);
	assert_int_equal(json_integer_value(json_object_get(first, "value")), 48);
	assert_string_equal(json_string_value(json_object_get(first, "group")), "disk");
	assert_string_equal(json_string_value(json_object_get(first, "component")), "fs2/disk:sdd");
	assert_string_equal(json_string_value(json_object_get(first, "metric")), "await");
	json_decref(root);
	lp_verdict_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_every_anomaly_counts),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_accumulator),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
