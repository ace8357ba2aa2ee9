#include "lab/demo_page.h"

#include "unit.h"

static void test_address(void **state)
{
	char url[64];

	(void)state;
	assert_true(demo_page_find_url(
		"note\nserving http://127.0.0.1:40123, archives in /x; Ctrl-C stops\n", url,
		sizeof(url)));
	assert_string_equal(url, "http://127.0.0.1:40123");
	assert_true(demo_page_find_url("serving https://[::1]:9\n", url, sizeof(url)));
	assert_string_equal(url, "https://[::1]:9");
}

static void test_no_address(void **state)
{
	char url[16];

	(void)state;
	assert_false(demo_page_find_url("", url, sizeof(url)));
	assert_false(demo_page_find_url("cannot listen: in use\n", url, sizeof(url)));
	/* The rest of the line has not been written yet. */
	assert_false(demo_page_find_url("serving http://127.0", url, sizeof(url)));
	/* Longer than there is room for. */
	assert_false(demo_page_find_url("serving http://127.0.0.1:40123,", url, sizeof(url)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_no_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
