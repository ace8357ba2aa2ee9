/* The arguments of system calls in the form of strace. */
#ifndef REPORT_CALL_ARGS_H
#define REPORT_CALL_ARGS_H

#include "base/strbuf.h"
#include "model/fd_names.h"
#include "model/syscalls.h"

/* Add any bytes in a form that is safe for a terminal: bytes that are not printable ASCII become
 * \n, \t, \x1b. */
void call_args_escape(struct strbuf *out, const char *bytes, size_t len);

/* A descriptor and its name, "9</data/brick/x>"; "9" if `names` (may be NULL) has none. */
void call_args_fd(struct strbuf *out, const struct fd_names *names, int32_t pid, int fd);

/* The number of arguments of a call to print (without the mode of an open that creates nothing). */
unsigned call_args_count(const struct trace_event *e, const struct syscall_info *s);

/* Add argument `i`. */
void call_args_add(struct strbuf *out, const struct trace_event *e, const struct syscall_info *s,
	unsigned i, const struct fd_names *names);

/* The captured path number `which` (0 or 1) of an event; NULL if there is none.
 */
const char *call_args_path(
	const struct trace_event *e, const struct syscall_info *s, unsigned which, size_t *ret_len);

#endif
