/* Asynchronous I/O (io_submit, io_getevents), reported as the equivalent calls. */
#ifndef TRACE_PTRACE_AIO_H
#define TRACE_PTRACE_AIO_H

#include "model/syscalls.h"
#include <stddef.h>
#include <sys/types.h>

/* Submissions of one process that have not completed. Zero-initialise it. */
struct aio {
	struct aio_item *items;
	size_t n, cap;
};

void aio_release(struct aio *a);

/* io_submit has returned: keep the submissions. `kind` returns the enum trace_file of a descriptor.
 * Returns the number of earlier ones that were forgotten because their end was missed (a program
 * may read completions from memory without a call), or -ENOMEM. */
int aio_submitted(struct aio *a, const struct trace_event *call,
	unsigned (*kind)(void *ctx, int fd), void *ctx);

/* io_getevents has returned: report the completions. `submitted` is the template of the events:
 * pid, tid; seq and times come from the submission and from `call`. Returns the result of `event`
 * if that was not 0. */
int aio_completed(struct aio *a, const struct trace_event *call,
	int (*event)(void *ctx, struct trace_event *e), void *ctx);

#endif
