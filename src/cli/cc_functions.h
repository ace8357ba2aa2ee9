/* Options of compilers and linkers for a list of functions that are not counted. */
#ifndef CLI_CC_FUNCTIONS_H
#define CLI_CC_FUNCTIONS_H

#include <limpet/err.h>

/* All zero: no list. */
struct cc_functions {
	char *exclude; /* for gcc: functions that are not instrumented; NULL: none */
	char *define;  /* for the assembler: the path of the list that is linked into the program */
};

int cc_functions_read(const char *path, struct cc_functions *ret, struct lp_err *err);
void cc_functions_release(struct cc_functions *f);

#endif
