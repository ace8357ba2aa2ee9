/* Options of compilers and linkers for a list of functions that are not to be counted. */
#ifndef CLI_CC_FUNCTIONS_H
#define CLI_CC_FUNCTIONS_H

#include <limpet/err.h>

/* Zeros: no list. */
struct cc_functions {
	char *exclude; /* for gcc: what is not instrumented at all; NULL: nothing */
	char *define; /* for the assembler: where the list is that becomes part of what is linked */
};

int cc_functions_read(const char *path, struct cc_functions *ret, struct lp_err *err);
void cc_functions_release(struct cc_functions *f);

#endif
