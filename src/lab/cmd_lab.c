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
	{"lab work ddw", "let all clients write, until 'limpet lab work --stop'"},
	{"lab inject slow-disk:4 --on s3", "let the disk of server 3 take four times as long"},
	{"lab heal", "undo every fault"},
	{"lab down", "remove everything that belongs to the lab"},
	{"lab run --plan quick -o runs",
		"run and record a series of experiments, and note the truth"},
	{NULL, NULL},
};

extern const struct command command_lab;
const struct command command_lab = {
	.name = "lab",
	.summary = LAB_SUMMARY,
	.usage = "COMMAND [OPTION...] [ARGUMENT...]",
	.description =
		"A lab is a real parallel file system on one machine: every server and every "
		"client is a network namespace, every server has a disk image with the service "
		"times of a real disk, and links of limited speed connect all of them. You can "
		"inject faults, and compare what limpet says about them with the truth.\n\n"
		"A lab needs root. If anything else is missing, an error names it. Everything "
		"that belongs to a lab carries its name, and nothing else on the machine is "
		"changed. 'limpet lab down' removes a lab in any state. Several labs with "
		"different names can be up at once (--name).\n\n"
		"By hand, the steps are 'up', 'work', 'inject', 'heal' and 'down'. 'lab run' "
		"takes all of these steps, records every server and client, and notes what it "
		"did.",
	.examples = examples,
	.verbs = verbs,
};
