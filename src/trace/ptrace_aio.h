/* Asynchronous I/O (io_submit, io_getevents) as the calls that it stands for. */
#ifndef TRACE_PTRACE_AIO_H
#define TRACE_PTRACE_AIO_H

#include "model/syscalls.h"
#include <stddef.h>
#include <sys/types.h>

/* What one process has submitted whose completion it has not seen yet. Zero-initialise it. */
struct aio {
	struct aio_item *items;
	size_t n, cap;
};

void aio_release(struct aio *a);

/* An io_submit has returned: keep what was submitted. `kind` says enum trace_file of a descriptor.
 * How many earlier ones were forgotten, the end of which nobody saw (a program may take completions
 * from memory without any call), or -ENOMEM. */
int aio_submitted(struct aio *a, const struct trace_event *call,
	unsigned (*kind)(void *ctx, int fd), void *ctx);

/* An io_getevents has returned: report the completions. `submitted` is the model of what is
 * reported: pid, tid; seq and times come from the submission and from `call`. Returns what `event`
 * returned if that was not 0. */
int aio_completed(struct aio *a, const struct trace_event *call,
	int (*event)(void *ctx, struct trace_event *e), void *ctx);

#endif
