/* Copies the data behind the arguments of a call from the memory of a process. */
#ifndef TRACE_PTRACE_CAPTURE_H
#define TRACE_PTRACE_CAPTURE_H

#include "model/syscalls.h"
#include <stddef.h>
#include <sys/types.h>

/* Copy up to `size` bytes at `address`; returns their number. Fewer than `size` if some of the
 * memory is not mapped, 0 if none is. */
size_t capture_bytes(pid_t tid, uint64_t address, void *ret, size_t size);

/* Copy the string at `address` without its NUL, at most `size` bytes. Returns its length; sets
 * `*cut` if there is more. */
size_t capture_string(pid_t tid, uint64_t address, char *ret, size_t size, bool *cut);

/* Fill in text, text_len and TRACE_CUT of a call at its exit (or earlier, if `what` is
 * TRACE_PENDING: then only the data that is already known), according to `capture` (enum
 * syscall_capture). `buf` holds the text. */
void capture_text(struct trace_event *e, unsigned capture, char buf[TRACE_TEXT_MAX]);

/* The flags of fork, vfork, clone and clone3, without the signal in clone's first byte. */
uint64_t capture_clone_flags(pid_t tid, unsigned nr, const uint64_t args[TRACE_ARGS]);

#endif
