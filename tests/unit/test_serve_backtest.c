/* A backtest ends, whatever the times of the data are. */
#include "serve_rig.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_ends_of_time),
	};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
