/* The common part of `limpet ack`, `mute` and `clear`: all three store a statement of the
 * operator. */
#ifndef CLI_STATE_COMMAND_H
#define CLI_STATE_COMMAND_H

#include "base/option.h"
#include "explain/state.h"

struct state_options {
	const char *state, *note;
	int64_t for_us, until_us, at_us;
	bool list, undo, json;
};

#define STATE_AT(member) offsetof(struct state_options, member)

/* The end of the descriptions of all three. */
#define STATE_HELP                                                                                 \
	"COMPONENT is a full name like oss3/disk:sdb, or a glob like 'oss3/*'. A second "          \
	"command for the same COMPONENT replaces the first. limpet keeps these notes in a "        \
	"small SQLite file, which 'limpet diagnose' reads."

/* The options of all three. */
#define STATE_OPTIONS                                                                              \
	{"note", 0, OPTION_STRING, STATE_AT(note), "TEXT", "why; shown by --list"},                \
		{"list", 'l', OPTION_FLAG, STATE_AT(list), NULL, "list the notes"},                \
		{"undo", 0, OPTION_FLAG, STATE_AT(undo), NULL,                                     \
			"remove the note (COMPONENT as it was given then)"},                       \
		{"state", 0, OPTION_STRING, STATE_AT(state), "FILE",                               \
			"the file that keeps the notes [$LIMPET_STATE, else for root "             \
			"/var/lib/limpet/state.db, for others "                                    \
			"~/.local/state/limpet/state.db]"},                                        \
	{                                                                                          \
		"json", 0, OPTION_FLAG, STATE_AT(json), NULL, "print JSON"                         \
	}

/* Add, list or remove statements; returns an exit code. */
int state_command_run(enum state_verb verb, int n_args, char **args,
	const struct state_options *opt, struct lp_err *err);

#endif
