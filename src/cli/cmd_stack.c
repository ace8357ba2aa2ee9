#include "cli/command.h"

#define X(name) extern const struct command stack_command_##name;
#include "cli/stack_commands.inc"
#undef X

static const struct command *const verbs[] = {
#define X(name) &stack_command_##name,
#include "cli/stack_commands.inc"
#undef X
	NULL,
};

static const struct example examples[] = {
	{"stack run -c mpi-io -o traces -- mpirun -n 4 ./application", "record a job's calls"},
	{"stack show traces", "show where the time of its calls went, and the slowest ones"},
	{NULL, NULL},
};

extern const struct command command_stack;
const struct command command_stack = {
	.name = "stack",
	.summary = "follow calls of an application through the layers of the I/O stack",
	.usage = "COMMAND [OPTION...] [ARGUMENT...]",
	.description = "A write by an application becomes calls of libraries and of the kernel, "
		       "layer by layer. 'limpet stack' follows it through these layers and "
		       "shows which of them took the time. docs/stack.md describes it.",
	.examples = examples,
	.verbs = verbs,
};
