#include "cli/help.h"
#include "cli/program.h"

#include "collect/collector.h"
#include "import/importer.h"
#include <limpet/metric.h>
#include <string.h>

/* The shell code that uses the words that the tables below put into $words. */
static const char script_head[] =
	"()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tlocal command=${COMP_WORDS[1]} commands words= before=\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\t# --name=value comes as three words.\n"
	"\tif [ \"$cur\" = = ]; then\n"
	"\t\tcur=\n"
	"\telif [ \"$prev\" = = ]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	"\tfi\n"
	"\t# Of a list with commas the last item is completed.\n"
	"\t[[ $cur != *,* ]] || before=${cur%,*},\n";

static const char script_tail[] = "\tCOMPREPLY=($(compgen -P \"$before\" -W \"$words\" -- "
				  "\"${cur#\"$before\"}\"))\n"
				  "}\n";

/* The name of the function that completes the words of a program: _limpet_lab. */
static const char *complete_function(const char *name, char buf[COMMAND_NAME_MAX])
{
	snprintf(buf, COMMAND_NAME_MAX, "_%s", name);
	for (char *p = buf; *p; p++)
		*p = *p == '-' ? '_' : *p;
	return buf;
}

static void complete_commands(FILE *out)
{
	fputs("\tcommands=\"", out);
	for (const struct command *const *c = program.commands; *c; c++)
		fprintf(out, "%s%s", c == program.commands ? "" : " ", (*c)->name);
	fputs("\"\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$cur\"))\n"
	      "\t\treturn\n"
	      "\tfi\n",
		out);
}

static void complete_options(FILE *out, const struct option_def *o)
{
	for (; o && o->name; o++)
		fprintf(out, " --%s", o->name);
}

/* The second word of "limpet lab up" is part of the command: "lab-up". A group that can run without
 * a verb has options, too. */
static void complete_verbs(FILE *out, const struct command *group)
{
	const char *separator = "";

	fprintf(out, "\tif [ \"$command\" = %s ]; then\n\t\tcommands=\"", group->name);
	for (const struct command *const *c = group->verbs; *c; c++) {
		if ((*c)->internal)
			continue;
		fprintf(out, "%s%s", separator, command_verb(*c));
		separator = " ";
	}
	fputs("\"\n"
	      "\t\tif [ \"$COMP_CWORD\" -eq 2 ]; then\n"
	      "\t\t\t[[ $cur != -* ]] || commands=\"",
		out);
	complete_options(out, group->options);
	fputs("\"\n"
	      "\t\t\tCOMPREPLY=($(compgen -W \"$commands --help\" -- \"$cur\"))\n"
	      "\t\t\treturn\n"
	      "\t\tfi\n"
	      "\t\t[[ ${COMP_WORDS[2]} == -* ]] || command=$command-${COMP_WORDS[2]}\n"
	      "\tfi\n",
		out);
}

/* The function of another program completes its commands, if the shell has it. */
static void complete_elsewhere(FILE *out, const struct command *c)
{
	char function[COMMAND_NAME_MAX];

	complete_function(c->program, function);
	fprintf(out,
		"\tif [ \"$command\" = %s ]; then\n"
		"\t\t! declare -F %s >/dev/null || %s\n"
		"\t\treturn\n"
		"\tfi\n",
		c->name, function, function);
}

/* "-o|--output)" for each option that takes an argument: complete file names, unless words are
 * known. */
static void complete_arguments(FILE *out, const struct command *c, const struct option_def *o)
{
	char name[COMMAND_NAME_MAX];

	command_dashed(c, name);
	for (; o && o->name; o++) {
		if (!o->arg)
			continue;
		fprintf(out, "\t%s:--%s", name, o->name);
		if (o->letter)
			fprintf(out, "|%s:-%c", name, o->letter);
		fputs(") return ;;\n", out);
	}
}

static void complete_collectors(FILE *out)
{
	fputs("\t*:--collect) words=\"", out);
	for (const struct collector *const *c = collectors; *c; c++)
		fprintf(out, "%s%s", c == collectors ? "" : " ", (*c)->name);
	fputs("\" ;;\n", out);
}

static void complete_metrics(FILE *out)
{
	fputs("\t*:--metric|*:-m) words=\"", out);
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++)
		fprintf(out, "%s%s", m == lp_metric_all() ? "" : " ", (*m)->name);
	fputs("\" ;;\n", out);
}

/* Call `fn` for the commands of a list, and for the verbs of groups. */
static void complete_each(FILE *out, const struct command *const *list,
	void (*fn)(FILE *out, const struct command *c))
{
	for (; *list; list++) {
		const struct command *c = *list;

		if (c->verbs)
			complete_each(out, c->verbs, fn);
		if (c->run && !c->internal && !c->program)
			fn(out, c);
	}
}

static void complete_command_arguments(FILE *out, const struct command *c)
{
	complete_arguments(out, c, c->options);
	for (const struct importer *const *i = importers; c->takes_data && *i; i++)
		complete_arguments(out, c, (*i)->options);
}

/* The previous word decides how to complete. */
static void complete_after_option(FILE *out)
{
	fputs("\tcase $command:$prev in\n", out);
	complete_collectors(out);
	complete_metrics(out);
	complete_each(out, program.commands, complete_command_arguments);
	fputs("\tesac\n", out);
}

/* Arguments that are not file names. */
static void complete_words(FILE *out, const struct command *c)
{
	if (!strcmp(c->name, "help"))
		fputs(" $commands metrics", out);
	if (strcmp(c->name, "import") != 0)
		return;
	for (const struct importer *const *i = importers; *i; i++)
		fprintf(out, " %s", (*i)->name);
}

static void complete_command(FILE *out, const struct command *c)
{
	char name[COMMAND_NAME_MAX];

	fprintf(out, "\t%s)\n\t\tif [[ $cur == -* ]]; then\n\t\t\twords=\"--help",
		command_dashed(c, name));
	complete_options(out, c->options);
	for (const struct importer *const *i = importers; c->takes_data && *i; i++)
		complete_options(out, (*i)->options);
	fputs("\"\n\t\telse\n\t\t\twords=\"", out);
	complete_words(out, c);
	fputs("\"\n\t\tfi\n\t\t;;\n", out);
}

void help_print_completion(FILE *out)
{
	char function[COMMAND_NAME_MAX];

	complete_function(program.name, function);
	fprintf(out,
		"# Completion of %s's commands and options for bash, made by '%s help "
		"--complete'.\n%s",
		program.name, program.name, function);
	fputs(script_head, out);
	complete_commands(out);
	for (const struct command *const *c = program.commands; *c; c++) {
		if ((*c)->verbs)
			complete_verbs(out, *c);
		if ((*c)->program)
			complete_elsewhere(out, *c);
	}
	complete_after_option(out);
	fputs("\tif [ -z \"$words\" ]; then\n\tcase $command in\n", out);
	complete_each(out, program.commands, complete_command);
	fputs("\tesac\n\tfi\n", out);
	fputs(script_tail, out);
	fprintf(out, "complete -o bashdefault -o default -F %s %s\n", function, program.name);
}
