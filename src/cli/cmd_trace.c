#include "cli/command.h"

#define X(name) extern const struct command trace_command_##name;
#include "cli/trace_commands.inc"
#undef X

static const struct command *const verbs[] = {
#define X(name) &trace_command_##name,
#include "cli/trace_commands.inc"
#undef X
	NULL,
};

static const struct example examples[] = {
	{"trace syscalls --comm glusterfsd -o traces",
		"permanently trace a file server: how long reads and writes take, and which fail"},
	{"trace syscalls -p 812 -d 30s", "log every call of process 812 for half a minute"},
	{"trace samples -d 30s", "find out which functions the CPUs execute, for half a minute"},
	{NULL, NULL},
};

extern const struct command command_trace;
const struct command command_trace = {
	.name = "trace",
	.summary = "trace system calls, function calls and what the CPUs execute",
	.usage = "COMMAND [OPTION...] [ARGUMENT...]",
	.description = "Metrics of disks and networks do not show why a request failed, which call "
		       "hangs, what a server did before it died or which function keeps it busy. "
		       "Tracing does. Traces are archives: 'limpet show' prints them, and 'limpet "
		       "diagnose' compares servers by them.",
	.examples = examples,
	.verbs = verbs,
};
