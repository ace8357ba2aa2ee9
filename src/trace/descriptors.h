/* The descriptor tables of traced processes, updated only from events.
 *
 * Before tracing they are read from /proc (TRACE_FD_BEFORE); from then on every event that changes
 * a table is applied, and each change is reported, which is the descriptor log.
 */
#ifndef TRACE_DESCRIPTORS_H
#define TRACE_DESCRIPTORS_H

#include "model/syscalls.h"
#include <limpet/err.h>
#include <sys/types.h>

struct descriptors;

/* `change` is called for every change, in order (may be NULL); a result other than 0 ends the
 * causing call, which returns it. `proc` is "/proc", or a similar directory. */
struct descriptors *descriptors_new(
	const char *proc, int (*change)(void *ctx, const struct trace_descriptor *d), void *ctx);
void descriptors_free(struct descriptors *d);

/* Read the table, the working directory and the sockets of an existing process. 0 if the process is
 * gone. */
int descriptors_read(struct descriptors *d, pid_t pid, int64_t now_ns, struct lp_err *err);

/* Apply an event. Processes that were neither read nor forked from known ones are read from /proc
 * first. */
int descriptors_apply(struct descriptors *d, const struct trace_event *e, struct lp_err *err);

struct descriptor {
	uint8_t file;  /* enum trace_file */
	bool blocks;   /* O_NONBLOCK is not set */
	bool accepted; /* accepted by this process: it is the server's end */
	uint64_t id;   /* of the open file: the same for all descriptors that share it by dup, fork
			* or passing */
	struct trace_endpoints ends; /* of a TCP socket; family 0: not connected */
	const char *name; /* as in struct trace_descriptor; valid until the next change */
};

/* The current meaning of a descriptor; false: it is not open, as far as known. */
bool descriptors_get(struct descriptors *d, pid_t pid, int fd, struct descriptor *ret);

/* The same without applied events (summaries): reads /proc now. Reports the change TRACE_FD_SEEN if
 * it is new. */
bool descriptors_look(
	struct descriptors *d, pid_t pid, int fd, int64_t now_ns, struct descriptor *ret);

/* Report (TRACE_FD_SEEN) the TCP sockets on which a process listens, each once. Such a process is a
 * server, even if it has no clients. Examines its first few thousand descriptors; 0 if the process
 * is gone or hides them. */
int descriptors_listening(struct descriptors *d, pid_t pid, int64_t now_ns, struct lp_err *err);

/* Forget a process that ended. */
void descriptors_forget(struct descriptors *d, pid_t pid);

/* The name of a process (/proc/PID/comm when it was first seen or last executed), "?" if unknown.
 */
const char *descriptors_comm(struct descriptors *d, pid_t pid);

#endif
