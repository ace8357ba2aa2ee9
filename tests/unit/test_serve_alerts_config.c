#include "base/cleanup.h"
#include "base/file.h"
#include "serve/alerts_config.h"
#include "unit.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(const char *text, struct alerts_config *c, struct lp_err *err)
{
	return alerts_config_parse(text, strlen(text), "a.yaml", c, err);
}

static void test_good(void **state)
{
	struct alerts_config c = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(parse("# where alerts go\n"
			       "page: https://collector:9700/\n"
			       "targets:\n"
			       "  - name: ops\n"
			       "    alertmanager: http://127.0.0.1:9093//\n"
			       "  - {name: chat, webhook: 'https://x/y?z=1', level: critical,\n"
			       "     token_file: /t, ca_file: /c}\n"
			       "  - name: pager\n"
			       "    command:\n"
			       "      - /bin/page\n"
			       "      - --queue\n",
				 &c, &err),
		0);
	assert_string_equal(c.page, "https://collector:9700");
	assert_int_equal(c.n, 3);
	assert_int_equal(c.targets[0].kind, ALERT_ALERTMANAGER);
	assert_string_equal(c.targets[0].url, "http://127.0.0.1:9093");
	assert_false(c.targets[0].critical);
	assert_int_equal(c.targets[1].kind, ALERT_WEBHOOK);
	assert_true(c.targets[1].critical);
	assert_string_equal(c.targets[1].token_file, "/t");
	assert_string_equal(c.targets[1].ca_file, "/c");
	assert_int_equal(c.targets[2].kind, ALERT_COMMAND);
	assert_string_equal(c.targets[2].command[1], "--queue");
	assert_null(c.targets[2].command[2]);
	assert_int_equal(c.targets[2].line, 8);
	alerts_config_release(&c);
}

/* Every mistake is reported with its line. */
static void test_bad(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "a.yaml:1: the file must begin"},
		{"- a\n", "a.yaml:1: the file must begin"},
		{"page: nowhere\n", "a.yaml:1: 'nowhere' is not a URL"},
		{"page: http://x\n", "a.yaml:1: there are no targets"},
		{"page: http://x\ntarget:\n", "a.yaml:2: there is no 'target' here; did you mean"},
		{"targets: 5\n", "a.yaml:1: targets must be a list"},
		{"targets:\n  - 5\n", "a.yaml:2: each target must have keys"},
		{"targets:\n  - name: a\n", "a.yaml:2: target 'a' needs one of"},
		{"targets:\n  - webhook: http://x\n", "a.yaml:2: a target needs a name"},
		{"targets:\n  - name: a\n    webhook: ftp://x\n",
			"a.yaml:3: 'ftp://x' is not a URL"},
		{"targets:\n  - name: a\n    webhook: http://x\n    command: [/x]\n",
			"a.yaml:4: a target is one of"},
		{"targets:\n  - name: a\n    command: page me\n",
			"a.yaml:3: command must be a list"},
		{"targets:\n  - name: a\n    command: [page]\n", "a.yaml:3: command must begin"},
		{"targets:\n  - name: a\n    command: []\n", "a.yaml:3: command must begin"},
		{"targets:\n  - name: a\n    command: [/x]\n    level: loud\n",
			"a.yaml:4: level must be 'warning' or 'critical', not 'loud'"},
		{"targets:\n  - name: a\n    command: [/x]\n    ca_file: /c\n",
			"a.yaml:2: token_file and ca_file are for URLs"},
		{"targets:\n  - name: a\n    command: [/x]\n  - name: a\n    command: [/x]\n",
			"a.yaml:4: the name 'a' is already used by the target in line 2"},
		{"targets:\n  - name: [a]\n", "a.yaml:2: name must be text"},
		{"targets: [\n", "a.yaml:2: "},
		{"targets:\n  - name: a\n    command: [/x]\n---\ntargets: []\n",
			"a.yaml:4: there is a second document"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct alerts_config c = {0};
		struct lp_err err = {0};

		assert_int_equal(parse(cases[i].text, &c, &err), -EINVAL);
		if (strncmp(err.text, cases[i].says, strlen(cases[i].says)) != 0)
			fail_msg("'%s' instead of '%s'", err.text, cases[i].says);
		alerts_config_release(&c);
	}
}

/* The example of the manual is read as it stands there. */
static void test_manual(void **state)
{
	_cleanup_(alerts_config_release) struct alerts_config c = {0};
	_cleanup_free_ char *path = NULL, *page = NULL;
	struct lp_err err = {0};
	const char *first, *end;
	size_t size;

	(void)state;
	assert_true(asprintf(&path, "%s/../../docs/alerts.md", getenv("FIXTURES")) > 0);
	assert_int_equal(file_slurp(path, 1 << 20, &page, &size, &err), 0);
	first = strstr(page, "```yaml\n");
	assert_non_null(first);
	first += strlen("```yaml\n");
	end = strstr(first, "```");
	assert_non_null(end);
	if (alerts_config_parse(first, (size_t)(end - first), "alerts.md", &c, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(c.n, 3);
	assert_string_equal(c.page, "https://collector.example:9700");
	assert_true(c.targets[1].critical && !c.targets[0].critical);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad),
		cmocka_unit_test(test_manual)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
