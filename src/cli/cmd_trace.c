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
		"how long a file server's reads and writes take, and which fail, permanently"},
	{"trace syscalls -p 812 -d 30s", "every call of process 812 for half a minute"},
	{"trace samples -d 30s", "which functions the CPUs are in, for half a minute"},
	{NULL, NULL},
};

extern const struct command command_trace;
const struct command command_trace = {
	.name = "trace",
	.summary = "watch what processes do: their system calls, and where CPUs are",
	.usage = "COMMAND [OPTION...] [ARGUMENT...]",
	.description =
		"Metrics of disks and networks do not show why a request failed, which call hangs, "
		"what a server did before it died or which function keeps it busy. Tracing does. "
		"Traces are archives like all others, which 'limpet show' prints and 'limpet "
		"diagnose' compares.",
	.examples = examples,
	.verbs = verbs,
};
