/* The interface of a tracer: `bpf` works inside the kernel, `ptrace` stops the process at every
 * call. Each has one or a few files backend_NAME*.c and a line in meson.build. All deliver the same
 * events.
 */
#ifndef TRACE_BACKEND_H
#define TRACE_BACKEND_H

#include "model/syscalls.h"
#include "trace/tally.h"
#include <limpet/err.h>
#include <sys/types.h>

/* What to trace: all processes that match any of these, their threads, and everything they start
 * from now on. */
struct trace_targets {
	const pid_t *pids;
	unsigned n_pids;
	const char *const *comms; /* names as in /proc/PID/comm, now or later (targets.h) */
	unsigned n_comms;
	const uid_t *uids; /* users of processes found by name; none: all users */
	unsigned n_uids;
	const char *cgroup;   /* directory of a control group, or NULL */
	char *const *command; /* start this and trace it from its first call on, or NULL */
};

struct trace_config {
	struct trace_targets targets;
	/* Deliver every call. Otherwise (a summary) only unusual ones: calls that failed with
	 * something other than EAGAIN, EINPROGRESS and EINTR (at most TRACE_SAME_MAX per process,
	 * call and errno between two calls of tally()), calls that took `slow_ns` or longer
	 * although waiting is not their purpose, signals that are not ignored, exec, fork of
	 * processes, exits; and count the rest. */
	bool records;
	int64_t slow_ns;       /* 1 s */
	uint64_t ring_bytes;   /* between kernel and tracer; 0: 16 MiB */
	const uint16_t *ports; /* local ports on which the traced processes serve; n_ports */
	unsigned n_ports;
};

#define TRACE_SAME_MAX 8

/* Called by a backend. A negative return value ends tracing and is returned by poll(). */
struct trace_sink {
	/* In order of completion per thread. The event is valid during the call only. */
	int (*event)(void *ctx, const struct trace_event *e);
	void *ctx;
};

struct trace_backend {
	const char *name;    /* "bpf" */
	const char *summary; /* for the help */
	bool counts;	     /* in summaries it counts calls itself: tally() reads the counts */

	/* Can it work here? 0, or -EOPNOTSUPP or -EPERM with the reason. */
	int (*probe)(struct lp_err *err);

	/* Find the targets and begin. -ESRCH: there are none. */
	int (*open)(const struct trace_config *config, const struct trace_sink *sink,
		void **ret_state, struct lp_err *err);

	/* A descriptor that becomes readable when there are events; poll() is then called without
	 * waiting. NULL: there is none, and poll() waits. */
	int (*descriptor)(void *state);

	/* Deliver pending events, wait up to `timeout_ms` for more. 1: nothing is left to trace. A
	 * signal ends the wait early. */
	int (*poll)(void *state, int timeout_ms, struct lp_err *err);

	/* Deliver a TRACE_PENDING for every call that has lasted for `at_least_ns`. */
	int (*pending)(void *state, int64_t at_least_ns, struct lp_err *err);

	/* For summaries of a backend that `counts`: update `t` with the kernel's counts. */
	int (*tally)(void *state, struct tally *t, struct lp_err *err);

	/* Processes traced at the moment (ids of thread groups), at most `max`; returns their
	 * number. */
	unsigned (*processes)(void *state, pid_t *ret, unsigned max);

	/* Events that did not reach the sink so far. */
	uint64_t (*lost)(void *state);

	/* Wait status of the command that open() started; -ECHILD while it runs. */
	int (*command_status)(void *state);

	/* Activity that it cannot see here: "io_uring", "" if none. NULL: none. */
	const char *(*unseen)(void);

	/* Detach from everything: no probe, no stopped thread stays. Accepts NULL. */
	void (*close)(void *state);
};

/* All backends, NULL-terminated, the best first. */
extern const struct trace_backend *const trace_backends[];
const struct trace_backend *trace_backend_find(const char *name);

/* The first backend that works here. If it is not the first of all, `why` (may be NULL) has the
 * reason. */
const struct trace_backend *trace_backend_choose(struct lp_err *why);

#endif
