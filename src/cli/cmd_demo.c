#include "cli/command.h"
#include "cli/lab_program.h"

extern const struct command command_demo;
const struct command command_demo = {
	.name = "demo",
	.summary = DEMO_SUMMARY,
	.program = LAB_PROGRAM,
};
