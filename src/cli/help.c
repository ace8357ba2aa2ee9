#include "cli/help.h"

#include "import/importer.h"
#include <string.h>

#define WIDTH 80

/* Print words of `text` up to `width` columns, indented by `indent`; "\n\n" separates paragraphs,
 * lines that begin with a blank are kept as they are. */
static void print_wrapped(FILE *out, const char *text, int indent)
{
	int column = 0;

	while (*text) {
		size_t word = strcspn(text, " \n");

		if (text[0] == '\n' && (text[1] == '\n' || text[1] == ' ')) {
			fprintf(out, "%s", text[1] == '\n' ? "\n\n" : "\n");
			text += text[1] == '\n' ? 2 : 1;
			column = 0;
			if (*text == ' ') { /* a line of its own: copied as it is */
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
	fputs("limpet finds the limping component of a parallel file system.\n\n"
	      "usage: limpet COMMAND [OPTION...] [ARGUMENT...]\n\n",
		out);
	for (const struct command *const *c = commands; *c; c++)
		fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
	fputs("\n'limpet help COMMAND' tells more about one of them.\n"
	      "Exit codes: 0 all is well, 1 suspects were found, 2 wrong usage or bad input, "
	      "3 internal failure.\n",
		out);
}

void help_print_command(FILE *out, const struct command *c)
{
	fprintf(out, "limpet %s: %s\n\nusage: limpet %s %s\n\n", c->name, c->summary, c->name,
		c->usage);
	print_wrapped(out, c->description, 0);
	if (c->options) {
		fputs("\noptions:\n", out);
		print_options(out, c->options);
	}
	for (const struct importer *const *i = importers; c->takes_data && *i; i++) {
		if (!(*i)->options)
			continue;
		fprintf(out, "\noptions for %s files (%s):\n", (*i)->name, (*i)->summary);
		print_options(out, (*i)->options);
	}
	if (c->examples)
		fputs("\nexamples:\n", out);
	for (const struct example *e = c->examples; e && e->command; e++)
		fprintf(out, "  limpet %s\n          %s\n", e->command, e->what);
}

/* Text for roff: a leading dot or quote and backslashes and hyphens are escaped. */
static void man_text(FILE *out, const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		line_start = *text == '\n';
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else if (text[0] == '\n' && text[1] == '\n') {
			fputs("\n.PP\n", out);
			text++;
		} else if (text[0] == '\n' && text[1] == ' ')
			fputs("\n.br\n", out);
		else
			fputc(*text, out);
	}
	fputc('\n', out);
}

static void man_options(FILE *out, const struct option_def *o)
{
	for (; o && o->name; o++) {
		fputs(".TP\n", out);
		if (o->letter)
			fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
		fputs("\\fB\\-\\-", out);
		for (const char *p = o->name; *p; p++)
			fprintf(out, *p == '-' ? "\\-" : "%c", *p);
		fprintf(out, "\\fR%s%s%s\n", o->arg ? " \\fI" : "", o->arg ? o->arg : "",
			o->arg ? "\\fR" : "");
		man_text(out, o->help);
	}
}

static void man_see_also(FILE *out, const struct command *self)
{
	fprintf(out, ".SH SEE ALSO\n.BR limpet (1)");
	for (const struct command *const *c = commands; *c; c++) {
		if (*c != self)
			fprintf(out, ",\n.BR limpet\\-%s (1)", (*c)->name);
	}
	fputc('\n', out);
}

static void man_exit_codes(FILE *out)
{
	fputs(".SH EXIT STATUS\n"
	      "0: all is well; 1: suspects were found; 2: wrong usage or bad input (what is good "
	      "of it was used); 3: internal failure.\n",
		out);
}

static void man_command(FILE *out, const struct command *c)
{
	fprintf(out, ".TH LIMPET\\-%s 1 \"\" \"limpet %s\" \"limpet\"\n.SH NAME\nlimpet\\-%s \\- ",
		c->name, LIMPET_VERSION, c->name);
	man_text(out, c->summary);
	fprintf(out, ".SH SYNOPSIS\n\\fBlimpet %s\\fR ", c->name);
	man_text(out, c->usage);
	fputs(".SH DESCRIPTION\n", out);
	man_text(out, c->description);
	if (c->options)
		fputs(".SH OPTIONS\n", out);
	man_options(out, c->options);
	for (const struct importer *const *i = importers; c->takes_data && *i; i++) {
		fprintf(out, ".SH %s FILES\n", (*i)->name);
		man_text(out, (*i)->description);
		man_options(out, (*i)->options);
	}
	if (c->examples)
		fputs(".SH EXAMPLES\n", out);
	for (const struct example *e = c->examples; e && e->command; e++) {
		fputs(".TP\n\\fBlimpet ", out);
		man_text(out, e->command);
		fputs("\\fR", out);
		man_text(out, e->what);
	}
	man_exit_codes(out);
	man_see_also(out, c);
}

void help_print_man(FILE *out, const struct command *c)
{
	if (c) {
		man_command(out, c);
		return;
	}
	fprintf(out,
		".TH LIMPET 1 \"\" \"limpet %s\" \"limpet\"\n.SH NAME\nlimpet \\- find the limping "
		"component of a parallel file system\n.SH SYNOPSIS\n\\fBlimpet\\fR "
		"\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\n"
		"In a parallel file system one slow disk, one lossy link or one hung daemon drags "
		"every client down, and no log names it. limpet records every server from outside, "
		"compares each component with its peers and names the one that limps.\n"
		".SH COMMANDS\n",
		LIMPET_VERSION);
	for (const struct command *const *k = commands; *k; k++) {
		fprintf(out, ".TP\n\\fBlimpet %s\\fR\n", (*k)->name);
		man_text(out, (*k)->summary);
	}
	man_exit_codes(out);
	man_see_also(out, NULL);
}
