/* Lists of functions to count or not to count, in files (runtime/calls_list.h describes the
 * format).
 */
#ifndef TRACE_FUNCTION_LIST_H
#define TRACE_FUNCTION_LIST_H

#include "runtime/calls_list.h"

#include <limpet/err.h>

/* Read a list. -EBADMSG: a line is not "on NAME", "off NAME", a comment ("# ...") or empty. Release
 * it with calls_list_release(). */
int function_list_read(const char *path, struct calls_list *ret, struct lp_err *err);

/* The last part of "PROGRAM:IMAGE:FUNCTION"; the whole name if it has no such parts. */
const char *function_of_name(const char *name);

#endif
