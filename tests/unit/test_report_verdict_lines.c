#include "report/verdict_lines.h"

#include "printed.h"
#include "verdict_rig.h"

static char *print(const struct lp_verdict *v, int (*how)(FILE *out, const struct lp_verdict *v))
{
	struct printed p;

	assert_int_equal(how(printed_begin(&p), v), 0);
	return printed_end(&p);
}

static void assert_prints(const struct lp_verdict *v,
	int (*how)(FILE *out, const struct lp_verdict *v), const char *expected)
{
	char *text = print(v, how);

	assert_string_equal(text, expected);
	free(text);
}

static void test_lines(void **state)
{
	struct lp_verdict *v = rig_verdict();

	(void)state;
	assert_prints(v, verdict_print_lines,
		"CRITICAL\tfs2/disk:sdd\tdisk-busy\t2011-04-17T03:52:30Z\t-\t97\tfs2: disk sdd is "
		"slow, 4.1x its peers\n"
		"CRITICAL\tfs3/disk:sdc\tlost-path\t2011-04-17T08:52:30Z\t-\t90\tfs3: disk sdc "
		"does no work, while its peers do\n"
		"CRITICAL\tfs3/disk:<img src=x "
		"onerror=alert(1)>\tdisk-busy\t2011-04-17T02:22:30Z\t2011-04-17T07:30:00Z\t61\tfs3:"
		" "
		"disk <img src=x onerror=alert(1)> is slow, 2.4x its peers\n");
	lp_verdict_free(v);
	v = rig_healthy();
	assert_prints(v, verdict_print_lines,
		"OK\t-\t-\t-\t-\t-\tall is well: nothing is slow, failing or missing among 24 "
		"disks\n");
	assert_int_equal(verdict_unknown(v, "no data from fs4"), 0);
	assert_prints(v, verdict_print_lines, "UNKNOWN\t-\t-\t-\t-\t-\tno data from fs4\n");
	lp_verdict_free(v);
}

static void test_nagios(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text;

	(void)state;
	v->status = LP_STATUS_SUSPECTS;
	text = print(v, verdict_print_nagios);
	assert_non_null(strstr(text,
		"LIMPET CRITICAL - fs2: disk sdd is slow, 4.1x its peers (since "
		"2011-04-17T03:52:30Z, 8h08m) and 2 more | incidents=3;;0;0 warnings=0;0;;0 "
		"unjudged=0;;;0 components=24;;;0\nfs3: disk sdc does no work"));
	free(text);
	v->incidents[0].ended = true;
	text = print(v, verdict_print_nagios);
	assert_non_null(strstr(text, "was slow, 4.1x its peers (from 2011-04-17T03:52:30Z, "));
	free(text);
	assert_int_equal(verdict_nagios_status(v), 2);
	v->status = LP_STATUS_UNKNOWN;
	assert_int_equal(verdict_nagios_status(v), 3);
	v->status = LP_STATUS_WARNINGS;
	assert_int_equal(verdict_nagios_status(v), 1);
	lp_verdict_free(v);
	v = rig_healthy();
	text = print(v, verdict_print_nagios);
	assert_true(!strncmp(text, "LIMPET OK - all is well: ", 25));
	assert_int_equal(verdict_nagios_status(v), 0);
	free(text);
	lp_verdict_free(v);
}

/* A name cannot begin the numbers, nor a line or a field of its own. */
static void test_hostile(void **state)
{
	struct lp_verdict *v = rig_verdict();
	char *text;

	(void)state;
	lp_identity_unref(v->components[RIG_SLOW]);
	v->components[RIG_SLOW] = lp_identity_new("fs2", "disk", "a|b\tc\nd\033[2J", NULL);
	free(v->incidents[0].part);
	v->incidents[0].part = strdup(v->components[RIG_SLOW]->text);
	text = print(v, verdict_print_nagios);
	assert_non_null(strstr(text, "fs2: disk a/b/c/d?[2J is slow"));
	assert_ptr_equal(strchr(text, '|'), strrchr(text, '|'));
	free(text);
	text = print(v, verdict_print_lines);
	assert_non_null(strstr(text, "CRITICAL\tfs2/disk:a/b/c/d?[2J\tdisk-busy\t"));
	free(text);
	lp_verdict_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines),
		cmocka_unit_test(test_nagios), cmocka_unit_test(test_hostile)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
