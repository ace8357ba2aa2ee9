/* The interface of a sub-command: one file cmd_NAME.c in this folder and one line in meson.build. A
 * command may be a group of verbs, `limpet trace syscalls`. Verbs are also commands, one file
 * GROUP_VERB.c each. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/option.h"

struct data_options;

/* Exit codes, the same for all commands. */
enum {
	EXIT_HEALTHY = 0,
	EXIT_SUSPECTS = 1,
	EXIT_USAGE = 2, /* wrong usage or bad input */
	EXIT_INTERNAL = 3,
	EXIT_UNKNOWN = 4, /* no suspects, but not everything could be judged */
};

struct example {
	const char *command; /* without "limpet " */
	const char *what;
};

/* A name that a command accepts, and its meaning. */
struct command_choice {
	const char *name, *summary;
};

struct command {
	const char *name;		  /* "show"; for a verb, with its group: "lab up" */
	const char *summary;		  /* half a sentence, for the list of commands */
	const char *usage;		  /* what follows the name: "[OPTION...] DATA..." */
	const char *description;	  /* paragraphs, separated by empty lines */
	const struct option_def *options; /* ended by a row without a name; may be NULL */
	size_t options_size;		  /* size of the struct that they fill, zeroed */
	bool takes_data;       /* its arguments are DATA: the options of importers are accepted as
				* well */
	bool computes;	       /* it uses several threads */
	bool runs_program;     /* its arguments are the command line of another program */
	bool takes_collectors; /* it runs collectors, and its help lists them */
	bool in_team;	       /* its processes work together if mpirun starts several */
	const char *choices;   /* heading of the list of names that it accepts: "workloads" */
	/* The i-th name, from a registry; false after the last. NULL: no list. */
	bool (*choice)(size_t i, struct command_choice *ret);
	const struct example *examples;	    /* ended by a row without a command; may be NULL */
	const struct command *const *verbs; /* of a group, NULL-terminated */
	const char *program; /* the program that implements it and has its help: "limpet-lab"; here
			      * only its name and summary are known. NULL: this one */
	bool internal;	     /* for limpet itself: not in the help, the manual and the completion */

	/* Run it. `options` is the struct, and `data` has the options of importers (NULL unless
	 * takes_data). Returns an exit code; main prints the error in `err`. NULL for a group that
	 * does nothing by itself. */
	int (*run)(int n_args, char **args, void *options, const struct data_options *data,
		struct lp_err *err);
};

/* The command that `words` begin with: {"show"}, {"lab", "up"}. For a group without a verb it is
 * the group; for a command of another program only the first word counts. -EINVAL: `err` names the
 * unknown word. Otherwise returns the number of words that were used. */
int command_find(int n_words, char *const *words, const struct command **ret, struct lp_err *err);

/* The last word of its name. */
const char *command_verb(const struct command *c);

/* Its name with dashes instead of blanks, "lab-up". Returns `buf`. */
#define COMMAND_NAME_MAX 32
const char *command_dashed(const struct command *c, char buf[COMMAND_NAME_MAX]);

/* Print "limpet NAME: TEXT" to stderr; without a name, "limpet: TEXT". */
void command_complain(const char *name, const char *text);

/* The exit code for a negative errno: bad input is an error of the user, everything else is a
 * failure of limpet. */
int command_exit_code(int r);

#endif
