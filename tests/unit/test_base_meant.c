#include "base/meant.h"

#include "unit.h"
#include <string.h>

static void test_words(void **state)
{
	static const char *const commands[] = {"diagnose", "record", "show", "score", "ack", NULL};
	struct meant m;

	(void)state;
	assert_string_equal(meant_among(&m, "diagnos", commands), "; did you mean 'diagnose'?");
	assert_string_equal(meant_among(&m, "daignose", commands), "; did you mean 'diagnose'?");
	assert_string_equal(meant_among(&m, "shwo", commands), "; did you mean 'show'?");
	assert_string_equal(meant_among(&m, "scroe", commands), "; did you mean 'score'?");
	assert_string_equal(meant_among(&m, "akc", commands), "; did you mean 'ack'?");
	assert_string_equal(meant_among(&m, "frobnicate", commands), "");
	assert_string_equal(meant_among(&m, "", commands), "");
	assert_string_equal(meant_among(&m, "x", commands), "");
	assert_string_equal(meant_among(&m, "show", commands), ""); /* that is one */
}

/* The nearest wins, and the first of those that are as near. */
static void test_nearest(void **state)
{
	static const char *const names[] = {"rd_sec", "wr_sec", "rd_ses", NULL};
	struct meant m;

	(void)state;
	assert_string_equal(meant_among(&m, "rdsec", names), "; did you mean 'rd_sec'?");
	assert_string_equal(meant_among(&m, "wrsec", names), "; did you mean 'wr_sec'?");
}

static void test_long(void **state)
{
	char word[200];
	const char *names[] = {word, "oss4/disk:loop3", NULL};
	struct meant m;

	(void)state;
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_string_equal(
		meant_among(&m, "oss4/disc:loop3", names), "; did you mean 'oss4/disk:loop3'?");
	assert_string_equal(meant_among(&m, word, names), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),
		cmocka_unit_test(test_nearest), cmocka_unit_test(test_long)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
