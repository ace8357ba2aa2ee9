/* The common part of `limpet record --collect calls` and `limpet trace calls`. */
#ifndef CLI_CALLS_OPTIONS_H
#define CLI_CALLS_OPTIONS_H

#include "base/option.h"
#include "trace/calls/calls.h"

struct calls_choice {
	const char *functions, *budget;
	struct calls_list list; /* not an option: the contents of the file */
};

/* Rows for a table of options; `base` is the offset of a struct calls_choice. */
#define CALLS_OPTIONS(base)                                                                        \
	{"functions", 0, OPTION_STRING, (base) + offsetof(struct calls_choice, functions), "FILE", \
		"count the functions that this list switches on ('limpet functions --select' "     \
		"writes one) [leave them as they are]"},                                           \
	{                                                                                          \
		"budget", 0, OPTION_STRING, (base) + offsetof(struct calls_choice, budget), "P%",  \
			"limit the cost of counting in each process to this share of a CPU: "      \
			"the most expensive functions are switched off first [no limit]"           \
	}

/* Apply the options; the choice must outlive the configuration. */
int calls_options_apply(struct calls_choice *o, struct calls_config *config, struct lp_err *err);

#endif
