/* Open files, the tables that hold them, and the processes that have the tables. This file has only
 * memory and reference counts; descriptors.c and descriptor_calls.c apply events.
 */
#ifndef TRACE_DESCRIPTOR_TABLE_H
#define TRACE_DESCRIPTOR_TABLE_H

#include "model/syscalls.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An open file; dup, fork and passing share it. */
struct open_file {
	uint32_t refs;
	uint8_t file; /* enum trace_file */
	bool blocks, accepted;
	bool told; /* it was reported that it listens */
	uint64_t id;
	struct trace_endpoints ends;
	char *name;	    /* `inline_name`, or separate memory */
	char inline_name[]; /* its first name */
};

/* NULL: out of memory. The caller has one reference. */
struct open_file *open_file_new(unsigned file, uint64_t id, const char *name);
int open_file_rename(struct open_file *f, const char *name); /* 0 or -ENOMEM */
struct open_file *open_file_ref(struct open_file *f);
void open_file_unref(struct open_file *f);

struct fd_slot {
	struct open_file *file; /* NULL: not open */
	int64_t made_ns;	/* when the call that created it ended */
	bool cloexec;
	/* The number of its predecessors for which no close was recorded: their closes will still
	 * come.
	 */
	unsigned replaced;
};

/* Descriptors beyond this are not followed: the table is an array. */
#define FD_TABLE_MAX (1 << 22)

struct fd_table {
	uint32_t refs; /* processes that share it */
	struct fd_slot *slots;
	size_t cap;
};

struct fd_table *fd_table_new(void);
struct fd_table *fd_table_copy(const struct fd_table *t); /* what fork does */
void fd_table_unref(struct fd_table *t);

/* The slot of an open descriptor; NULL: it is not open. */
static inline struct fd_slot *fd_table_get(const struct fd_table *t, int fd)
{
	return fd >= 0 && (size_t)fd < t->cap && t->slots[fd].file ? &t->slots[fd] : NULL;
}

/* Assign a file. Takes over the caller's reference, even if it fails (-ENOMEM). -ERANGE: the
 * descriptor is beyond FD_TABLE_MAX. */
int fd_table_put(struct fd_table *t, int fd, struct open_file *file, bool cloexec, int64_t made_ns);
void fd_table_drop(struct fd_table *t, int fd);

#define PROCESS_COMM_MAX 32

struct process {
	struct process *next; /* in its bucket */
	pid_t pid;	      /* or the id of a thread that has its own table */
	pid_t owner;	      /* the process of that thread; otherwise `pid` */
	bool read;	      /* its table is known, because it was read from /proc or inherited */
	struct fd_table *table;
	char *cwd, *root; /* "" if unknown, and for the usual root */
	char comm[PROCESS_COMM_MAX];
};

struct processes {
	struct process **buckets;
	size_t n_buckets, n;
	struct process *last; /* the last result: events of one process are often consecutive */
	size_t n_private;     /* threads with their own tables */
};

void processes_release(struct processes *ps);
struct process *processes_find(struct processes *ps, pid_t pid);
/* Add a process with this table and empty texts. Takes over the reference to the table, even on
 * failure. NULL: out of memory. */
struct process *processes_add(struct processes *ps, pid_t pid, pid_t owner, struct fd_table *table);
/* Remove a process and the private tables of its threads. */
void processes_remove(struct processes *ps, pid_t pid);
void processes_remove_private(struct processes *ps, pid_t owner);
/* Replace one of its texts; 0 or -ENOMEM. */
int process_set_text(char **text, const char *value);

#endif
