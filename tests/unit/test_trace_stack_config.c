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
	assert_int_equal(
		parse("# a comment\n"
		      "application: flash_io\n"
		      "regions: [checkpoint, plot file, write_plot(), 'a b.c:12-30', x.c:7]\n"
		      "operations:\n  - read\n  - write\n  - collective\n"
		      "layers: [mpi-io, posix, block]\n"
		      "metrics: [latency, power]\n"
		      "drive: disk\n"
		      "functions:\n"
		      "  - {name: put, operation: write, object: 1, size: 3}\n"
		      "  - {name: get, operation: read, offset: 2, returns: bytes}\n",
			&c, &err),
		0);
	assert_string_equal(c.application, "flash_io");
	assert_int_equal(c.n_regions, 5);
	assert_string_equal(c.regions[1].name, "plot file");
	assert_int_equal(c.regions[1].kind, PLACE_MARK);
	assert_int_equal(c.regions[2].kind, PLACE_FUNCTION);
	assert_string_equal(c.regions[2].what, "write_plot");
	assert_int_equal(c.regions[3].kind, PLACE_LINES);
	assert_string_equal(c.regions[3].what, "a b.c");
	assert_int_equal(c.regions[3].first, 12);
	assert_int_equal(c.regions[3].last, 30);
	assert_int_equal(c.regions[4].first, 7);
	assert_int_equal(c.regions[4].last, 7);
	assert_int_equal(c.regions[4].line, 3);
	assert_int_equal(c.operations,
		1u << SPAN_READ | 1u << SPAN_WRITE | 1u << SPAN_MARK | STACK_COLLECTIVE);
	assert_int_equal(c.layers, bit("mpi-io") | bit("posix") | bit("block") | bit("library"));
	assert_int_equal(c.metrics, 1u << WANTED_LATENCY | 1u << WANTED_POWER);
	assert_string_equal(c.drive, "disk");
	assert_int_equal(c.n_functions, 2);
	assert_string_equal(c.functions[0].name, "put");
	assert_int_equal(c.functions[0].op, SPAN_WRITE);
	assert_int_equal(c.functions[0].object, 1);
	assert_int_equal(c.functions[0].size, 3);
	assert_false(c.functions[0].returns_size);
	assert_true(c.functions[1].returns_size);
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
	expect_error("", "stack.yaml:1: the file is empty");
	expect_error("- posix\n",
		"stack.yaml:1: a configuration must have lines 'key: value', such as "
		"'layers: [posix]'");
	expect_error("regions: [a]\n",
		"stack.yaml:1: no layers are named; 'limpet stack layers' lists them");
	expect_error("layers: [posix]\nregions:\n  - write_plot(\n",
		"stack.yaml:3: 'write_plot(' is neither a function, such as 'write_plot()', nor "
		"lines of a file, such as 'io.c:120-180'");
	expect_error("layers: [posix]\nregions: [a, 'io.c:12-']\n",
		"stack.yaml:2: 'io.c:12-' is neither a function, such as 'write_plot()', nor "
		"lines of a file, such as 'io.c:120-180'");
	expect_error("layers: [posix]\nlayer: [posix]\n",
		"stack.yaml:2: there is no key 'layer'; did you mean 'layers'?");
	expect_error("layers:\n  - posix\n  - posits\n",
		"stack.yaml:3: there is no layer 'posits'; did you mean 'posix'?");
	expect_error("layers: [posix]\noperations: [telepathy]\n",
		"stack.yaml:2: there is no operation 'telepathy'");
	expect_error("layers: [posix]\noperations: [[read]]\n",
		"stack.yaml:2: this is not the name of one operation");
	expect_error("layers: {a: b}\n", "stack.yaml:1: 'layers' is a list: [a, b]");
	expect_error(
		"layers: [posix]\nlayers: [mpi-io]\n", "stack.yaml:2: 'layers' is given twice");
	expect_error("layers: [posix]\napplication: [a, b]\n",
		"stack.yaml:2: 'application' is one word");
	expect_error("layers: [posix]\nregions: ['']\n", "stack.yaml:2: a region has no name");
	expect_error("layers: [posix]\nregions: [a, 'x.c:9-3']\n",
		"stack.yaml:2: 'x.c:9-3' ends before it begins");
	expect_error("layers: [posix]\nregions:\n  - 'a,b'\n",
		"stack.yaml:3: the name of a region must not contain ',', ';' or '|'");
	expect_error("layers: [posix]\nmetrics: [power]\n",
		"stack.yaml:2: disk accesses and power need the layer 'block'");
	expect_error("layers: [posix]\nmetrics: [servers]\n",
		"stack.yaml:2: servers are seen in the layers 'server', 'storage' and 'block'");
	expect_error("layers: [posix]\nmetrics: [latency, communication]\n",
		"stack.yaml:2: communication is seen in the layers 'hdf5', 'pnetcdf' and 'mpi-io'");
	expect_error("layers: [posix]\nmetrics: [latenc]\n",
		"stack.yaml:2: there is no metric 'latenc'; did you mean 'latency'?");
	expect_error("layers: [library]\n",
		"stack.yaml:1: the layer 'library' needs a list 'functions'");
	expect_error("functions: [f]\n", "stack.yaml:1: a function must have lines 'key: value'");
	expect_error("functions:\n  - {size: 3}\n", "stack.yaml:2: a function has no name");
	expect_error("functions:\n  - {name: f, size: 7}\n",
		"stack.yaml:2: 'size' is a number from 1 to 6, not '7'");
	expect_error("functions:\n  - {name: f, size: 1.5}\n",
		"stack.yaml:2: 'size' must be the number of an argument");
	expect_error("? [a]\n: b\n", "stack.yaml:1: this is not the name of one key");
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

/* Those of a library and of a file system together. */
static void test_builtins_together(void **state)
{
	struct stack_config c = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(stack_config_load("hdf5,glusterfs", &c, &err), 0);
	assert_true(c.layers & bit("hdf5") && c.layers & bit("mpi-io") && c.layers & bit("block"));
	stack_config_release(&c);
	assert_int_equal(stack_config_load("hdf5,nonsense", &c, &err), -ENOENT);
	stack_config_release(&c);
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
		cmocka_unit_test(test_builtins_together),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
