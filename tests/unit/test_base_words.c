#include "base/words.h"
#include "unit.h"
#include <errno.h>
#include <string.h>

static void test_split(void **state)
{
	struct option_list list = {.items = {"sd*,!sdz", "nvme0n1", ",,dm-1,"}, .n = 3};
	struct words w = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(words_split(&list, &w, &err), 0);
	assert_int_equal(w.n, 4);
	assert_string_equal(w.items[0], "sd*");
	assert_string_equal(w.items[1], "!sdz");
	assert_string_equal(w.items[2], "nvme0n1");
	assert_string_equal(w.items[3], "dm-1");
	words_release(&w);
}

/* "-m ''" must not mean all metrics. */
static void test_nothing(void **state)
{
	static const char *const texts[] = {"", ",", ",,"};
	struct lp_err err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct option_list list = {.items = {"a", texts[i]}, .n = 2};
		struct words w = {0};

		assert_int_equal(words_split(&list, &w, &err), -EINVAL);
		assert_non_null(strstr(err.text, "names nothing"));
		words_release(&w);
	}
}

static void test_too_many(void **state)
{
	char text[2 * WORDS_MAX + 3] = "";
	struct option_list list = {.items = {text}, .n = 1};
	struct words w = {0};
	struct lp_err err = {0};

	(void)state;
	for (size_t i = 0; i < 2 * (WORDS_MAX + 1); i++)
		text[i] = i % 2 ? ',' : 'x';
	assert_int_equal(words_split(&list, &w, &err), -EINVAL);
	assert_non_null(strstr(err.text, "more than 256"));
	words_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
