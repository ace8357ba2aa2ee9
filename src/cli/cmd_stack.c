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
	{"stack layers", "which layers limpet knows, and what a configuration may name"},
	{NULL, NULL},
};

extern const struct command command_stack;
const struct command command_stack = {
	.name = "stack",
	.summary = "follow calls of an application through the I/O stack, down to the disk",
	.usage = "COMMAND [OPTION...] [ARGUMENT...]",
	.description =
		"A write of an application becomes calls of libraries, requests to a file system, "
		"reads and writes of servers, and requests of disks. This follows it through these "
		"layers, and says which of them took the time. docs/stack.md is about it.",
	.examples = examples,
	.verbs = verbs,
};
