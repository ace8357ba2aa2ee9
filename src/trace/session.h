/* The instrument that traces system calls: converts events to samples and logs. */
#ifndef TRACE_SESSION_H
#define TRACE_SESSION_H

#include "collect/loop.h"
#include "trace/backend.h"
#include "trace/programs.h"
#include "trace/rows.h"

#define TRACE_SLOWEST 5
#define TRACE_SLOW_TEXT 128

/* The longest calls among those that should not wait. */
struct trace_slow {
	struct trace_event event;   /* start_ns since 1970; text is NULL */
	char file[TRACE_SLOW_TEXT]; /* its file, "" if unknown */
	char comm[32];
};

struct trace_stats {
	uint64_t events;    /* delivered */
	uint64_t calls;	    /* counted */
	uint64_t errors;    /* failed calls, without ordinary failures such as EAGAIN */
	uint64_t lost;	    /* lost events */
	uint64_t processes; /* seen */
	uint64_t stuck;	    /* calls that do not return, at the moment */
	int64_t elapsed_us;
	unsigned n_slow;
	struct trace_slow slow[TRACE_SLOWEST]; /* the slowest first */
	int command_status; /* wait status; -ECHILD: it is running, or there was none */
	bool ended;	    /* nothing was left to trace */
	struct spool_stats spool;
};

struct trace_session_config {
	const struct trace_backend *backend;
	struct trace_config trace;
	const char *observer;
	const char *dir, *name; /* of the files */
	const char *path;	/* of the file; NULL: DIR/NAME-TIME.lpa */
	const char *meta;	/* further "key=value\n" lines, or NULL */
	int64_t interval_us, flush_us;
	int64_t duration_us; /* 0: until stopped, or until nothing is left */
	int64_t stuck_ns;    /* a call that should not wait is stuck after this time */
	/* As in struct spool_config; may be NULL. */
	void (*written)(void *ctx, const char *path, uint64_t size);
	void *written_ctx;
	struct lp_warn *warn;
	/* Called when everything is recorded from now on. May be NULL. */
	void (*started)(void *ctx, const struct trace_stats *stats);
	/* Called at every sample. May be NULL. */
	void (*progress)(void *ctx, const struct trace_stats *stats);
	/* Called once at the end with every row of `kind`: its name and counters. May be NULL. */
	void (*row)(void *ctx, enum trace_rows_kind kind, const char *name, const int64_t *values);
	/* Called at the beginning and at the end with the programs that were found, if processes
	 * are selected by name. May be NULL. */
	void (*programs)(void *ctx, const struct trace_programs *programs, bool at_end);
	void *ctx;
};

/* A session, for loops that also run other instruments. `config` must outlive it. NULL: out of
 * memory. */
struct session;
struct session *trace_session_new(const struct trace_session_config *config);
void trace_session_free(struct session *s); /* accepts NULL */

/* Its statistics; `spool` is not filled in. */
const struct trace_stats *trace_session_stats(const struct session *s);

/* loop_instrument.config is a struct session; the loop's spool has logs. */
extern const struct instrument instrument_syscalls;

/* Trace until the end. Tracees are detached before the last data is written. `*ret_stats` is filled
 * in even after a failure. */
int trace_session_run(const struct trace_session_config *config, struct ticker *ticker,
	struct trace_stats *ret_stats, struct lp_err *err);

#endif
