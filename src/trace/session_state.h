/* The common state of a session. */
#ifndef TRACE_SESSION_STATE_H
#define TRACE_SESSION_STATE_H

#include "base/idmap.h"
#include "base/time.h"
#include "trace/descriptors.h"
#include "trace/names.h"
#include "trace/session.h"
#include <time.h>

struct session {
	const struct trace_session_config *config;
	const struct trace_backend *backend;
	void *state; /* the backend's */
	bool counts; /* the backend counts, and delivers only unusual events */
	struct descriptors *descriptors;
	struct names names; /* if the backend counts */
	struct tally *tally;
	struct trace_rows *rows;
	struct spool *spool; /* the loop's */
	struct trace_stats stats;
	struct trace_programs programs; /* of processes that were found by name */
	unsigned n_programs_asked;	/* looked up since the last sample */
	int64_t wall_offset_ns;		/* wall clock - CLOCK_MONOTONIC */
	int64_t start_ns, last_pending_ns;
	uint64_t lost_told;
	unsigned folded_told;
	bool at_end;
	pid_t *ended; /* since the last sample */
	size_t n_ended, cap_ended;
	size_t n_over;	    /* of these, those that had ended before the last count */
	size_t n_asked_for; /* of these, those that had ended at the last session_relieve() that did
			     * something */
	struct idmap ended_pids;
	uint64_t lost_looked; /* lost events at the last check for missing processes */
	struct idmap seen;    /* processes */
	struct idmap asked; /* processes -> samples since their listening sockets were looked up */
	struct idmap told_fds; /* pid and descriptor -> what the log contains about it */
};

/* The name of a process; "?" if it is unknown. Valid until the next event. `ctx` is the session. */
const char *session_comm(void *ctx, pid_t pid);

/* Note the program of a process, if processes are selected by name. */
void session_program(struct session *s, pid_t pid);
/* A process ended: it is counted once more, and then forgotten. 0 or -ENOMEM. */
int session_exit(struct session *s, pid_t pid);
/* A process began: another one may have had its number a moment ago. */
int session_birth(struct session *s, pid_t pid);
/* The processes that have ended so far are complete when the next counts are taken. */
int session_count_ended(struct session *s);
/* Forget finished entries, which have been counted. */
void session_forget(struct session *s, int64_t now_ns);
/* Count and forget ended processes before the next sample. */
int session_absorb(struct session *s);
/* If the kernel counts and many processes have ended, update the counts, so that the kernel can
 * reuse their cells. */
int session_relieve(struct session *s, struct lp_err *err);
/* `pids` are the traced processes. A known process that is not among them has ended, but its event
 * was lost. */
int session_miss(struct session *s, const pid_t *pids, unsigned n_pids);

/* Handles events of the backend: struct trace_sink. `ctx` is the session. */
int session_event(void *ctx, const struct trace_event *e);

/* A change to a table of descriptors: descriptors_new(). `ctx` is the session. */
int session_change(void *ctx, const struct trace_descriptor *d);

#endif
