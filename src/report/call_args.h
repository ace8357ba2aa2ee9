/* The arguments of system calls as strace writes them. */
#ifndef REPORT_CALL_ARGS_H
#define REPORT_CALL_ARGS_H

#include "base/strbuf.h"
#include "model/fd_names.h"
#include "model/syscalls.h"

/* Bytes of any kind, made harmless for a terminal: bytes that are not printable ASCII become \n,
 * \t, \x1b. */
void call_args_escape(struct strbuf *out, const char *bytes, size_t len);

/* A descriptor and its name, "9</data/brick/x>"; "9" if `names` (may be NULL) has none. */
void call_args_fd(struct strbuf *out, const struct fd_names *names, int32_t pid, int fd);

/* The number of arguments of the call to print (without the mode of an open that creates
 * nothing). */
unsigned call_args_count(const struct trace_event *e, const struct syscall_info *s);

/* Argument `i` of it. */
void call_args_add(struct strbuf *out, const struct trace_event *e, const struct syscall_info *s,
	unsigned i, const struct fd_names *names);

/* The path at `which` (0 or 1) that was captured with an event: its bytes, NULL if there is none.
 */
const char *call_args_path(
	const struct trace_event *e, const struct syscall_info *s, unsigned which, size_t *ret_len);

#endif
