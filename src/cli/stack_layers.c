#include "cli/command.h"

#include "trace/stack/layer.h"
#include "trace/stack/stack_config.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

struct layers_options {
	bool json;
};

static const struct option_def options[] = {
	{"json", 0, OPTION_FLAG, offsetof(struct layers_options, json), NULL, "print JSON"},
	{NULL},
};

static int print_json(struct lp_err *err)
{
	json_t *list = json_array(), *ready = json_array(), *all;

	for (const struct layer *l = layers; l->name; l++)
		json_array_append_new(list,
			json_pack("{s:s, s:s, s:s, s:s?}", "name", l->name, "what", l->what,
				"boundary", l->boundary, "library", l->library));
	for (const struct stack_builtin *b = stack_builtins; b->name; b++)
		json_array_append_new(
			ready, json_pack("{s:s, s:s}", "name", b->name, "summary", b->summary));
	all = json_pack("{s:o, s:o}", "layers", list, "configurations", ready);
	if (!all)
		return command_exit_code(lp_err_sys(err, -ENOMEM, "cannot print the layers"));
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
	return EXIT_HEALTHY;
}

static void print_text(void)
{
	puts("layers, from top to bottom:");
	for (const struct layer *l = layers; l->name; l++)
		printf("  %-9s %s: %s\n", l->name, l->what, l->boundary);
	puts("\nconfigurations that are built in:");
	for (const struct stack_builtin *b = stack_builtins; b->name; b++)
		printf("  %-9s %s\n", b->name, b->summary);
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct layers_options *opt = values;

	(void)n_args;
	(void)args;
	(void)data;
	if (opt->json)
		return print_json(err);
	print_text();
	return EXIT_HEALTHY;
}

extern const struct command stack_command_layers;
const struct command stack_command_layers = {
	.name = "stack layers",
	.summary = "list the layers of the I/O stack and the built-in configurations",
	.usage = "[OPTION...]",
	.description = "Lists the layers that a configuration may name, from top to bottom, "
		       "with what limpet records of each, and the built-in configurations.",
	.options = options,
	.options_size = sizeof(struct layers_options),
	.run = run,
};
