/* The common part of the programs of the suite: limpet, and programs that implement some of its
 * commands. To run a command of another program, limpet executes that program with the same
 * arguments. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "cli/command.h"
#include <limits.h>

struct program {
	const char *name;		       /* "limpet" */
	const char *headline;		       /* one sentence, above the list of its commands */
	const struct command *const *commands; /* NULL-terminated, in the order of the help */
};

/* This program. Each program's main.c defines it. */
extern const struct program program;

/* Run the command that the arguments name. Returns the exit code. */
int program_main(int argc, char **argv);

/* The path of another program of the suite: in the directory of this one, in the build tree, or
 * where it is installed. If it is not found, its bare name, to be searched in $PATH. Returns
 * `buf`. */
const char *program_path(const char *name, char buf[PATH_MAX]);

/* The directory of liblimpet-calls, which `limpet cc` links into programs. -ENOENT if it is not
 * installed. */
int program_runtime(char buf[PATH_MAX], struct lp_err *err);

/* Replace this process by that program, with the same standard files and signals; argv[0] is its
 * path. Returns only on failure: -ENOENT if it is not installed. */
int program_exec(const char *name, char **argv, struct lp_err *err);

/* Run that program and wait for it. Returns its exit code, or 127 if it could not be run. */
int program_call(const char *name, char **argv);

#endif
