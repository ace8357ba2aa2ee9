/* A backtest ends, whatever the times of the data are. */
#include "serve_rig.h"

#include "base/array.h"
#include "base/time.h"
#include "serve/backtest.h"

#define SERVERS 3
#define SECONDS 90

static const struct rig_fault none = {.server = SERVERS};

static void play(int64_t start_s, int64_t *ret_first_us, int64_t *ret_last_us)
{
	const struct lp_diagnose_options how = {.bounded = true};
	const struct backtest_options bt = {.diagnose = &how};
	const struct incidents_options o = {0};
	struct incidents *store = NULL;
	struct lp_err err = {0};
	struct lp_dataset *ds;
	struct serve_rig r;
	char name[32];

	snprintf(name, sizeof(name), "play%d", (int)(start_s % 1000));
	serve_rig_init(&r, name, SERVERS, SECONDS, &none);
	r.rig.start_s = start_s;
	serve_rig_write_all(&r, SECONDS);
	ds = serve_rig_dataset(&r);
	assert_int_equal(incidents_open(NULL, &o, &store, &err), 0);
	if (backtest_run(ds, &bt, store, ret_first_us, ret_last_us, &err) < 0)
		fail_msg("%s", err.text);
	incidents_close(store);
	lp_dataset_close(ds);
	serve_rig_release(&r);
}

static void test_usual(void **state)
{
	int64_t first, last;

	(void)state;
	play(RIG_START_S, &first, &last);
	assert_int_equal(first, RIG_START_S * US_PER_SEC);
	assert_true(last >= first + (SECONDS - 2) * US_PER_SEC);
	assert_true(last <= first + (SECONDS + 2) * US_PER_SEC);
}

static void test_ends_of_time(void **state)
{
	int64_t first, last;

	(void)state;
	play(INT64_MAX / US_PER_SEC - SECONDS - 5, &first, &last);
	assert_true(first > 0 && last >= first);
	play(INT64_MIN / US_PER_SEC + SECONDS + 5, &first, &last);
	assert_true(first < 0 && last >= first);
}

#define LONG_S 900
#define MANY 5

/* The incidents of servers of which one has a clock that is set in the middle; "cause part" of each
 * goes into `buf`. */
static size_t play_set(
	const char *name, int64_t by_s, const struct rig_fault *fault, char *buf, size_t size)
{
	const struct lp_diagnose_options how = {.bounded = true};
	const struct backtest_options bt = {.diagnose = &how};
	const struct incidents_options o = {0};
	const struct incidents_query all = {.state = "all", .limit = 100};
	struct incidents *store = NULL;
	json_t *answer = NULL, *list;
	struct lp_err err = {0};
	struct lp_dataset *ds;
	struct serve_rig r;
	int64_t first, last;
	size_t n;

	serve_rig_init(&r, name, MANY, LONG_S, fault);
	r.rig.servers[1].ahead_us = by_s * US_PER_SEC;
	r.rig.servers[1].set_at = 250;
	serve_rig_write_all(&r, LONG_S);
	ds = serve_rig_dataset(&r);
	assert_int_equal(incidents_open(NULL, &o, &store, &err), 0);
	if (backtest_run(ds, &bt, store, &first, &last, &err) < 0 ||
		incidents_list(store, &all, &answer, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(last - first < (LONG_S + 60) * US_PER_SEC);
	list = json_object_get(answer, "incidents");
	n = json_array_size(list);
	*buf = '\0';
	for (size_t i = 0; i < n; i++) {
		const json_t *in = json_array_get(list, i);
		size_t used = strlen(buf);

		snprintf(buf + used, size - used, "%s %s;",
			json_string_value(json_object_get(in, "cause")),
			json_string_value(json_object_get(in, "part")));
	}
	json_decref(answer);
	incidents_close(store);
	lp_dataset_close(ds);
	serve_rig_release(&r);
	return n;
}

/* A clock that is set makes no server silent, neither its own nor the others. */
static void test_clock_set(void **state)
{
	static const int64_t by_s[] = {600, -600, 3 * 86400};
	const struct rig_fault nothing = {.server = MANY};
	char said[400], name[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(by_s); i++) {
		snprintf(name, sizeof(name), "set%d", (int)i);
		if (play_set(name, by_s[i], &nothing, said, sizeof(said)) != 0)
			fail_msg("%d s: %s", (int)by_s[i], said);
	}
}

/* And a fault of that server is found. */
static void test_fault_behind_clock(void **state)
{
	const struct rig_fault slow = {1, 0, 450, 700, 8, 0};
	char said[400];

	(void)state;
	assert_int_equal(play_set("fault", 600, &slow, said, sizeof(said)), 1);
	assert_string_equal(said, "disk-busy oss1/disk:sda;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_ends_of_time),
		cmocka_unit_test(test_clock_set),
		cmocka_unit_test(test_fault_behind_clock),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
