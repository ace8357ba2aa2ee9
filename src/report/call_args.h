/* The arguments of system calls as strace writes them. */
#ifndef REPORT_CALL_ARGS_H
#define REPORT_CALL_ARGS_H

#include "base/strbuf.h"
#include "model/fd_names.h"
#include "model/syscalls.h"

/* Bytes of any kind, so that they can do nothing to a terminal: what is not printable ASCII becomes
 * \n, \t, \x1b. */
void call_args_escape(struct strbuf *out, const char *bytes, size_t len);

/* A descriptor and its name, "9</data/brick/x>"; "9" where `names` (may be NULL) has none. */
void call_args_fd(struct strbuf *out, const struct fd_names *names, int32_t pid, int fd);

/* How many arguments of the call are worth printing (the mode of an open that creates nothing is
 * not). */
unsigned call_args_count(const struct trace_event *e, const struct syscall_info *s);

/* Argument `i` of it. */
void call_args_add(struct strbuf *out, const struct trace_event *e, const struct syscall_info *s,
	unsigned i, const struct fd_names *names);

/* The path at `which` (0 or 1) that was captured with an event: its bytes, NULL if there is none.
 */
const char *call_args_path(
	const struct trace_event *e, const struct syscall_info *s, unsigned which, size_t *ret_len);

#endif
