#include "cli/help.h"
#include "cli/program.h"

#include "collect/collector.h"
#include "import/importer.h"
#include <string.h>

#define WIDTH 80

const char help_about[] =
	"In a parallel file system one slow disk, one lossy link or one hung daemon drags every "
	"client down, and no log names it. Servers without a fault behave alike; the culprit does "
	"not. limpet records every server from outside, without a change to the file system, the "
	"applications or the kernel, and reads what sysstat and others have recorded, so that each "
	"component can be compared with its peers.";

const char help_names[] =
	"A component, the thing that is compared, is called observer/kind:name: oss3/disk:sdb is "
	"the disk sdb as the server oss3 sees it. Its metrics (await, %util, rxbyt, cwnd, ...) are "
	"computed when data is read; 'limpet help metrics' lists them. A verdict has local times "
	"(TZ, "
	"--utc); JSON, CSV and lists have ISO 8601 in UTC.";

const struct exit_code exit_codes[] = {
	{EXIT_HEALTHY, "nothing is wrong (warnings do not count)"},
	{EXIT_SUSPECTS, "something is slow, failing or missing"},
	{EXIT_USAGE, "wrong usage or bad input (its intact part was used)"},
	{EXIT_INTERNAL, "internal failure"},
	{EXIT_UNKNOWN,
		"cannot tell: nothing is known to be wrong, but not everything could be judged"},
	{0, NULL},
};

/* Print words of `text` up to `width` columns, indented by `indent`; "\n\n" separates paragraphs;
 * lines that begin with a blank are not wrapped. */
static void print_wrapped(FILE *out, const char *text, int indent)
{
	int column = 0;

	while (*text) {
		size_t word = strcspn(text, " \n");

		if (text[0] == '\n' && (text[1] == '\n' || text[1] == ' ')) {
			fprintf(out, "%s", text[1] == '\n' ? "\n\n" : "\n");
			text += text[1] == '\n' ? 2 : 1;
			column = 0;
			if (*text == ' ') { /* a separate line, copied unchanged */
				size_t line = strcspn(text, "\n");

				fprintf(out, "%*s%.*s", indent, "", (int)line, text);
				text += line;
			}
			continue;
		}
		if (!word) {
			text++;
			continue;
		}
		if (column && column + 1 + (int)word > WIDTH) {
			fputc('\n', out);
			column = 0;
		}
		if (!column)
			column += fprintf(out, "%*s%.*s", indent, "", (int)word, text);
		else
			column += fprintf(out, " %.*s", (int)word, text);
		text += word;
	}
	fputc('\n', out);
}

static void print_option(FILE *out, const struct option_def *o)
{
	char left[64];
	int n = 0;

	if (o->letter)
		n = snprintf(left, sizeof(left), "-%c, ", o->letter);
	snprintf(left + n, sizeof(left) - (size_t)n, "--%s%s%s", o->name, o->arg ? " " : "",
		o->arg ? o->arg : "");
	fprintf(out, "  %s\n", left);
	print_wrapped(out, o->help, 10);
}

static void print_options(FILE *out, const struct option_def *o)
{
	for (; o && o->name; o++)
		print_option(out, o);
}

void help_print_overview(FILE *out)
{
	fprintf(out, "%s\n\nusage: %s COMMAND [OPTION...] [ARGUMENT...]\n\n", program.headline,
		program.name);
	for (const struct command *const *c = program.commands; *c; c++)
		fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
	fputs("\n'limpet help COMMAND' describes one of them, 'limpet help metrics' lists\n"
	      "the metrics of disks, interfaces, connections and hosts.\n\nexit codes:\n",
		out);
	for (const struct exit_code *e = exit_codes; e->meaning; e++)
		fprintf(out, "  %d  %s\n", e->code, e->meaning);
}

static void print_collectors(FILE *out)
{
	fputs("\ncollectors:\n", out);
	for (const struct collector *const *c = collectors; *c; c++)
		fprintf(out, "  %-12s %s\n", (*c)->name, (*c)->summary);
}

static void print_choices(FILE *out, const struct command *c)
{
	struct command_choice choice;

	fprintf(out, "\n%s:\n", c->choices);
	for (size_t i = 0; c->choice(i, &choice); i++)
		fprintf(out, "  %-10s %s\n", choice.name, choice.summary);
}

static void print_verbs(FILE *out, const struct command *group)
{
	size_t width = 14;

	for (const struct command *const *c = group->verbs; *c; c++)
		if (!(*c)->internal && strlen((*c)->name) > width)
			width = strlen((*c)->name);
	fputs("\ncommands:\n", out);
	for (const struct command *const *c = group->verbs; *c; c++) {
		if (!(*c)->internal)
			fprintf(out, "  limpet %-*s %s\n", (int)width, (*c)->name, (*c)->summary);
	}
	fprintf(out, "\n'limpet help %s COMMAND' describes one of them.\n", group->name);
}

static void print_formats(FILE *out)
{
	fputs("\nformats, besides archives:\n", out);
	for (const struct importer *const *i = importers; *i; i++)
		fprintf(out, "  %-10s %s\n", (*i)->name, (*i)->summary);
}

void help_print_command(FILE *out, const struct command *c)
{
	fprintf(out, "limpet %s: %s\n\nusage: limpet %s %s\n\n", c->name, c->summary, c->name,
		c->usage);
	print_wrapped(out, c->description, 0);
	if (c->choice)
		print_choices(out, c);
	if (c->verbs)
		print_verbs(out, c);
	if (c->options) {
		fputs("\noptions:\n", out);
		print_options(out, c->options);
	}
	if (c->takes_collectors)
		print_collectors(out);
	if (c->takes_data)
		print_formats(out);
	for (const struct importer *const *i = importers; c->takes_data && *i; i++) {
		if (!(*i)->options)
			continue;
		fprintf(out, "\noptions for %s files:\n", (*i)->name);
		print_options(out, (*i)->options);
	}
	if (c->examples)
		fputs("\nexamples:\n", out);
	for (const struct example *e = c->examples; e && e->command; e++)
		fprintf(out, "  limpet %s\n          %s\n", e->command, e->what);
}
