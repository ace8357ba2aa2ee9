#include "cli/command.h"
#include "cli/help.h"
#include "cli/program.h"

#include "base/meant.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>

struct help_options {
	bool man, markdown, complete, fish, zsh;
};

#define AT(member) offsetof(struct help_options, member)

static const struct option_def options[] = {
	{"man", 0, OPTION_FLAG, AT(man), NULL, "print the manual page as roff source"},
	{"markdown", 0, OPTION_FLAG, AT(markdown), NULL,
		"with 'metrics': print the lists as Markdown"},
	{"complete", 0, OPTION_FLAG, AT(complete), NULL, "print a completion script for bash"},
	{"complete-fish", 0, OPTION_FLAG, AT(fish), NULL, "print a completion script for fish"},
	{"complete-zsh", 0, OPTION_FLAG, AT(zsh), NULL, "print a completion script for zsh"},
	{NULL},
};

/* The help of commands of another program: run it with the same words. */
static int ask(const struct command *c, const struct help_options *opt, int n_args, char **args,
	struct lp_err *err)
{
	char *argv[8] = {NULL, "help"};
	int n = 2;

	if (opt->man)
		argv[n++] = "--man";
	if (opt->markdown)
		argv[n++] = "--markdown";
	for (int i = 0; i < n_args && n < 7; i++)
		argv[n++] = args[i];
	program_exec(c->program, argv, err);
	return EXIT_USAGE;
}

/* Run all other programs that implement commands, with an option that makes them print. */
static void print_others(const char *option)
{
	char *argv[] = {NULL, "help", (char *)(uintptr_t)option, NULL};
	const char *last = NULL;

	fflush(stdout);
	for (const struct command *const *c = program.commands; *c; c++) {
		const char *other = (*c)->program;

		if (other && (!last || strcmp(last, other) != 0))
			program_call(other, argv);
		last = other ? other : last;
	}
}

/* The completion of all programs, one function each. */
static void print_completion(const struct help_options *opt)
{
	if (opt->complete) {
		help_print_completion(stdout);
		print_others("--complete");
	} else if (opt->fish) {
		help_print_fish(stdout);
		print_others("--complete-fish");
	} else {
		if (!strcmp(program.name, "limpet"))
			fputs("#compdef limpet\n# Made by 'limpet help --complete-zsh'.\n", stdout);
		print_others("--complete-zsh");
		help_print_zsh(stdout);
	}
}

/* "metrics" is not a command, but the user may have meant it. */
static int topic_find(int n_args, char **args, const struct command **ret, struct lp_err *err)
{
	int n = command_find(n_args, args, ret, err);
	struct meant m = {.word = args[0]};

	meant_consider(&m, "metrics");
	return n < 0 && m.edits ? lp_err_set(err, -EINVAL, "there is no command '%s'%s", args[0],
					  meant_question(&m))
				: n;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct help_options *opt = values;
	const struct command *c = NULL;
	bool metrics = n_args && !strcmp(args[0], "metrics");
	bool complete = opt->complete || opt->fish || opt->zsh;
	int n_used = metrics || !n_args ? n_args : topic_find(n_args, args, &c, err);

	(void)data;
	if (n_used < 0)
		return EXIT_USAGE;
	if (c && c->program && !complete)
		return ask(c, opt, n_args, args, err);
	if (n_args > (metrics ? 1 : n_used)) {
		lp_err_set(err, -EINVAL, "one command at a time");
		return EXIT_USAGE;
	}
	if ((opt->markdown && !metrics) || (opt->man && metrics)) {
		lp_err_set(err, -EINVAL,
			opt->man ? "--man goes with a command, or alone"
				 : "--markdown goes with 'metrics' only");
		return EXIT_USAGE;
	}
	if (complete)
		print_completion(opt);
	else if (metrics)
		help_print_metrics(stdout, opt->markdown);
	else if (opt->man)
		help_print_man(stdout, c);
	else if (c)
		help_print_command(stdout, c);
	else
		help_print_overview(stdout);
	return EXIT_HEALTHY;
}

static const struct example examples[] = {
	{"help show", "explain how to look at data"},
	{"help metrics", "list all metrics: units, meanings, and what they are computed from"},
	{"help --man record | man -l -", "read a manual page, even if limpet is not installed"},
	{NULL, NULL},
};

extern const struct command command_help;
const struct command command_help = {
	.name = "help",
	.summary = "explain how to use limpet, and what its metrics mean",
	.usage = "[OPTION...] [COMMAND | metrics]",
	.description = "Describes a command, or all metrics. Without an argument, lists all "
		       "commands.",
	.options = options,
	.options_size = sizeof(struct help_options),
	.examples = examples,
	.run = run,
};
