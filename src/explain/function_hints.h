/* The purpose of functions, as far as their names show it. */
#ifndef EXPLAIN_FUNCTION_HINTS_H
#define EXPLAIN_FUNCTION_HINTS_H

/* "storage", "the network", "locks", "computation" or NULL, of a name like
 * "glusterfsd:posix.so:posix_readv". The same text is always the same pointer. */
const char *function_hint(const char *name);

#endif
