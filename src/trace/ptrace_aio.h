/* Asynchronous I/O (io_submit, io_getevents), reported as the equivalent calls. */
#ifndef TRACE_PTRACE_AIO_H
#define TRACE_PTRACE_AIO_H

#include "model/syscalls.h"
#include <stddef.h>
#include <sys/types.h>

/* Submissions of one process whose completion was not seen yet. Zero-initialise it. */
struct aio {
	struct aio_item *items;
	size_t n, cap;
};

void aio_release(struct aio *a);

/* An io_submit has returned: keep the submissions. `kind` returns the enum trace_file of a
 * descriptor. Returns how many earlier ones were forgotten because their end was not seen (a
 * program may take completions from memory without any call), or -ENOMEM. */
int aio_submitted(struct aio *a, const struct trace_event *call,
	unsigned (*kind)(void *ctx, int fd), void *ctx);

/* An io_getevents has returned: report the completions. `submitted` is the template of the events:
 * pid, tid; seq and times come from the submission and from `call`. Returns the result of `event`
 * if that was not 0. */
int aio_completed(struct aio *a, const struct trace_event *call,
	int (*event)(void *ctx, struct trace_event *e), void *ctx);

#endif
