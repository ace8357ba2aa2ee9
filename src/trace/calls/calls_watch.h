/* The programs of this machine that count their calls. It finds them, reads their tables, and
 * forgets them when they have ended.
 *
 * While a watch is open, programs keep their tables in a directory (runtime/calls_table.h) and
 * leave them there when they end; the watch removes them. It finds programs that are already
 * running by their memory. From time to time it also looks for programs that do not see the
 * directory (in containers).
 */
#ifndef TRACE_CALLS_WATCH_H
#define TRACE_CALLS_WATCH_H

#include "trace/calls/calls_reading.h"

#include <sys/types.h>

/* The maximum number of programs; others are only counted. Each needs a descriptor, and a process
 * usually may have 1,024. */
#define CALLS_PROGRAMS_MAX 900

struct calls_program {
	pid_t pid;
	uid_t uid; /* its process */
	uint64_t birth_ns;
	char name[16]; /* as in /proc/PID/comm */
	bool ended;    /* this is its last data */
	struct calls_reading reading;
	void *names; /* belongs to the caller; released with it by: */
	void (*release)(void *names);

	/* For the watch itself. */
	int fd;
	char *file;  /* in the directory; NULL: it has no name */
	bool bad;    /* it is not valid; that was reported */
	bool placed; /* the id of its process in this namespace is known */
	bool gone;   /* it has no process */
};

struct calls_watch;

struct calls_watch_config {
	const char *directory; /* NULL: the default directory */
	const char *proc;      /* where /proc is */
	uint64_t netns;	       /* only programs of this network namespace (netns.h); 0: all */
	int64_t elsewhere_ns;  /* how often to look for programs in containers [10 s] */
	/* Only look: programs do not learn that there is a reader, and the tables of ended programs
	 * stay for others. */
	bool passive;
};

/* -EACCES, -ENOENT: the directory cannot be used. */
int calls_watch_open(
	const struct calls_watch_config *config, struct calls_watch **ret, struct lp_err *err);
void calls_watch_close(struct calls_watch *w);

/* Find programs, read all of them, and then call `fn` for each. Errors of a table are reported once
 * by `warn` (may be NULL). -ENOMEM, or the result of `fn`. */
int calls_watch_read(struct calls_watch *w,
	int (*fn)(void *ctx, struct calls_program *p, struct lp_err *err), void *ctx,
	struct lp_warn *warn, struct lp_err *err);

/* The total number of programs for which there was no room. */
uint64_t calls_watch_left_out(const struct calls_watch *w);

#endif
