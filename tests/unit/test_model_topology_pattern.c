#include "unit.h"

#include "identity_rig.h"
#include "model/topology_pattern.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the captures are, "a=1 b=2", or "no". */
static void check(const char *pattern, const char *name, const char *expected)
{
	struct pattern p = {0};
	struct pattern_match m = {0};
	struct lp_err err = {0};
	char text[256] = "";
	size_t len = 0;

	if (pattern_compile(pattern, &p, &err) < 0)
		fail_msg("%s", err.text);
	if (!pattern_matches(&p, name, strlen(name), &m))
		snprintf(text, sizeof(text), "no");
	for (unsigned i = 0; strcmp(text, "no") != 0 && i < p.n_captures; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s=%.*s", i ? " " : "",
			p.captures[i], (int)m.len[i], m.text[i]);
	assert_string_equal(text, expected);
	pattern_release(&p);
}

static void test_globs(void **state)
{
	(void)state;
	check("*", "", "");
	check("*", "a/disk:b", "");
	check("a", "a", "");
	check("a", "ab", "no");
	check("ab", "a", "no");
	check("a*", "a", "");
	check("*/disk:sd?", "oss1/disk:sdb", "");
	check("*/disk:sd?", "oss1/disk:sdbc", "no");
	check("*a*a", "aa", "");
	check("*a*a", "a", "no");
	check("**x**", "axb", "");
	check("a*b*c", "abcbc", "");
	check("a*b*c", "abcb", "no");
	check("sd[a-c]", "sdb", "");
	check("sd[a-c]", "sdd", "no");
	check("sd[!a-c]", "sdd", "");
	check("sd[^a-c]", "sda", "no");
	check("[]x]", "]", "");
	check("[a-]", "-", "");
	check("a\\*b", "a*b", "");
	check("a\\*b", "axb", "no");
	check("\\{x\\}", "{x}", "");
}

static void test_captures(void **state)
{
	(void)state;
	check("fs{server}/disk:{array}.{lun}", "fs16/disk:6.00", "server=16 array=6 lun=00");
	check("fs{server}/disk:{array}.{lun}", "fs/disk:6.00", "no");
	check("fs{server}/disk:{array}.{lun}", "fs1/disk:6.", "no");
	check("{a}.{b}", "6.00.1", "a=6 b=00.1"); /* the shortest first */
	check("{a}.x", "1.x.x", "a=1.x");	  /* but all of it must match */
	check("*-{b}", "1-2-3", "b=2-3");
	check("x{a}[0-9]y", "xqq7y", "a=qq");
}

static void check_error(const char *pattern, const char *expected)
{
	struct pattern p = {0};
	struct lp_err err = {0};

	assert_int_equal(pattern_compile(pattern, &p, &err), -EINVAL);
	assert_string_equal(err.text, expected);
	pattern_release(&p);
}

static void test_errors(void **state)
{
	char longer[5000];

	(void)state;
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	check_error("", "an empty pattern matches nothing");
	check_error("a{b", "'a{b': '{' without '}'");
	check_error("a}b", "'a}b': '}' without '{'");
	check_error("{a b}", "'{a b}': '{a b}' is not a name (letters, digits, - and _)");
	check_error("{}", "'{}': '{}' is not a name (letters, digits, - and _)");
	check_error("{a}/{a}", "'{a}/{a}': '{a}' is given twice");
	check_error("{component}", "'{component}': '{component}' is always the whole name");
	check_error("{a}{b}",
		"'{a}{b}': a capture needs something before and behind it that says "
		"where it ends, not * or another capture");
	check_error("*{b}",
		"'*{b}': a capture needs something before and behind it that says "
		"where it ends, not * or another capture");
	check_error("[a", "'[a': '[' without ']', or a range that runs backwards");
	check_error("[z-a]", "'[z-a]': '[' without ']', or a range that runs backwards");
	check_error("a\\", "'a\\': nothing follows the last backslash");
	assert_int_equal(pattern_compile(longer, &(struct pattern){0}, NULL), -EINVAL);
	check_error("{a}.{b}.{c}.{d}.{e}.{f}.{g}.{h}.{i}.{j}.{k}.{l}.{m}.{n}.{o}.{p}.{q}",
		"'{a}.{b}.{c}.{d}.{e}.{f}.{g}.{h}.{i}.{j}.{k}.{l}.{m}.{n}.{o}.{p}.{q}': more than "
		"16 captures");
}

static void check_text(const char *pattern, const char *template, const char *component,
	size_t size, const char *expected)
{
	struct pattern p = {0};
	struct pattern_match m;
	struct text_template t = {0};
	char buf[64];

	assert_int_equal(pattern_compile(pattern, &p, NULL), 0);
	assert_int_equal(text_template_compile(template, &p, &t, NULL), 0);
	assert_true(pattern_matches(&p, component, strlen(component), &m));
	text_template_expand(&t, identity_of(component), &m, buf, size);
	assert_string_equal(buf, expected);
	text_template_release(&t);
	pattern_release(&p);
}

static void test_templates(void **state)
{
	struct pattern p = {0};
	struct text_template t = {0};
	struct lp_err err = {0};

	(void)state;
	check_text("fs{s}/disk:{a}.{l}", "ddn{a}-{s}", "fs1/disk:6.00", 64, "ddn6-1");
	check_text("fs{s}/disk:{a}.{l}", "ddn{a}-{s}", "fs1/disk:6.00", 5, "ddn6");
	check_text(
		"*", "{observer} {kind} {name} {component}", "a/disk:b", 64, "a disk b a/disk:b");
	check_text("{name}/*", "{name}", "a/disk:b", 64, "a"); /* the capture is nearer */
	check_text("*", "", "a/disk:b", 64, "");
	assert_int_equal(pattern_compile("a", &p, NULL), 0);
	assert_int_equal(text_template_compile("x{y}", &p, &t, &err), -EINVAL);
	assert_string_equal(err.text, "'{y}' is not a capture of the rule's match");
	text_template_release(&t);
	pattern_release(&p);
}

/* A stretch is put at the leftmost place: no pattern makes matching slow. */
static void test_hostile(void **state)
{
	char pattern[512] = "", name[1024];

	(void)state;
	for (int i = 0; i < 100; i++)
		snprintf(pattern + 3 * (size_t)i, 4, "*a?");
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	check(pattern, name, "");
	pattern[300] = 'b';
	check(pattern, name, "no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_globs),
		cmocka_unit_test(test_captures),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_templates),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
