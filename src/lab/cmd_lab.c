#include "cli/command.h"
#include "cli/lab_program.h"

#define X(name) extern const struct command lab_verb_##name;
#include "lab/verbs.inc"
#undef X

static const struct command *const verbs[] = {
#define X(name) &lab_verb_##name,
#include "lab/verbs.inc"
#undef X
	NULL,
};

static const struct example examples[] = {
	{"lab up", "build a cluster of six servers and six clients on this machine"},
	{"lab work ddw", "all clients write, until 'limpet lab work --stop'"},
	{"lab inject slow-disk:4 --on s3", "the disk of server 3 takes four times as long"},
	{"lab heal", "undo every fault"},
	{"lab down", "remove every trace of it"},
	{"lab run --plan quick -o runs", "experiments from up to down, recorded, with the truth"},
	{NULL, NULL},
};

extern const struct command command_lab;
const struct command command_lab = {
	.name = "lab",
	.summary = LAB_SUMMARY,
	.usage = "COMMAND [OPTION...] [ARGUMENT...]",
	.description =
		"A lab is a real parallel file system on one machine: every server and every "
		"client is a network namespace, every server has a disk with the service times of "
		"a disk, and all of them are connected by links of limited speed. Faults can be "
		"injected, and what limpet says about them can be compared with the truth.\n\n"
		"A lab needs root. If anything else is missing, an error names it. Everything that "
		"belongs to it carries its name, nothing else on the machine is changed, and "
		"'limpet lab down' removes it, whatever happened before. Several "
		"labs of different names can be up at once (--name).\n\n"
		"By hand it is up, work, inject, heal, down; 'lab run' does all of that, records "
		"every server and client, and notes what it did.",
	.examples = examples,
	.verbs = verbs,
};
