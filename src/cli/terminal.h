/* The terminal that a command prints on: colours, width, characters. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "base/option.h"

/* The option of commands that print in colour, for their tables. */
#define COLOUR_OPTION(offset)                                                                      \
	{                                                                                          \
		"color", 0, OPTION_STRING, offset, "WHEN",                                         \
			"when to use colour: 'always', 'never' or 'auto' [auto: on a "             \
			"terminal, unless NO_COLOR is set]"                                        \
	}

/* Should the output be coloured? `when` is the value of the option; NULL: auto. -EINVAL: invalid
 * value. */
int terminal_colour(const char *when, bool *ret, struct lp_err *err);

/* Columns of the terminal, or $COLUMNS; 0: unknown. */
unsigned terminal_width(void);

/* Does the locale of the environment (LC_ALL, LC_CTYPE, LANG) use UTF-8? */
bool terminal_utf8(void);

#endif
