/* The tracer of backend_ptrace.c: one thread, because only the thread that attached to others may
 * control them.
 *
 * This thread works only while a caller of the backend waits for it, so no locks are needed. When
 * it ends, the kernel releases all traced threads without disturbing their current calls. Tracing
 * ends this way after close() and after SIGKILL.
 */
#ifndef TRACE_PTRACE_TRACER_H
#define TRACE_PTRACE_TRACER_H

#include "trace/backend.h"
#include "trace/ptrace_tasks.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/ptrace.h>

/* The tracer itself causes most of a shorter duration: two switches between processes. */
#define PTRACE_COARSE_NS 20000

/* For every traced thread. */
#define TRACER_OPTIONS                                                                             \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |  \
		PTRACE_O_TRACEEXEC)

struct ptrace_tracer {
	struct trace_config config; /* its pointers belong to the caller */
	struct trace_sink sink;
	sigset_t caller_mask; /* for the command */
	atomic_bool stop;     /* return from tracer_run() */

	struct ptrace_tasks tasks;
	uint64_t seq, lost;
	int result;  /* the first failure of the sink */
	bool ending; /* threads continue without stopping at calls */
	int64_t scanned_ns;
	pid_t refused; /* a process found by name or group that may not be traced; 0: none */
	char text[TRACE_TEXT_MAX];

	pid_t command;	    /* 0: none */
	int command_status; /* -ECHILD while it runs */
	int command_stop;   /* it has stopped with this status after its exec; not handled yet */
	int64_t command_ns; /* then */
};

/* CLOCK_MONOTONIC. */
int64_t tracer_now_ns(void);

/* ptrace_stops.c: a thread has stopped or ended, with this `status` of waitpid(). */
void tracer_handle(struct ptrace_tracer *t, pid_t tid, int status, int64_t now_ns);

/* Continue threads that were never reported by their parents, because those were killed. */
void tracer_release_orphans(struct ptrace_tracer *t, int64_t now_ns);

/* Deliver a TRACE_PENDING for each call that has lasted for `at_least_ns`. */
int tracer_pending(struct ptrace_tracer *t, int64_t at_least_ns);

/* ptrace_attach.c: begin to trace the targets of config.targets. -ESRCH: there are none. */
int tracer_attach(struct ptrace_tracer *t, struct lp_err *err);
/* Look for new targets. */
void tracer_scan(struct ptrace_tracer *t);
/* Can there be more targets later? */
bool tracer_scans(const struct ptrace_tracer *t);

/* ptrace_command.c: start the command, and follow it until it has executed. */
int tracer_start(struct ptrace_tracer *t, struct lp_err *err);

/* ptrace_wait.c: handle events until `stop` is set. 1: nothing is left to trace. */
int tracer_run(struct ptrace_tracer *t);

/* Prepare for the end: no thread may be at the entry of a call when the tracer ends and wakes it,
 * because that call would be interrupted. */
void tracer_end(struct ptrace_tracer *t);

/* ptrace_regs.c: repeat a call that returned EINTR because the tracer attached. The thread is
 * stopped outside of a call. */
void regs_repeat_call(pid_t tid);

#endif
