#include "model/meaning.h"
#include "unit.h"
#include <errno.h>
#include <string.h>

static void test_role(void **state)
{
	static const char *const said[] = {"lower", "bandwidth", "higher", "temperature", "lower",
		"cwnd", "higher", "latency", "higher", "share", "lower", "share"};
	struct meanings m = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(meanings_parse(&m, said, 12, &err), 0);
	assert_int_equal(meanings_role(&m, "bandwidth", LP_ROLE_WORK), LP_ROLE_YIELD);
	assert_int_equal(meanings_role(&m, "temperature", LP_ROLE_OTHER), LP_ROLE_HARM);
	/* What limpet knows better stays. */
	assert_int_equal(meanings_role(&m, "cwnd", LP_ROLE_WINDOW), LP_ROLE_WINDOW);
	assert_int_equal(meanings_role(&m, "latency", LP_ROLE_LATENCY), LP_ROLE_LATENCY);
	/* The last word counts. */
	assert_int_equal(meanings_role(&m, "share", LP_ROLE_OTHER), LP_ROLE_YIELD);
	assert_int_equal(meanings_role(&m, "other", LP_ROLE_BUSY), LP_ROLE_BUSY);
	assert_int_equal(meanings_role(NULL, "bandwidth", LP_ROLE_WORK), LP_ROLE_WORK);
	meanings_release(&m);
}

static void test_bad(void **state)
{
	struct meanings m = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(meanings_add(&m, "less", "bandwidth", &err), -EINVAL);
	assert_string_equal(err.text, "'less' does not say what is worse (want lower or higher)");
	assert_int_equal(meanings_add(&m, "lower", "", &err), -EINVAL);
	for (int i = 0; i < MEANINGS_MAX; i++)
		assert_int_equal(meanings_add(&m, "lower", "x", &err), 0);
	assert_int_equal(meanings_add(&m, "lower", "x", &err), -E2BIG);
	meanings_release(&m);
}

/* As archives keep them. */
static void test_line(void **state)
{
	static const char *const said[] = {"lower", "band width", "higher", "heat"};
	struct meanings m = {0}, again = {0};
	struct strbuf line = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(meanings_parse(&m, said, 4, &err), 0);
	meanings_format(&m, &line);
	assert_string_equal(line.text, "lower\tband width\thigher\theat");
	assert_int_equal(meanings_read(&again, line.text), 0);
	assert_int_equal(meanings_read(&again, line.text), 0); /* as the next file says it */
	assert_int_equal(again.n, 2);
	assert_int_equal(meanings_role(&again, "band width", LP_ROLE_WORK), LP_ROLE_YIELD);
	assert_int_equal(meanings_role(&again, "heat", LP_ROLE_OTHER), LP_ROLE_HARM);
	/* What says nothing is left out. */
	assert_int_equal(meanings_read(&again, "sideways\tx\tlower\t\tlower\ty\tlower"), 0);
	assert_int_equal(meanings_read(&again, ""), 0);
	assert_int_equal(again.n, 3);
	assert_int_equal(meanings_add(&again, "lower", "two\nlines", &err), -EINVAL);
	strbuf_release(&line);
	meanings_release(&m);
	meanings_release(&again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_role),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
