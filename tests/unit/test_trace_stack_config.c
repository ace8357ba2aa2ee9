#include "unit.h"

#include "model/span.h"
#include "trace/stack/layer.h"
#include "trace/stack/stack_config.h"
#include <errno.h>
#include <string.h>

static int parse(const char *text, struct stack_config *c, struct lp_err *err)
{
	*c = (struct stack_config){0};
	return stack_config_parse(text, strlen(text), "stack.yaml", c, err);
}

static uint32_t bit(const char *layer)
{
	int at = layer_find(layer);

	assert_true(at >= 0);
	return 1u << at;
}

static void test_all_keys(void **state)
{
	struct stack_config c;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(parse("# a comment\n"
			       "application: flash_io\n"
			       "regions: [checkpoint, plot file]\n"
			       "operations:\n  - read\n  - write\n"
			       "layers: [mpi-io, posix]\n",
				 &c, &err),
		0);
	assert_string_equal(c.application, "flash_io");
	assert_int_equal(c.n_regions, 2);
	assert_string_equal(c.regions[1], "plot file");
	assert_int_equal(c.operations, 1u << SPAN_READ | 1u << SPAN_WRITE | 1u << SPAN_MARK);
	assert_int_equal(c.layers, bit("mpi-io") | bit("posix"));
	stack_config_release(&c);
	stack_config_release(&c);
}

static void test_defaults(void **state)
{
	struct stack_config c;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(parse("layers: posix\n", &c, &err), 0);
	assert_null(c.application);
	assert_int_equal(c.n_regions, 0);
	assert_int_equal(c.operations, (1u << SPAN_OPS) - 1);
	stack_config_release(&c);
}

static void expect_error(const char *text, const char *message)
{
	struct stack_config c;
	struct lp_err err = {0};

	assert_int_equal(parse(text, &c, &err), -EINVAL);
	assert_string_equal(err.text, message);
	stack_config_release(&c);
}

static void test_errors(void **state)
{
	(void)state;
	expect_error("",
		"stack.yaml:1: a configuration has lines 'key: value', such as 'layers: "
		"[posix]'");
	expect_error("- posix\n",
		"stack.yaml:1: a configuration has lines 'key: value', such as "
		"'layers: [posix]'");
	expect_error("regions: [a]\n",
		"stack.yaml: it names no layers; 'limpet stack layers' lists them");
	expect_error("layers: [posix]\nlayer: [posix]\n",
		"stack.yaml:2: there is no key 'layer'; did you mean 'layers'?");
	expect_error("layers:\n  - posix\n  - posits\n",
		"stack.yaml:3: there is no layer 'posits'; did you mean 'posix'?");
	expect_error("layers: [posix]\noperations: [telepathy]\n",
		"stack.yaml:2: there is no operation 'telepathy'");
	expect_error("layers: [posix]\noperations: [[read]]\n",
		"stack.yaml:2: 'operations' is a list of words: [a, b]");
	expect_error("layers: {a: b}\n", "stack.yaml:1: 'layers' is a list of words: [a, b]");
	expect_error(
		"layers: [posix]\nlayers: [mpi-io]\n", "stack.yaml:2: 'layers' is there twice");
	expect_error("layers: [posix]\napplication: [a, b]\n",
		"stack.yaml:2: 'application' is one name");
	expect_error("layers: [posix]\nregions: ['']\n", "stack.yaml:2: a region has no name");
	expect_error("? [a]\n: b\n", "stack.yaml:1: a key is one word");
	expect_error("layers: [posix\n", "stack.yaml:2: did not find expected ',' or ']'");
}

/* What is built in is right, and is found by its name before any file. */
static void test_builtins(void **state)
{
	(void)state;
	for (const struct stack_builtin *b = stack_builtins; b->name; b++) {
		struct stack_config c = {0};
		struct lp_err err = {0};

		if (stack_config_load(b->name, &c, &err) < 0)
			fail_msg("%s", err.text);
		assert_true(c.layers != 0);
		stack_config_release(&c);
	}
}

static void test_no_file(void **state)
{
	struct stack_config c = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(stack_config_load("/nowhere/stack.yaml", &c, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere/stack.yaml"));
}

static void test_layers(void **state)
{
	(void)state;
	assert_true(layer_find("mpi-io") < layer_find("posix"));
	assert_int_equal(layer_find("ether"), -1);
	assert_int_equal(span_op_find("write"), SPAN_WRITE);
	assert_int_equal(span_op_find("WRITE"), -1);
	assert_int_equal(layers_n, STACK_LAYERS);
	assert_int_equal(layer_find("posix"), STACK_POSIX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_keys),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_builtins),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
