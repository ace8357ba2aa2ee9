#include "cli/help.h"
#include "cli/program.h"

#include "collect/collector.h"
#include "import/importer.h"
#include <ctype.h>
#include <string.h>

/* Characters that roff would interpret, or print differently ("'" becomes a typographic quote that
 * no shell understands). */
static const char *man_escape(char c)
{
	switch (c) {
	case '\\':
		return "\\e";
	case '-':
		return "\\-";
	case '\'':
		return "\\(aq";
	case '"':
		return "\\(dq";
	case '`':
		return "\\(ga";
	case '^':
		return "\\(ha";
	case '~':
		return "\\(ti";
	default:
		return NULL;
	}
}

/* The source is broken at the first blank after this column; roff fills lines again. */
#define FILL_COLUMN 64

/* Print `len` bytes of a line. `fill`: it may become several lines. */
static void man_chars(FILE *out, const char *text, size_t len, bool fill)
{
	size_t column = 0;

	for (size_t i = 0; i < len; i++, column++) {
		const char *escape = man_escape(text[i]);

		if (column == 0 && text[i] == '.')
			fputs("\\&", out); /* no request */
		if (fill && text[i] == ' ' && column > FILL_COLUMN) {
			fputc('\n', out);
			column = SIZE_MAX; /* 0 for the next character */
		} else if (escape)
			fputs(escape, out);
		else
			fputc(text[i], out);
	}
}

static void man_string(FILE *out, const char *text)
{
	man_chars(out, text, strlen(text), false);
}

/* Begin or end verbatim lines. */
static void man_verbatim(FILE *out, bool begin)
{
	fputs(begin ? ".RS 4\n.nf\n" : ".fi\n.RE\n", out);
}

/* Print text: an empty line separates paragraphs (which begin with the macro `paragraph`); lines
 * that begin with a blank are verbatim. */
static void man_text(FILE *out, const char *text, const char *paragraph)
{
	bool verbatim = false, empty = false;

	while (*text) {
		size_t len = strcspn(text, "\n");
		size_t blanks = strspn(text, " ");

		if (!len) {
			empty = true;
		} else {
			if (empty && !(verbatim && blanks))
				fprintf(out, "%s\n", paragraph);
			else if (empty)
				fputs(".sp\n", out);
			if (verbatim != (blanks > 0)) {
				verbatim = !verbatim;
				man_verbatim(out, verbatim);
			}
			/* The indentation of the first verbatim line is that of .RS. */
			blanks = blanks < 4 ? blanks : 4;
			man_chars(out, text + blanks, len - blanks, !verbatim);
			fputc('\n', out);
			empty = false;
		}
		text += len + (text[len] == '\n');
	}
	if (verbatim)
		man_verbatim(out, false);
}

static void man_heading(FILE *out, const char *text)
{
	fputs(".SH ", out);
	for (; *text; text++)
		fputc(toupper((unsigned char)*text), out);
	fputc('\n', out);
}

static void man_options(FILE *out, const struct option_def *o)
{
	for (; o && o->name; o++) {
		fputs(".TP\n", out);
		if (o->letter)
			fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
		fputs("\\fB\\-\\-", out);
		man_string(out, o->name);
		fputs("\\fR", out);
		if (o->arg) {
			fputs(" \\fI", out);
			man_string(out, o->arg);
			fputs("\\fR", out);
		}
		fputc('\n', out);
		man_text(out, o->help, ".IP");
	}
}

static void man_item(FILE *out, const char *prefix, const char *name)
{
	fputs(".TP\n\\fB", out);
	man_string(out, prefix);
	man_string(out, name);
	fputs("\\fR\n", out);
}

static void man_collectors(FILE *out)
{
	man_heading(out, "collectors");
	for (const struct collector *const *c = collectors; *c; c++) {
		man_item(out, "", (*c)->name);
		man_string(out, (*c)->summary);
		fputs(".\n.IP\n", out);
		man_text(out, (*c)->description, ".IP");
	}
}

static void man_importers(FILE *out)
{
	for (const struct importer *const *i = importers; *i; i++) {
		char heading[64];

		snprintf(heading, sizeof(heading), "%s files", (*i)->name);
		man_heading(out, heading);
		man_text(out, (*i)->description, ".PP");
		man_options(out, (*i)->options);
	}
}

static void man_examples(FILE *out, const struct example *e)
{
	for (; e && e->command; e++) {
		man_item(out, "limpet ", e->command);
		man_text(out, e->what, ".IP");
	}
}

static void man_exit_codes(FILE *out)
{
	man_heading(out, "exit status");
	for (const struct exit_code *e = exit_codes; e->meaning; e++)
		fprintf(out, ".TP\n.B %d\n%s\n", e->code, e->meaning);
}

static void man_choices(FILE *out, const struct command *c)
{
	struct command_choice choice;

	for (size_t i = 0; c->choice(i, &choice); i++) {
		man_item(out, "", choice.name);
		man_text(out, choice.summary, ".IP");
	}
}

/* The part about a verb on the page of its group. */
static void man_verb(FILE *out, const struct command *c)
{
	fputs(".SS limpet ", out);
	man_string(out, c->name);
	fputc(' ', out);
	man_string(out, c->usage);
	fputc('\n', out);
	man_text(out, c->description, ".PP");
	if (c->choice) {
		fprintf(out, ".PP\n%c", toupper((unsigned char)c->choices[0]));
		man_string(out, c->choices + 1);
		fputs(":\n", out);
		man_choices(out, c);
		fputs(".PP\nOptions:\n", out);
	}
	man_options(out, c->options);
	man_examples(out, c->examples);
}

static void man_verbs(FILE *out, const struct command *group)
{
	man_heading(out, "commands");
	for (const struct command *const *c = group->verbs; *c; c++) {
		if (!(*c)->internal)
			man_verb(out, *c);
	}
}

/* The pages of all commands of all programs. */
static void man_see_also(FILE *out, const struct command *self)
{
	static const char *const names[] = {
#define X(name) #name,
#include "cli/commands.inc"
#undef X
	};
	const char *separator = "";

	man_heading(out, "see also");
	if (self) {
		fputs(".BR limpet (1)", out);
		separator = ",\n";
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (self && !strcmp(self->name, names[i]))
			continue;
		fprintf(out, "%s.BR limpet\\-%s (1)", separator, names[i]);
		separator = ",\n";
	}
	fputc('\n', out);
}

/* `name` is NULL for the whole of limpet. The empty date makes builds reproducible. */
static void man_title(FILE *out, const char *name, const char *summary)
{
	fputs(".TH LIMPET", out);
	if (name)
		fputs("\\-", out);
	for (const char *p = name; p && *p; p++)
		fputc(toupper((unsigned char)*p), out);
	fprintf(out, " 1 \"\" \"limpet %s\" \"limpet manual\"\n.nh\n.ad l\n", LIMPET_VERSION);
	man_heading(out, "name");
	fprintf(out, "limpet%s%s \\- ", name ? "\\-" : "", name ? name : "");
	man_string(out, summary);
	fputc('\n', out);
}

static void man_command(FILE *out, const struct command *c)
{
	char name[COMMAND_NAME_MAX];

	man_title(out, command_dashed(c, name), c->summary);
	man_heading(out, "synopsis");
	fprintf(out, "\\fBlimpet %s\\fR ", c->name);
	man_string(out, c->usage);
	fputc('\n', out);
	man_heading(out, "description");
	man_text(out, c->description, ".PP");
	if (c->verbs)
		man_verbs(out, c);
	if (c->choice) {
		man_heading(out, c->choices);
		man_choices(out, c);
	}
	if (c->options)
		man_heading(out, "options");
	man_options(out, c->options);
	if (c->takes_collectors)
		man_collectors(out);
	if (c->takes_data)
		man_importers(out);
	if (c->examples)
		man_heading(out, "examples");
	man_examples(out, c->examples);
	man_exit_codes(out);
	man_see_also(out, c);
}

static void man_overview(FILE *out)
{
	man_title(out, NULL, "find the limping component of a parallel file system");
	man_heading(out, "synopsis");
	fputs("\\fBlimpet\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n", out);
	man_heading(out, "description");
	man_text(out, help_about, ".PP");
	man_heading(out, "commands");
	for (const struct command *const *c = program.commands; *c; c++) {
		man_item(out, "limpet ", (*c)->name);
		man_string(out, (*c)->summary);
		fputc('\n', out);
	}
	man_heading(out, "names");
	man_text(out, help_names, ".PP");
	man_exit_codes(out);
	man_see_also(out, NULL);
}

void help_print_man(FILE *out, const struct command *c)
{
	if (c)
		man_command(out, c);
	else
		man_overview(out);
}
