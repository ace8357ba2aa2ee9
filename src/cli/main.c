#include "cli/program.h"

#define X(name) extern const struct command command_##name;
#include "cli/commands.inc"
#undef X

static const struct command *const commands[] = {
#define X(name) &command_##name,
#include "cli/commands.inc"
#undef X
	NULL,
};

const struct program program = {
	.name = "limpet",
	.headline = "limpet finds the limping component of a parallel file system.",
	.commands = commands,
};

int main(int argc, char **argv)
{
	return program_main(argc, argv);
}
