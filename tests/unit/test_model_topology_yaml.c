#include "unit.h"

#include "model/topology_yaml.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void check_error(const char *text, size_t len, const char *expected)
{
	struct yaml_text y = {0};
	struct lp_err err = {0};

	assert_int_equal(yaml_text_load(text, len, "s.yaml", &y, &err), -EINVAL);
	assert_string_equal(err.text, expected);
	yaml_text_release(&y);
}

#define CHECK_ERROR(text, expected) check_error(text, sizeof(text) - 1, expected)

static void test_keys(void **state)
{
	(void)state;
	CHECK_ERROR("version: 1\ncomponent: []\n",
		"s.yaml:2: there is no 'component'; did you mean 'components'?");
	CHECK_ERROR("version: 1\nfoo: bar\n",
		"s.yaml:2: there is no 'foo' here; there are: "
		"version, components, groups, parts, "
		"observers, issuer");
	CHECK_ERROR("components:\n- match: a\n  atributes: {b: c}\n",
		"s.yaml:3: there is no 'atributes'; did you mean 'attributes'?");
	CHECK_ERROR("groups:\n- {name: a,\n   split-by: [b]}\n",
		"s.yaml:3: there is no 'split-by'; did you mean 'split_by'?");
	CHECK_ERROR("version: 1\n\nversion: 1\n",
		"s.yaml:3: 'version' is given twice; first in line 1");
	CHECK_ERROR("? [a]\n: b\n", "s.yaml:1: a key must be a word");
	CHECK_ERROR("\"a\\0b\": c\n", "s.yaml:1: text with a zero byte in it");
	CHECK_ERROR("issuer: \"a\\0b\"\n", "s.yaml:1: text with a zero byte in it");
}

static void test_types(void **state)
{
	(void)state;
	CHECK_ERROR("- a\n", "s.yaml:1: 'the file' must be a mapping, like {key: value}");
	CHECK_ERROR("version: [1]\n", "s.yaml:1: 'version' must be one word or text");
	CHECK_ERROR("version: one\n", "s.yaml:1: 'one' is not a number");
	CHECK_ERROR("version:\n", "s.yaml:1: '' is not a number");
	CHECK_ERROR("\nversion: 99999999999\n", "s.yaml:2: Invalid UINT value: '99999999999'");
	CHECK_ERROR("groups:\nversion: 1\n", "s.yaml:1: 'groups' must be a list, like [a, b]");
	CHECK_ERROR("groups: []\n", "s.yaml:1: 'groups' is empty");
	CHECK_ERROR("groups:\n- a\n",
		"s.yaml:2: item 0 of the list must be a mapping, like {match: ...}");
	CHECK_ERROR("components:\n- where: 1\n",
		"s.yaml:2: 'where' must be a mapping, like {key: value}");
	CHECK_ERROR("components:\n- where: {a: [1]}\n", "s.yaml:2: 'a' must be one word or text");
	CHECK_ERROR("parts: [a, {b: c}]\n", "s.yaml:1: '1' must be one word or text");
}

static void test_what_is_not_taken(void **state)
{
	(void)state;
	CHECK_ERROR("components:\n- &r {match: a, attributes: {b: c}}\n- *r\n",
		"s.yaml:3: aliases (*r) are not supported here");
	CHECK_ERROR("version: 1\n---\nversion: 1\n", "s.yaml:2: a second document begins here");
	CHECK_ERROR("issuer: a\n  x: [\n",
		"s.yaml:2: this is not YAML: mapping values are not "
		"allowed in this context");
	CHECK_ERROR("version: 'x\n",
		"s.yaml:2: this is not YAML: while scanning a quoted scalar, "
		"found unexpected end of stream");
	CHECK_ERROR("a\x01", "s.yaml: byte 2: control characters are not allowed");
}

static void test_nesting(void **state)
{
	char text[4096] = "parts: ";

	(void)state;
	memset(text + strlen(text), '[', sizeof(text) - strlen(text) - 1);
	check_error(text, strlen(text), "s.yaml:1: '0' must be one word or text");
}

static void test_lines(void **state)
{
	static const char text[] = "version: 1\ncomponents:\n\n- match: a\n  where: {x: 1}\n"
				   "  attributes:\n    b: c\n    d: \"e f\"\n- match: b\n"
				   "  attributes: {g: h}\ngroups:\n- name: z\n  match: y\n"
				   "  split_by:\n  - v\n  - w\n";
	struct yaml_text y = {0};
	struct lp_err err = {0};

	(void)state;
	if (yaml_text_load(text, strlen(text), "s.yaml", &y, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(y.file->version, 1);
	assert_int_equal(y.file->components_count, 2);
	assert_string_equal(y.file->components[1].match, "b");
	assert_null(y.file->components[1].table);
	assert_int_equal(y.file->groups_count, 1);
	assert_int_equal(y.file->groups[0].split_by_count, 2);
	assert_string_equal(y.file->groups[0].split_by[1], "w");
	assert_int_equal(y.n_pairs, 4);
	assert_int_equal(y.pairs[0].where, YAML_WHERE);
	assert_string_equal(y.pairs[0].key, "x");
	assert_int_equal(y.pairs[0].line, 5);
	assert_int_equal(y.pairs[2].where, YAML_ATTRIBUTES);
	assert_string_equal(y.pairs[2].value, "e f");
	assert_int_equal(y.pairs[2].line, 8);
	assert_int_equal(y.pairs[3].rule, 1);
	assert_int_equal(yaml_text_line(&y, "components/1/match"), 9);
	assert_int_equal(yaml_text_line(&y, "components/1/table"), 9);
	assert_int_equal(yaml_text_line(&y, "groups/%d/split_by/1", 0), 16);
	assert_int_equal(yaml_text_line(&y, "issuer"), 1);
	yaml_text_release(&y);
}

static void test_meant(void **state)
{
	static const char *const names[] = {"split_by", "name", "where", NULL};

	(void)state;
	assert_string_equal(yaml_meant("split", (const char *const[]){"spilt", NULL}), "spilt");
	assert_string_equal(yaml_meant("nam", names), "name");
	assert_string_equal(yaml_meant("were", names), "where");
	assert_null(yaml_meant("controller", names));
	assert_null(yaml_meant("ab", (const char *const[]){"x", NULL}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_what_is_not_taken),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
