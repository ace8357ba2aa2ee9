#include "cli/cc_arguments.h"
#include "cli/command.h"
#include "cli/program.h"

#include "base/cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct cc_options {
	const char *functions;
	bool print;
};

static const struct option_def options[] = {
	{"functions", 0, OPTION_STRING, offsetof(struct cc_options, functions), "FILE",
		"count the functions that this list switches on ('limpet functions --select' "
		"writes one) [all]"},
	{"print", 0, OPTION_FLAG, offsetof(struct cc_options, print), NULL,
		"print the command, one argument per line, instead of running it"},
	{NULL},
};

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct cc_options *opt = values;
	_cleanup_(cc_functions_release) struct cc_functions functions = {0};
	struct cc_command command = {0};
	char runtime[PATH_MAX];
	int r;

	(void)data;
	if (n_args < 1) {
		lp_err_set(
			err, -EINVAL, "name the compiler and its arguments: limpet cc gcc -c x.c");
		return EXIT_USAGE;
	}
	args[n_args] = NULL;
	r = program_runtime(runtime, err);
	if (r == 0 && opt->functions)
		r = cc_functions_read(opt->functions, &functions, err);
	if (r == 0 && cc_command_make(args, runtime, &functions, &command) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot run %s", args[0]);
	if (r == 0 && opt->print) {
		for (size_t i = 0; command.args[i]; i++)
			puts(command.args[i]);
	} else if (r == 0) {
		execvp(args[0], (char *const *)command.args);
		r = lp_err_sys(err, -errno, "cannot run %s", args[0]);
	}
	cc_command_release(&command);
	return r < 0 ? EXIT_USAGE : EXIT_HEALTHY;
}

static const struct example examples[] = {
	{"cc gcc -O2 -o server server.c", "compile and link a program that counts its calls"},
	{"cc --functions few gcc -O2 -o server server.c",
		"count only the functions that are on in the list 'few'"},
	{"cc --print gcc -c x.c", "see what is added to a command line"},
	{NULL},
};

extern const struct command command_cc;
const struct command command_cc = {
	.name = "cc",
	.summary = "compile a program so that it counts its function calls",
	.usage = "[OPTION...] COMPILER [ARGUMENT...]",
	.description =
		"Runs COMPILER (gcc, g++, clang, clang++) with its arguments and two additions: "
		"-finstrument-functions, with which functions report when they begin and end, "
		"and a small library, liblimpet-calls, which counts these calls and the time in "
		"each function itself.\n\n"
		"To build a whole program, make it the compiler: ./configure CC='limpet cc "
		"gcc', or make CC='limpet cc gcc'. Inline functions of system headers are not "
		"counted. Command lines without a C library (-nostdlib, -ffreestanding) are run "
		"unchanged.\n\n"
		"--functions names a list of functions that are on or off. gcc does not "
		"instrument a function that is off, unless another name contains its name; all "
		"others that are off start switched off, which costs some 2 nanoseconds per "
		"call. The program reads another list when it starts, if the environment "
		"variable LIMPET_CALLS_FUNCTIONS names its absolute path.\n\n"
		"The program needs nothing else to run. It counts in shared memory, from which "
		"'limpet trace calls' and 'limpet record --collect calls' read, and never waits "
		"for them. Counting a call costs some 20 nanoseconds.",
	.options = options,
	.options_size = sizeof(struct cc_options),
	.runs_program = true,
	.examples = examples,
	.run = run,
};
