/* What the verbs of `limpet trace` have in common: where archives go, and exit codes. */
#ifndef CLI_TRACE_OUTPUT_H
#define CLI_TRACE_OUTPUT_H

#include "cli/observer.h"

struct trace_output {
	char name[OBSERVER_NAME_MAX];		/* of this server */
	char file_name[OBSERVER_NAME_MAX + 16]; /* what names of archives begin with */
	const char *dir;
	const char *path; /* of one file that is not there yet; NULL: names are made */
};

/* From the options --output and --name (NULL where not given): archives are called
 * NAME-WHAT-TIME.lpa in a directory, or are a file that ends in .lpa. */
int trace_output_choose(const char *output, const char *name, const char *what,
	struct trace_output *ret, struct lp_err *err);

/* Mistakes of the user's against failures of ours. */
int trace_exit_code(int r);

#endif
