#include "collect/nvme_smart.h"
#include "collect_run.h"

static void test_log_page(void **state)
{
	uint8_t log[NVME_SMART_BYTES] = {0};
	int64_t v[SMART_N];

	(void)state;
	nvme_smart_decode(log, v);
	assert_int_equal(v[SMART_CELSIUS], LP_MISSING); /* 0 K: it does not say */
	assert_int_equal(v[SMART_MEDIA_ERRORS], 0);
	memset(log, 0xff, sizeof(log));
	nvme_smart_decode(log, v);
	assert_int_equal(v[SMART_MEDIA_ERRORS], INT64_MAX);
	assert_int_equal(v[SMART_PERCENT_USED], 255);
}

static void test_drive(void **state)
{
	struct run r;

	(void)state;
	run_init_tree(&r, "nvme", "field-6.1", 1);
	run_sample(&r);
	run_moment(&r, 2);
	run_sample(&r);
	run_assert_names(&r, "nvme0");
	assert_int_equal(run_value(&r, "nvme0", "warnings", 0), 2);
	assert_int_equal(run_value(&r, "nvme0", "celsius", 0), 61);
	assert_int_equal(run_value(&r, "nvme0", "percent_used", 0), 7);
	assert_int_equal(run_value(&r, "nvme0", "media_errors", 0), 3);
	assert_int_equal(run_value(&r, "nvme0", "throttles", 0), 10);
	assert_int_equal(run_value(&r, "nvme0", "throttles", 1), 11);
	run_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log_page),
		cmocka_unit_test(test_drive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
