/* The effect of system calls on a table of descriptors. Shared between descriptors.c (which process
 * has which table) and descriptor_calls.c (one function per call). */
#ifndef TRACE_DESCRIPTOR_CALLS_H
#define TRACE_DESCRIPTOR_CALLS_H

#include "trace/descriptor_net.h"
#include "trace/descriptor_table.h"
#include "trace/descriptors.h"

#define DESCRIPTORS_GONE 64 /* a power of two */

struct descriptors {
	char *proc;
	int (*change)(void *ctx, const struct trace_descriptor *d);
	void *ctx;
	struct processes processes;
	uint64_t next_id;
	bool lost; /* events were lost: descriptors may be in use whose opening was not seen */
	/* Processes that were not in /proc when they were looked up, so that they are not looked up
	 * at every event. By their low bits. */
	pid_t gone[DESCRIPTORS_GONE];
	struct net_sockets net;
};

/* The call that changes something, and its process. */
struct step {
	struct descriptors *d;
	struct process *p;
	const struct trace_event *e;
	int64_t end_ns; /* when it had ended */
};

/* A new descriptor. */
struct fresh {
	int fd, from;
	unsigned change, file;
	const char *name;
	bool cloexec, nonblock, accepted;
	const struct trace_endpoints *ends; /* or NULL */
};

/* Put an open file (its reference is taken over) at a descriptor and report the change. 0, -ENOMEM,
 * or the result of the receiver. */
int step_put(const struct step *s, int fd, int from, unsigned change, struct open_file *file,
	bool cloexec);

/* Make an open file and put it there. */
int step_make(const struct step *s, const struct fresh *f);

/* Look it up in /proc, if it is not known otherwise. If it is already gone its name is "?"; with
 * TRACE_FD_SEEN nothing changes. */
int step_look(const struct step *s, int fd, unsigned change, bool cloexec);

/* Drop a descriptor and report the reason. */
int step_close(const struct step *s, int fd, unsigned change);

/* Give the process a table of its own. */
int step_unshare(const struct step *s);

/* Apply a system call; those that change no table return 0 at once. */
int descriptor_call(const struct step *s);
/* Does the call of an event matter here? */
bool descriptor_call_matters(const struct trace_event *e);

#endif
