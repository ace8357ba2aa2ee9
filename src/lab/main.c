#include "cli/program.h"

extern const struct command command_lab, command_demo, command_help, command_version;

static const struct command *const commands[] = {
	&command_lab,
	&command_demo,
	&command_help,
	&command_version,
	NULL,
};

const struct program program = {
	.name = "limpet-lab",
	.headline = "limpet-lab does what 'limpet lab' and 'limpet demo' are asked to do.",
	.commands = commands,
};

int main(int argc, char **argv)
{
	return program_main(argc, argv);
}
