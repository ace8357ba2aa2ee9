#include "unit.h"

#include "import/remote/mapping.h"
#include <errno.h>
#include <string.h>

#define HEAD "version: 1\ngroups:\n  - kind: k\n    name: \"{d}\"\n    metrics:\n"

static void check_bad(const char *text, const char *expected)
{
	struct mapping m = {0};
	struct lp_err err = {0};

	assert_int_equal(mapping_parse(&m, text, strlen(text), "m.yaml", &err), -EINVAL);
	assert_string_equal(err.text, expected);
	mapping_release(&m);
}

static void test_bad(void **state)
{
	(void)state;
	check_bad("groups: []\n", "m.yaml:1: begin with 'version: 1'");
	check_bad("version: 1\n", "m.yaml:1: 'groups' must be a list");
	check_bad("version: 1\ngroups: [x]\n",
		"m.yaml:2: a group must be a mapping, like {key: value}");
	check_bad("version: 1\ngroups:\n  - {kind: k}\n",
		"m.yaml:3: a group needs a 'kind' and a 'name'");
	check_bad("version: 1\ngroups:\n  - {kind: k, name: \"{d\", metrics: []}\n",
		"m.yaml:3: 'name' must be text with labels in braces, like {device}: '{d'");
	check_bad("version: 1\ngroups:\n  - {kind: k, name: x}\n",
		"m.yaml:3: 'metrics' must be a list");
	check_bad(
		HEAD "      - {metric: a}\n", "m.yaml:6: a metric needs a 'metric' and a 'column'");
	check_bad(HEAD "      - {metric: a-b, column: c}\n",
		"m.yaml:6: 'a-b' is not the name of a metric");
	check_bad(HEAD "      - {metric: a, column: \"x,y\"}\n",
		"m.yaml:6: 'x,y' is not the name of a column");
	check_bad(HEAD "      - {metric: a, column: c, scale: 0}\n",
		"m.yaml:6: 'scale' must not be 0");
	check_bad(HEAD "      - {metric: a, column: c, type: odd}\n",
		"m.yaml:6: 'type' must be counter or gauge, not 'odd'");
	check_bad(HEAD "      - {metric: a, column: c, role: odd}\n",
		"m.yaml:6: 'role' must be latency, work, busy, trouble, yield or other, not 'odd'");
	check_bad(HEAD "      - {metric: a, column: c, role: work}\n",
		"m.yaml:6: limpet infers another meaning from the name 'c': choose a 'column' that "
		"says work (for instance with 'throughput' in it)");
	check_bad(HEAD "      - {metric: a, column: c, where: {l: \"(\"}}\n",
		"m.yaml:6: '(' is not a regular expression");
	check_bad("version: 1\ngroups:\n  - kind: disk\n    name: \"{d}\"\n    metrics:\n"
		  "      - {metric: a, per: b, column: rd_ios}\n",
		"m.yaml:6: 'rd_ios' is a column that limpet records itself: it takes no 'per'");
	check_bad("version: 1\ngroups:\n  - kind: disk\n    name: \"{d}\"\n    metrics:\n"
		  "      - {metric: a, column: rd_ios, type: gauge}\n",
		"m.yaml:6: limpet's own column 'rd_ios' is a counter");
}

static const char *label(const void *series, const char *name)
{
	const char *const *pairs = series;

	for (; pairs[0]; pairs += 2) {
		if (!strcmp(pairs[0], name))
			return pairs[1];
	}
	return NULL;
}

static void test_expand(void **state)
{
	static const char *const series[] = {"a", "1", "empty", "", "b_c", "2", NULL};
	struct strbuf to = {0};

	(void)state;
	assert_true(mapping_expand("x{a}-{b_c}y", label, series, &to));
	assert_string_equal(to.text, "x1-2y");
	assert_true(mapping_expand("{empty|nosuch|a}", label, series, &to));
	assert_string_equal(to.text, "1");
	assert_false(mapping_expand("x{nosuch}", label, series, &to));
	assert_false(mapping_expand("{empty}", label, series, &to));
	assert_true(mapping_expand("plain", label, series, &to));
	assert_string_equal(to.text, "plain");
	strbuf_release(&to);
}

static void test_where(void **state)
{
	static const char text[] = HEAD "      - {metric: a_total, column: c, where: {dev: "
					"\"!lo|ram.*\", "
					"mode: user}}\n";
	static const char *const good[] = {"dev", "sda", "mode", "user", NULL};
	static const char *const bad[][5] = {{"dev", "ram0", "mode", "user", NULL},
		{"dev", "lo", "mode", "user", NULL}, {"dev", "sda", "mode", "use", NULL},
		{"dev", "sda", NULL}};
	struct mapping m = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(mapping_parse(&m, text, strlen(text), "m", &err), 0);
	assert_int_equal(m.groups[0].columns[0].type, MAPPING_COUNTER);
	assert_true(mapping_matches(&m.groups[0].columns[0].where, label, good));
	for (size_t i = 0; i < 4; i++)
		assert_false(mapping_matches(&m.groups[0].columns[0].where, label, bad[i]));
	mapping_release(&m);
}

/* What is built in can be read; node_exporter's disks become the columns of our own collector. */
static void test_builtin(void **state)
{
	struct mapping m = {0};
	struct lp_err err = {0};
	size_t own = 0, roles = 0;

	(void)state;
	assert_int_equal(mapping_load_builtin(&m, "prometheus", &err), 0);
	assert_true(m.n_groups >= 8);
	assert_string_equal(m.groups[0].kind, "disk");
	for (size_t i = 0; i < m.n_groups; i++) {
		for (size_t c = 0; c < m.groups[i].n_columns; c++) {
			own += m.groups[i].columns[c].own.name != NULL;
			roles += m.groups[i].columns[c].has_role;
			if (i < 3)
				assert_non_null(m.groups[i].columns[c].own.name);
			else if (!m.groups[i].columns[c].own.name)
				assert_true(m.groups[i].columns[c].has_role);
		}
	}
	assert_int_equal(m.groups[0].n_columns, 17);
	assert_int_equal(m.groups[0].columns[3].own.bits, 32);
	assert_true(own > 80 && roles >= 5);
	mapping_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_where),
		cmocka_unit_test(test_builtin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
