/* The terminal that a command prints to: colours, width, characters. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "base/option.h"

/* The option of commands that print in colour, for their tables. */
#define COLOUR_OPTION(offset)                                                                      \
	{                                                                                          \
		"color", 0, OPTION_STRING, offset, "WHEN",                                         \
			"colour: 'always', 'never', or 'auto' [auto: on a terminal, unless "       \
			"NO_COLOR is "                                                             \
			"set]"                                                                     \
	}

/* Is the output to be coloured? `when` is the option's value, NULL for auto. -EINVAL: neither of
 * the three. */
int terminal_colour(const char *when, bool *ret, struct lp_err *err);

/* Columns of the terminal, or of $COLUMNS; 0: not known. */
unsigned terminal_width(void);

/* Does the locale of the environment (LC_ALL, LC_CTYPE, LANG) have UTF-8? */
bool terminal_utf8(void);

#endif
