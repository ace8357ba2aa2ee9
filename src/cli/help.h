/* Help and manual pages, both from the commands' own tables. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/command.h"
#include <stdio.h>

void help_print_overview(FILE *out);
void help_print_command(FILE *out, const struct command *c);

/* A manual page in roff, for `c` or (NULL) for limpet as a whole. */
void help_print_man(FILE *out, const struct command *c);

#endif
