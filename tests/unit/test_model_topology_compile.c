#include "temp_dir.h"
#include "unit.h"

#include "base/array.h"
#include "model/inventory.h"
#include "model/topology.h"
#include "topology_rig.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char intrepid[] = "# comment\n"
			       "version: 1\n"
			       "components:\n"
			       "  - match: \"fs{server}/disk:{array}.{lun}\"\n"
			       "    attributes:\n"
			       "      array: ddn{array}\n"
			       "      controller: \"ddn{array}a\"\n"
			       "      server: fs{server}\n"
			       "      set: old\n"
			       "      priority: 1\n"
			       "  - match: 'fs{server}/disk:{array}.{lun}'\n"
			       "    where: {lun: 48-71}\n"
			       "    attributes: {set: new}\n"
			       "  - match: fs*/disk:{array}.{lun}\n"
			       "    where: {array: '6,8-9, x?', observer: 'fs1[0-9]'}\n"
			       "    attributes: {priority: 2, controller: 'ddn{array}b'}\n"
			       "  - match: fs7/disk:*\n"
			       "    attributes: {priority: ''}\n"
			       "groups:\n"
			       "  - name: luns\n"
			       "    match: '*/disk:*'\n"
			       "    split_by: [priority, set]\n"
			       "parts: [array, controller]\n";

static struct topology *parse(const char *text)
{
	struct topology *t = NULL;
	struct lp_err err = {0};

	if (topology_parse(text, strlen(text), "site.yaml", &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

static void check(
	const struct topology *t, const char *component, const char *attribute, const char *value)
{
	char buf[64];
	const char *got =
		topology_attribute(t, identity_of(component), attribute, buf, sizeof(buf));

	if (value)
		assert_string_equal(got ? got : "(none)", value);
	else
		assert_null(got);
}

static void test_attributes(void **state)
{
	struct topology *t = parse(intrepid);
	char tiny[4];

	(void)state;
	check(t, "fs16/disk:21.07", "array", "ddn21");
	check(t, "fs16/disk:21.07", "controller", "ddn21a");
	check(t, "fs16/disk:21.07", "server", "fs16");
	check(t, "fs16/disk:21.07", "observer", "fs16");
	check(t, "fs16/disk:21.07", "set", "old");
	check(t, "fs16/disk:21.48", "set", "new");
	check(t, "fs16/disk:21.71", "set", "new");
	check(t, "fs16/disk:21.72", "set", "old");
	check(t, "fs16/disk:21.x", "set", "old");
	check(t, "fs16/disk:21.07", "weight", NULL);
	check(t, "fs16/net:eth0", "server", NULL);
	assert_string_equal(topology_attribute(t, identity_of("fs16/disk:21.07"), "controller",
				    tiny, sizeof(tiny)),
		"ddn");
	topology_free(t);
}

static void test_later_rules_win(void **state)
{
	struct topology *t = parse(intrepid);

	(void)state;
	check(t, "fs16/disk:6.00", "priority", "2");
	check(t, "fs16/disk:06.00", "controller", "ddn06b");
	check(t, "fs16/disk:8.00", "controller", "ddn8b");
	check(t, "fs16/disk:xy.00", "controller", "ddnxyb");
	check(t, "fs16/disk:x.00", "controller", "ddnxa");
	check(t, "fs16/disk:10.00", "priority", "1");
	check(t, "fs26/disk:6.00", "priority", "1");
	check(t, "fs7/disk:6.00", "priority", NULL); /* taken away */
	topology_free(t);
}

static void test_groups(void **state)
{
	static const char *const names[] = {"fs1/disk:2.00", "fs1/disk:2.48", "fs2/disk:2.01",
		"fs3/net:eth0", "fs10/disk:6.00", "fs3/disk:2.02", "fs3/disk:2.49", "fs7/disk:1.1"};
	const char *const again[] = {"set", "observer"};
	struct lp_warn warn = {0};
	struct topology *t = parse(intrepid);
	struct lp_peer_group *g;
	uint32_t n;

	(void)state;
	assert_int_equal(groups_of(t, names, ARRAY_SIZE(names), NULL, 0, &warn, &g, &n), 0);
	assert_int_equal(warn.count, 1); /* fs3/net:eth0 */
	assert_int_equal(n, 4);
	assert_string_equal(g[0].name, "luns priority=1 set=old");
	assert_int_equal(g[0].n_members, 3);
	assert_int_equal(g[0].members[2], 5);
	assert_null(g[0].refused);
	assert_string_equal(g[1].name, "luns priority=1 set=new");
	assert_int_equal(g[1].n_members, 2);
	assert_non_null(g[1].refused);
	assert_string_equal(g[2].name, "luns priority=2 set=old");
	assert_string_equal(g[3].name, "luns priority=(none) set=old");
	lp_peer_groups_free(g, n);
	assert_int_equal(groups_of(t, names, ARRAY_SIZE(names), again, 2, NULL, &g, &n), 0);
	assert_int_equal(n, 7);
	assert_string_equal(g[0].name, "luns priority=1 set=old observer=fs1");
	lp_peer_groups_free(g, n);
	topology_free(t);
}

static void test_names(void **state)
{
	struct topology *t = parse("version: 1\ncomponents:\n"
				   "- names: [a/disk:1, 'b/disk:*']\n"
				   "  attributes: {class: 1}\n"
				   "- names:\n  - a/disk:2\n  - a/disk:31\n"
				   "  match: a/disk:{n}\n  where: {n: 0-9}\n"
				   "  attributes: {class: '2{n}'}\n");

	(void)state;
	check(t, "a/disk:1", "class", "1");
	check(t, "a/disk:2", "class", "22");
	check(t, "a/disk:31", "class", NULL);
	check(t, "b/disk:1", "class", NULL); /* no glob */
	check(t, "b/disk:*", "class", "1");
	assert_string_equal(topology_attribute_name(t, 0), "class");
	assert_null(topology_attribute_name(t, 1));
	topology_free(t);
}

static void test_parts_and_issuer(void **state)
{
	struct topology *t = parse(intrepid);
	const char *const *parts = topology_parts(t);

	(void)state;
	assert_string_equal(parts[0], "array");
	assert_string_equal(parts[1], "controller");
	assert_string_equal(parts[2], "observer");
	assert_null(parts[3]);
	assert_string_equal(topology_issuer(t), "server");
	topology_free(t);
	t = parse("version: 1\ncomponents: [{match: '*', attributes: {drawer: 1, rack: 2}}]\n");
	parts = topology_parts(t);
	assert_string_equal(parts[0], "rack");
	assert_string_equal(parts[1], "drawer");
	assert_string_equal(parts[2], "observer");
	assert_null(topology_issuer(t));
	topology_free(t);
	t = parse("version: 1\n"
		  "components: [{match: '*', attributes: {priority: 1, nsd: x}}]\n"
		  "parts: [observer, nsd]\n");
	assert_string_equal(topology_parts(t)[0], "observer");
	assert_string_equal(topology_parts(t)[1], "nsd");
	assert_null(topology_parts(t)[2]);
	assert_string_equal(topology_issuer(t), "observer");
	topology_free(t);
	t = parse("version: 1\nissuer: kind\n");
	assert_string_equal(topology_issuer(t), "kind");
	topology_free(t);
}

/* A file of version 1 whose line 2 and on are `rest` gives this error. */
static void check_error(const char *rest, const char *expected)
{
	struct topology *t = NULL;
	struct lp_err err = {0};
	char text[2048];
	int r;

	snprintf(text, sizeof(text), "version: 1\n%s", rest);
	r = topology_parse(text, strlen(text), "s.yaml", &t, &err);
	assert_int_equal(r, -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text, expected);
	assert_null(t);
}

#define RULE "components:\n- match: 'a{x}/disk:*'\n"

static void test_observers(void **state)
{
	struct topology *t = parse("version: 1\nobservers: [oss1, oss2, oss1]\n");
	const struct inventory *inv = topology_observers(t);
	const char bad[] = "version: 1\nobservers:\n  - oss1\n  - oss1/disk:sda\n";
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(inv->n, 2);
	assert_true(inventory_has(inv, "oss2"));
	topology_free(t);
	t = parse("version: 1\n");
	assert_null(topology_observers(t));
	assert_null(topology_observers(NULL));
	topology_free(t);
	assert_int_equal(topology_parse(bad, strlen(bad), "site.yaml", &t, &err), -EINVAL);
	if (strncmp(err.text, "site.yaml:4: this names a component", 35) != 0)
		fail_msg("%s", err.text);
}

static void test_errors_of_rules(void **state)
{
	(void)state;
	check_error("components: [{attributes: {a: b}}]",
		"s.yaml:2: this rule does not say which components it is about: 'match' is "
		"missing");
	check_error("components:\n - match: '*'\n",
		"s.yaml:3: this rule says nothing: it has no 'attributes' and no 'table'");
	check_error("components:\n- attributes: {a: b}\n  match: 'x['\n",
		"s.yaml:4: 'x[': '[' without ']', or a range that runs backwards");
	check_error(RULE "  attributes:\n    c: d{y}\n",
		"s.yaml:5: '{y}' is not a capture of the rule's match");
	check_error(RULE "  attributes: {c: 'd}'}\n", "s.yaml:4: '}' without '{'");
	check_error(RULE "  attributes: {observer: b}\n",
		"s.yaml:4: 'observer' comes from the component's name and cannot be set by a rule");
	check_error(RULE "  attributes: {a b: c}\n",
		"s.yaml:4: 'a b' is not a name for an attribute (letters, digits, - and _)");
	check_error(RULE "  attributes: {a: 1}\n  where:\n    y: 1\n",
		"s.yaml:6: '{y}' is not a capture of the rule's match");
	check_error(RULE "  attributes: {a: 1}\n  where: {x: 9-7}\n",
		"s.yaml:5: the range '9-7' runs backwards");
	check_error(RULE "  attributes: {a: 1}\n  where: {x: '1,,2'}\n",
		"s.yaml:5: 'x: 1,,2' has an empty choice; write numbers, ranges or globs with "
		"commas between, like 0-47,50");
	check_error(RULE "  attributes: {a: 1}\n  where: {x: '[z'}\n",
		"s.yaml:5: '[z': '[' without ']', or a range that runs backwards");
	check_error(RULE "  attributes: {}\n", "s.yaml:4: 'attributes' is empty");
	check_error(RULE "  attributes: {a: 1, b: 2, a: 3}\n",
		"s.yaml:4: 'a' is given twice; first in line 4");
	check_error(RULE "  table: x.csv\n",
		"s.yaml:4: a topology that is not read from a file has no tables");
}

static void test_errors_of_groups(void **state)
{
	(void)state;
	check_error("groups:\n- match: '*'\n", "s.yaml:3: this group has no 'name'");
	check_error("groups:\n- name: d\n",
		"s.yaml:3: group 'd' does not say which components it "
		"has: 'match' is missing");
	check_error("groups:\n- {name: d, match: '*'}\n\n- match: '*'\n  name: d\n",
		"s.yaml:6: there is a group 'd' already, in line 3");
	check_error("groups:\n- name: d\n  match: '{'\n", "s.yaml:4: '{': '{' without '}'");
	check_error(RULE "  attributes: {priority: 1}\ngroups:\n- name: d\n  match: '*'\n"
			 "  split_by:\n  - priority\n  - prioritty\n",
		"s.yaml:10: no rule sets an attribute 'prioritty'; did you mean 'priority'?");
	check_error("groups: [{name: d, match: '*', split_by: [colour]}]",
		"s.yaml:2: no rule sets an attribute 'colour'");
	check_error(
		"groups: [{name: d, match: '*', split_by: []}]", "s.yaml:2: 'split_by' is empty");
	check_error("groups: [{name: d, match: '*', split_by: observer}]",
		"s.yaml:2: 'split_by' must be a list, like [a, b]");
	check_error("parts: [observer, controler]",
		"s.yaml:2: no rule sets an attribute "
		"'controler'");
	check_error("\nissuer: obsever\n",
		"s.yaml:3: no rule sets an attribute 'obsever'; did you mean 'observer'?");
}

static void check_whole(const char *text, const char *expected)
{
	struct topology *t = NULL;
	struct lp_err err = {0};

	assert_int_equal(topology_parse(text, strlen(text), "s.yaml", &t, &err), -EINVAL);
	assert_string_equal(err.text, expected);
}

static void test_versions(void **state)
{
	(void)state;
	check_whole("", "s.yaml: the file is empty; begin with 'version: 1'");
	check_whole("# nothing\n", "s.yaml: the file is empty; begin with 'version: 1'");
	check_whole(
		"parts: [observer]\n", "s.yaml:1: 'version' is missing; begin with 'version: 1'");
	check_whole("\n\nversion: 2\n",
		"s.yaml:3: version 2 is not known to this limpet, which reads version 1");
}

static void test_bounds(void **state)
{
	struct topology *t = NULL;
	struct lp_err err = {0};
	size_t cap = 1u << 20, len = 0;
	char *text = malloc(cap);

	(void)state;
	len += (size_t)sprintf(text + len, "version: 1\ncomponents:\n");
	for (int i = 0; i < 10001; i++)
		len += (size_t)sprintf(text + len, "- {match: a, attributes: {b: c}}\n");
	assert_int_equal(topology_parse(text, len, "s.yaml", &t, &err), -EINVAL);
	assert_string_equal(
		err.text, "s.yaml:10003: more than 10000 rules; long lists belong in a table");
	len = (size_t)sprintf(text, "version: 1\ncomponents:\n- match: a\n  attributes:\n");
	for (int i = 0; i < 300; i++)
		len += (size_t)sprintf(text + len, "    a%d: 1\n", i);
	assert_int_equal(topology_parse(text, len, "s.yaml", &t, &err), -EINVAL);
	assert_string_equal(err.text, "s.yaml: more than 256 attributes");
	free(text);
}

static void test_tables(void **state)
{
	char path[TEMP_PATH_MAX], expected[3 * TEMP_PATH_MAX];
	struct topology *t = NULL;
	struct lp_err err = {0};

	(void)state;
	temp_text("site.yaml",
		"version: 1\n"
		"components:\n"
		"- table: list.csv\n"
		"- match: fs{server}/disk:{lun}\n"
		"  attributes: {priority: 8, size: '{lun}T'}\n"
		"  table: priorities.csv\n"
		"groups: [{name: d, match: '*', split_by: [priority]}]\n");
	temp_text("list.csv", "component,colour\nfs1/disk:2,red\n\n# more\nfs1/disk:3 , blue\n");
	temp_text("priorities.csv", "lun,server,priority\n2,1,1\n02,3,\n3,01,4\n");
	snprintf(path, sizeof(path), "%s", temp_path("site.yaml"));
	if (topology_read(path, &t, &err) < 0)
		fail_msg("%s", err.text);
	check(t, "fs1/disk:2", "colour", "red");
	check(t, "fs1/disk:3", "colour", "blue");
	check(t, "fs1/disk:4", "colour", NULL);
	check(t, "fs1/disk:2", "priority", "1");
	check(t, "fs1/disk:2", "size", "2T");
	check(t, "fs3/disk:2", "priority", "8");
	check(t, "fs1/disk:03", "priority", "4");
	check(t, "fs9/disk:03", "priority", "8");
	topology_free(t);
	temp_text("list.csv", "component,colour\nfs1/disk:2\n");
	assert_int_equal(topology_read(path, &t, &err), -EINVAL);
	snprintf(expected, sizeof(expected), "%s:3: %s:2: 1 fields where the first line has 2",
		path, temp_path("list.csv"));
	assert_string_equal(err.text, expected);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(topology_read(path, &t, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_later_rules_win),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_parts_and_issuer),
		cmocka_unit_test(test_observers),
		cmocka_unit_test(test_errors_of_rules),
		cmocka_unit_test(test_errors_of_groups),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test_setup_teardown(test_tables, temp_dir_setup, temp_dir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
