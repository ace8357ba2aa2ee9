/* The purpose of functions, as far as their names show it. */
#ifndef EXPLAIN_FUNCTION_HINTS_H
#define EXPLAIN_FUNCTION_HINTS_H

/* "storage", "the network", "locks", "computation" or NULL, for a name like
 * "glusterfsd:posix.so:posix_readv". Equal results are the same pointer. */
const char *function_hint(const char *name);

#endif
