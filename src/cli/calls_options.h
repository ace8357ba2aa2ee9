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
		"file that lists the functions to count, from 'limpet functions --select' "        \
		"[as they are]"},                                                                  \
	{                                                                                          \
		"budget", 0, OPTION_STRING, (base) + offsetof(struct calls_choice, budget), "P%",  \
			"what counting calls may cost each process, as a share of a CPU: if it "   \
			"costs more, the most expensive functions are switched off first [any]"    \
	}

/* Apply the options; the choice must outlive the configuration. */
int calls_options_apply(struct calls_choice *o, struct calls_config *config, struct lp_err *err);

#endif
