/* Help, manual pages and completion, all from the tables of commands, collectors, importers and
 * metrics.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/command.h"
#include <stdio.h>

/* The purpose of limpet, and the naming of components, as paragraphs. */
extern const char help_about[];
extern const char help_names[];

struct exit_code {
	int code;
	const char *meaning; /* NULL ends the table */
};
extern const struct exit_code exit_codes[];

void help_print_overview(FILE *out);
void help_print_command(FILE *out, const struct command *c);

/* A manual page in roff, for `c`, or for the whole of limpet if it is NULL. */
void help_print_man(FILE *out, const struct command *c);

/* All metrics and raw columns, for the terminal or as Markdown tables. */
void help_print_metrics(FILE *out, bool markdown);

/* A completion script for bash. */
void help_print_completion(FILE *out);

/* The same for fish and for zsh. The scripts of all programs are joined. For zsh, that of limpet
 * itself comes last, because it calls the functions. */
void help_print_fish(FILE *out);
void help_print_zsh(FILE *out);

#endif
