#include "report/progress.h"

#include "printed.h"
#include <string.h>

static int64_t now_us;

static int64_t fake_clock(void)
{
	return now_us;
}

static struct progress on(FILE *out)
{
	now_us = 0;
	return (struct progress){.out = out, .width = 60, .now_us = fake_clock};
}

static void test_silent_at_first(void **state)
{
	struct printed out;
	struct progress p = on(printed_begin(&out));
	char *text;

	(void)state;
	now_us = 499999;
	progress_tell(&p, "reading", 0.9);
	progress_clear(&p);
	text = printed_end(&out);
	assert_string_equal(text, "");
	free(text);
}

static void test_draws_and_clears(void **state)
{
	struct printed out;
	struct progress p = on(printed_begin(&out));
	char *text;

	(void)state;
	now_us = 500000;
	progress_tell(&p, "reading", 0.5);
	progress_clear(&p);
	progress_clear(&p);
	text = printed_end(&out);
	assert_string_equal(text, "\r\033[Kreading  [===============>              ]  50%\r\033[K");
	free(text);
}

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

static void test_ten_times_a_second(void **state)
{
	struct printed out;
	struct progress p = on(printed_begin(&out));
	char *text;

	(void)state;
	for (now_us = 0; now_us < 1500000; now_us += 1000)
		progress_tell(&p, "reading", (double)now_us / 1500000);
	text = printed_end(&out);
	assert_int_equal(count(text, "reading"), 10);
	free(text);
}

static void test_odd_fractions_and_names(void **state)
{
	struct printed out;
	struct progress p = on(printed_begin(&out));
	char *text;

	(void)state;
	now_us = 1000000;
	progress_tell(&p, "a\033b", 7);
	now_us = 2000000;
	progress_tell(&p, "a name that leaves no room for a bar", -1);
	now_us = 3000000;
	progress_tell(&p, "x", 0.0 / 0.0);
	text = printed_end(&out);
	assert_non_null(strstr(text, "a?b  [==============================] 100%"));
	assert_non_null(strstr(text, "no room for a bar   0%"));
	assert_non_null(strstr(text, "x  [>                             ]   0%"));
	free(text);
}

/* A file is no terminal. */
static void test_only_on_a_terminal(void **state)
{
	FILE *f = tmpfile();
	struct progress p;

	(void)state;
	assert_non_null(f);
	progress_begin(&p, f);
	assert_null(p.out);
	p.begun_us -= 10000000;
	progress_tell(&p, "reading", 0.5);
	progress_tell(NULL, "reading", 0.5);
	progress_clear(&p);
	assert_int_equal(ftell(f), 0);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent_at_first),
		cmocka_unit_test(test_draws_and_clears),
		cmocka_unit_test(test_ten_times_a_second),
		cmocka_unit_test(test_odd_fractions_and_names),
		cmocka_unit_test(test_only_on_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
