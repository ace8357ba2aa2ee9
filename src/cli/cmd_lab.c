#include "cli/command.h"
#include "cli/lab_program.h"

extern const struct command command_lab;
const struct command command_lab = {
	.name = "lab",
	.summary = LAB_SUMMARY,
	.program = LAB_PROGRAM,
};
