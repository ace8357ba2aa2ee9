#include "unit.h"

#include "import/remote/yaml_tree.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void check_load(const char *text, const char *expected)
{
	struct yaml_tree t = {0};
	struct lp_err err = {0};

	assert_int_equal(yaml_tree_load(&t, text, strlen(text), "f.yaml", &err), -EINVAL);
	assert_string_equal(err.text, expected);
	yaml_tree_release(&t);
}

static void test_refused(void **state)
{
	(void)state;
	check_load("", "f.yaml: the file is empty");
	check_load("a: &x 1\nb: *x\n", "f.yaml:2: aliases are not supported here");
	check_load("a: 1\n---\nb: 1\n", "f.yaml:2: a second document begins here");
	check_load("[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]", "f.yaml:1: nested too deeply");
	check_load("a: \"x\\0y\"\n", "f.yaml:1: text with a zero byte in it");
	check_load("a: [1\n",
		"f.yaml:2: this is not YAML: while parsing a flow sequence, did not find expected "
		"',' or ']'");
}

static void test_keys(void **state)
{
	static const char *const keys[] = {"name", "kind", NULL};
	static const char *const texts[][2] = {
		{"nam: x\n", "f.yaml:1: there is no 'nam'; did you mean 'name'?"},
		{"name: x\n\nfoobar: y\n",
			"f.yaml:3: there is no 'foobar' here; there are: name, kind"},
		{"name: x\nname: y\n", "f.yaml:2: 'name' is given twice"},
		{"- x\n", "f.yaml:1: a thing must be a mapping, like {key: value}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct yaml_tree t = {0};
		struct lp_err err = {0};

		assert_int_equal(
			yaml_tree_load(&t, texts[i][0], strlen(texts[i][0]), "f.yaml", &err), 0);
		assert_int_equal(
			yaml_tree_mapping(&t, yaml_tree_root(&t), "a thing", keys, &err), -EINVAL);
		assert_string_equal(err.text, texts[i][1]);
		yaml_tree_release(&t);
	}
}

static void test_values(void **state)
{
	static const char text[] = "word: x y\nnumber: 2.5\nyes: true\nlist: [a, b]\nbad: maybe\n";
	struct yaml_tree t = {0};
	struct lp_err err = {0};
	const yaml_node_t *root, *value, *list;
	const char *key;
	char *word = NULL;
	double number = 0;
	bool yes = false;

	(void)state;
	assert_int_equal(yaml_tree_load(&t, text, strlen(text), "f.yaml", &err), 0);
	root = yaml_tree_root(&t);
	assert_int_equal(yaml_tree_text(&t, root, "word", &word, &err), 0);
	assert_string_equal(word, "x y");
	assert_int_equal(yaml_tree_text(&t, root, "nothing", &word, &err), 0);
	assert_string_equal(word, "x y");
	assert_int_equal(yaml_tree_number(&t, root, "number", &number, &err), 0);
	assert_true(number == 2.5);
	assert_int_equal(yaml_tree_number(&t, root, "word", &number, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:1: 'word' must be a number, not 'x y'");
	assert_int_equal(yaml_tree_bool(&t, root, "yes", &yes, &err), 0);
	assert_true(yes);
	assert_int_equal(yaml_tree_bool(&t, root, "bad", &yes, &err), -EINVAL);
	assert_string_equal(err.text, "f.yaml:5: 'bad' must be true or false, not 'maybe'");
	assert_int_equal(yaml_tree_text(&t, root, "list", &word, &err), -EINVAL);
	list = yaml_tree_get(&t, root, "list");
	assert_non_null(yaml_tree_item(&t, list, 1));
	assert_null(yaml_tree_item(&t, list, 2));
	assert_true(yaml_tree_pair(&t, root, 4, &key, &value));
	assert_string_equal(key, "bad");
	assert_false(yaml_tree_pair(&t, root, 5, &key, &value));
	free(word);
	yaml_tree_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
