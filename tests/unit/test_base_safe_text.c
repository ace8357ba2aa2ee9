/* What of a name may be shown. */
#include "unit.h"

#include "base/array.h"
#include "base/safe_text.h"
#include <stdlib.h>
#include <string.h>

static void expect(const char *text, const char *want)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	assert_int_equal(safe_text_is(text), !strcmp(text, want));
	safe_text_make(copy);
	assert_string_equal(copy, want);
	assert_true(safe_text_is(copy));
	free(copy);
}

static void test_text_stays(void **state)
{
	static const char *const texts[] = {
		"", "oss3/disk:sdb", "a b~!", "Zürich", "磁盘", "диск", "قرص", "\xf0\x9f\x92\xbe"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		expect(texts[i], texts[i]);
}

static void test_controls(void **state)
{
	(void)state;
	expect("a\033[2Jb", "a?[2Jb");
	expect("a\r\n\tb\x7f", "a???b?");
	expect("a\xc2\x9b"
	       "2Jb",
		"a?2Jb"); /* U+009B is an escape and a bracket in one */
	expect("a\x9b"
	       "2Jb",
		"a?2Jb"); /* and so is the byte alone, where a terminal is not in UTF-8 */
	expect("\xc2\xa0", "\xc2\xa0");
}

static void test_directions(void **state)
{
	(void)state;
	/* U+202E turns round what follows, up to U+202C. */
	expect("x\xe2\x80\xaexyz\xe2\x80\xac", "x?xyz?");
	expect("\xe2\x81\xa6x\xe2\x81\xa9", "?x?");
	expect("\xe2\x80\x8b\xe2\x80\x8f\xd8\x9c\xef\xbb\xbf", "????");
	expect("\xe2\x80\xa8", "?");	 /* the end of a line */
	expect("\xf3\xa0\x81\x81", "?"); /* a tag */
	expect("\xe2\x80\x90", "\xe2\x80\x90");
}

static void test_no_utf8(void **state)
{
	(void)state;
	expect("\xff\xfe", "??");
	expect("M\xfcller", "M?ller");
	expect("\xe2\x80", "??");      /* cut off */
	expect("\xc0\xaf", "??");      /* a slash, written too long */
	expect("\xed\xa0\x80", "???"); /* half of a pair */
	expect("\xf4\x90\x80\x80", "????");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_stays),
		cmocka_unit_test(test_controls),
		cmocka_unit_test(test_directions),
		cmocka_unit_test(test_no_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
