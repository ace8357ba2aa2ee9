/* Words of traces: each value has one, no two the same. */
#include "model/trace_event.h"
#include "unit.h"
#include <string.h>

static void check(const char *(*name)(unsigned), unsigned first, unsigned n)
{
	for (unsigned i = first; i < n; i++) {
		assert_string_not_equal(name(i), "?");
		for (unsigned j = first; j < i; j++)
			assert_string_not_equal(name(i), name(j));
		for (const char *p = name(i); *p; p++)
			assert_true(*p >= 'a' && *p <= 'z');
	}
	assert_string_equal(name(n), "?");
	assert_string_equal(name(UINT32_MAX), "?");
}

static void test_words(void **state)
{
	(void)state;
	check(trace_what_name, TRACE_CALL, TRACE_LOST + 1);
	check(trace_file_name, TRACE_FILE_NONE, TRACE_FILES);
	check(trace_call_name, TRACE_CALL_OTHER, TRACE_CALLS);
	check(trace_change_name, TRACE_FD_BEFORE, TRACE_FD_SEEN + 1);
	assert_string_equal(trace_what_name(0), "?");
	assert_string_equal(trace_change_name(0), "?");
	assert_string_equal(trace_file_name(TRACE_FILE_STORAGE), "storage");
	assert_string_equal(trace_call_name(TRACE_CALL_META), "meta");
	assert_string_equal(trace_change_name(TRACE_FD_ACCEPT), "accept");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_words)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
