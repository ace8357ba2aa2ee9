/* Small queries about processes in /proc. */
#ifndef TRACE_PTRACE_PROC_H
#define TRACE_PTRACE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The number after NAME in the text of /proc/TID/status; false: there is none. */
bool proc_status_parse(const char *status, const char *name, int base, uint64_t *ret);
/* Would the kernel give this name to a program with this command line (n bytes and a NUL after
 * them, with NULs between the arguments)? */
bool proc_args_give(const char *args, size_t n, const char *comm);

/* The process of a thread; -1: there is no such thread. */
pid_t proc_tgid(pid_t tid);
/* The thread that traces it; 0: none; -1: no such thread. */
pid_t proc_tracer(pid_t tid);
/* Does the process ignore this signal? */
bool proc_ignores(pid_t tid, int sig);
/* Is a signal pending for this thread? */
bool proc_has_signal(pid_t tid);
/* The path of its program, not NUL-terminated; its length or a negative errno. */
ssize_t proc_exe(pid_t tid, char *ret, size_t size);
/* Its name (/proc/PID/comm), truncated to `size`. False: there is no such process. */
bool proc_comm(pid_t pid, char *ret, size_t size);
/* Does it have this name? */
bool proc_is_called(pid_t pid, const char *comm);
/* Was it started under this name: that of its program, of a link to it, or of a script? */
bool proc_started_as(pid_t pid, const char *comm);
/* The user of a process. False: no such process. */
bool proc_uid(pid_t pid, uid_t *ret);

/* Call `fn` for every directory in `path` with a number as its name. Stops when `fn` returns
 * non-zero, and returns that value. -errno if the directory cannot be read. */
int proc_each(const char *path, int (*fn)(void *ctx, pid_t id), void *ctx);

/* The same for every process in a control group (cgroup.procs) and in those below it. */
int proc_each_in_cgroup(const char *path, int (*fn)(void *ctx, pid_t id), void *ctx);

#endif
