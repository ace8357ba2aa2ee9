/* Lists of functions to be counted or not, in files (runtime/calls_list.h says their form).
 */
#ifndef TRACE_FUNCTION_LIST_H
#define TRACE_FUNCTION_LIST_H

#include "runtime/calls_list.h"

#include <limpet/err.h>

/* Read a list. -EBADMSG: a line is neither "on NAME" nor "off NAME", empty nor a comment ("# ...").
 * Release it with calls_list_release(). */
int function_list_read(const char *path, struct calls_list *ret, struct lp_err *err);

/* The last part of "PROGRAM:IMAGE:FUNCTION"; the whole where there are no such parts. */
const char *function_of_name(const char *name);

#endif
