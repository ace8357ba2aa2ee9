/* Completion for fish and zsh, from the tables of commands. The completion for bash is in
 * complete.c. */
#include "cli/help.h"
#include "cli/program.h"

#include "collect/collector.h"
#include "import/importer.h"
#include <limpet/metric.h>
#include <string.h>

/* Print text in single quotes, in the syntax of fish. */
static void print_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', out);
		fputc(*text == '\n' ? ' ' : *text, out);
	}
	fputc('\'', out);
}

/* Print the words that an option accepts; false if they are unknown. */
static bool print_values(FILE *out, const struct option_def *o)
{
	if (!strcmp(o->name, "collect")) {
		for (const struct collector *const *c = collectors; *c; c++)
			fprintf(out, "%s%s", c == collectors ? "" : " ", (*c)->name);
		return true;
	}
	if (strcmp(o->name, "metric") != 0)
		return false;
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++)
		fprintf(out, "%s%s", m == lp_metric_all() ? "" : " ", (*m)->name);
	return true;
}

static void fish_option(FILE *out, const char *condition, const struct option_def *o)
{
	fprintf(out, "complete -c limpet -n \"%s\" -l %s", condition, o->name);
	if (o->letter)
		fprintf(out, " -s %c", o->letter);
	if (o->arg) {
		fputs(" -r", out);
		if (!strcmp(o->name, "collect") || !strcmp(o->name, "metric")) {
			fputs(" -a '", out);
			print_values(out, o);
			fputc('\'', out);
		}
	}
	fputs(" -d ", out);
	print_quoted(out, o->help);
	fputc('\n', out);
}

static void fish_options(FILE *out, const char *condition, const struct command *c)
{
	for (const struct option_def *o = c->options; o && o->name; o++)
		fish_option(out, condition, o);
	for (const struct importer *const *i = importers; c->takes_data && *i; i++) {
		for (const struct option_def *o = (*i)->options; o && o->name; o++)
			fish_option(out, condition, o);
	}
}

/* "limpet lab up": offer verbs if none was given. */
static void fish_verbs(FILE *out, const struct command *group)
{
	char condition[256];

	for (const struct command *const *v = group->verbs; *v; v++) {
		if ((*v)->internal)
			continue;
		fprintf(out, "complete -c limpet -n \"__limpet_words_are %s\" -f -a %s -d ",
			group->name, command_verb(*v));
		print_quoted(out, (*v)->summary);
		fputc('\n', out);
		snprintf(condition, sizeof(condition), "__limpet_words_begin %s %s", group->name,
			command_verb(*v));
		fish_options(out, condition, *v);
	}
}

void help_print_fish(FILE *out)
{
	fprintf(out,
		"# Completion of %s's commands and options for fish, made by '%s help "
		"--complete-fish'.\n"
		"function __limpet_words_begin\n"
		"\tset -l words (commandline -opc)\n"
		"\tset -l last (math (count $argv) + 1)\n"
		"\ttest (count $words) -ge $last\n"
		"\tand test \"$words[2..$last]\" = \"$argv\"\n"
		"end\n"
		"function __limpet_words_are\n"
		"\tset -l words (commandline -opc)\n"
		"\ttest \"$words[2..-1]\" = \"$argv\"\n"
		"end\n",
		program.name, program.name);
	for (const struct command *const *c = program.commands; *c; c++) {
		char condition[256];

		if ((*c)->internal)
			continue;
		if (!(*c)->program) {
			fprintf(out, "complete -c limpet -n __fish_use_subcommand -f -a %s -d ",
				(*c)->name);
			print_quoted(out, (*c)->summary);
			fputc('\n', out);
		}
		snprintf(condition, sizeof(condition), "__limpet_words_begin %s", (*c)->name);
		fish_options(out, condition, *c);
		if ((*c)->verbs)
			fish_verbs(out, *c);
	}
}

/* '--interval[time between samples]:SPAN:' */
static void zsh_option(FILE *out, const struct option_def *o)
{
	fprintf(out, "\t\t\t'--%s%s[", o->name, o->arg ? "=" : "");
	for (const char *p = o->help; *p; p++) {
		if (!strchr("'[]:\\", *p))
			fputc(*p == '\n' ? ' ' : *p, out);
	}
	fputc(']', out);
	if (o->arg) {
		fprintf(out, ":%s:", o->arg);
		if (!strcmp(o->name, "collect") || !strcmp(o->name, "metric")) {
			fputs("_values -s , word ", out);
			print_values(out, o);
		} else {
			fputs("_files", out);
		}
	}
	fputs("' \\\n", out);
}

static void zsh_command(FILE *out, const struct command *c)
{
	char name[COMMAND_NAME_MAX];

	fprintf(out, "\t%s)\n\t\t_arguments \\\n", command_dashed(c, name));
	for (const struct option_def *o = c->options; o && o->name; o++)
		zsh_option(out, o);
	for (const struct importer *const *i = importers; c->takes_data && *i; i++) {
		for (const struct option_def *o = (*i)->options; o && o->name; o++)
			zsh_option(out, o);
	}
	fputs("\t\t\t'*:argument:_files' ;;\n", out);
}

/* Print a list of commands or verbs to choose from. */
static void zsh_choices(FILE *out, const char *indent, const struct command *const *list)
{
	fprintf(out, "%slocal -a names=(\n", indent);
	for (; *list; list++) {
		if ((*list)->internal)
			continue;
		fprintf(out, "%s\t", indent);
		fprintf(out, "'%s:", command_verb(*list));
		for (const char *p = (*list)->summary; *p; p++) {
			if (!strchr("'\\", *p))
				fputc(*p, out);
		}
		fputs("'\n", out);
	}
	fprintf(out, "%s)\n%s_describe command names\n", indent, indent);
}

static void zsh_group(FILE *out, const struct command *group)
{
	fprintf(out, "\tif [[ $command = %s ]]; then\n\t\tif (( CURRENT == 3 )); then\n",
		group->name);
	zsh_choices(out, "\t\t\t", group->verbs);
	fputs("\t\t\treturn\n\t\tfi\n\t\tcommand=$command-$words[3]\n\tfi\n", out);
}

static void zsh_cases(FILE *out, const struct command *const *list)
{
	for (; *list; list++) {
		if ((*list)->verbs)
			zsh_cases(out, (*list)->verbs);
		else if (!(*list)->internal && !(*list)->program)
			zsh_command(out, *list);
	}
}

void help_print_zsh(FILE *out)
{
	bool own = !strcmp(program.name, "limpet");

	fprintf(out, "%s()\n{\n\tlocal command=$words[2]\n", own ? "_limpet" : "_limpet_lab");
	fputs("\tif (( CURRENT == 2 )); then\n", out);
	zsh_choices(out, "\t\t", program.commands);
	fputs("\t\treturn\n\tfi\n", out);
	for (const struct command *const *c = program.commands; *c; c++) {
		if ((*c)->verbs)
			zsh_group(out, *c);
		if ((*c)->program)
			fprintf(out,
				"\tif [[ $command = %s ]]; then\n\t\t(( $+functions[_limpet_lab] "
				")) "
				"&& _limpet_lab\n\t\treturn\n\tfi\n",
				(*c)->name);
	}
	fputs("\tcase $command in\n", out);
	zsh_cases(out, program.commands);
	fputs("\tesac\n}\n", out);
	if (own)
		fputs("_limpet \"$@\"\n", out);
}
