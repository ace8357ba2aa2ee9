#include "unit.h"

#include "model/identity.h"
#include <stdio.h>
#include <string.h>

/* All labels as "key>value;", as they are found. */
static void check(const char *labels, const char *want)
{
	char got[128] = "";
	struct label l;

	while (label_next(&labels, &l))
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%.*s>%.*s;", (int)l.n_key,
			l.key, (int)l.n_value, l.value);
	assert_string_equal(got, want);
}

static void test_next(void **state)
{
	(void)state;
	check("", "");
	check("\n\n", "");
	check("a=b", "a>b;");
	check("a=b\n", "a>b;");
	check("a=b=c\nno equals\n=x\ny=\n", "a>b=c;>x;y>;");
}

static void test_get(void **state)
{
	char buf[8] = "before";

	(void)state;
	assert_false(labels_get("stable=wwn-1", "stab", buf, sizeof(buf)));
	assert_false(labels_get("", "stable", buf, sizeof(buf)));
	assert_string_equal(buf, "before");
	assert_true(labels_get("x=1\nstable=wwn-0x5000\nstable=2", "stable", buf, sizeof(buf)));
	assert_string_equal(buf, "wwn-0x5"); /* as much as fits, of the first */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_next), cmocka_unit_test(test_get)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
