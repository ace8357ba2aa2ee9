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
	bool lost; /* events were lost, so descriptors may be in use although their opening was not
		    * recorded */
	/* Processes that were missing in /proc, so that they are not looked up at every event.
	 * Indexed by their low bits. */
	pid_t gone[DESCRIPTORS_GONE];
	struct net_sockets net;
};

/* The call that changes something, and its process. */
struct step {
	struct descriptors *d;
	struct process *p;
	const struct trace_event *e;
	int64_t end_ns; /* when it ended */
};

/* A new descriptor. */
struct fresh {
	int fd, from;
	unsigned change, file;
	const char *name;
	bool cloexec, nonblock, accepted;
	const struct trace_endpoints *ends; /* or NULL */
};

/* Assign an open file to a descriptor, take over its reference, and report the change. 0, -ENOMEM,
 * or the result of the receiver. */
int step_put(const struct step *s, int fd, int from, unsigned change, struct open_file *file,
	bool cloexec);

/* Create an open file and assign it. */
int step_make(const struct step *s, const struct fresh *f);

/* Look it up in /proc, if there is no other information. If it is already gone, its name is "?";
 * with TRACE_FD_SEEN nothing changes. */
int step_look(const struct step *s, int fd, unsigned change, bool cloexec);

/* Drop a descriptor and report the reason. */
int step_close(const struct step *s, int fd, unsigned change);

/* Give the process its own table. */
int step_unshare(const struct step *s);

/* Apply a system call; returns 0 immediately if it changes no table. */
int descriptor_call(const struct step *s);
/* Does the call of an event change descriptors? */
bool descriptor_call_matters(const struct trace_event *e);

#endif
