/* Runs other programs: ip, tc, nft, losetup, mkfs, dd, ... */
#ifndef LAB_TOOL_H
#define LAB_TOOL_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Run a program to its end. The command is formatted, then split at blanks (names and paths of a
 * lab have none; "" is not an argument). Its output is discarded; if it fails, -EIO and the last
 * line of its stderr, with the command. -ENOENT if there is no such program. */
int tool_run(struct lp_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same, and its standard output (NUL-terminated, the caller frees it). */
int tool_output(char **ret_text, struct lp_err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same as tool_run(), in a network namespace (its name). It enters only the network namespace,
 * so mounts stay visible to all. */
int tool_run_in(const char *netns, struct lp_err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Is there such a program in PATH (or /usr/sbin, /sbin)? */
bool tool_exists(const char *program);

/* A program that runs in a separate session until it is killed. */
struct spawn {
	const char *netns;	 /* its network namespace, or NULL */
	const char *cgroup;	 /* path of its CPU control group, or NULL */
	const char *log;	 /* file for its output (appended), or NULL for none */
	const char *pid_file;	 /* written with "PID STARTTIME\n", or NULL */
	const char *const *argv; /* argv[0] is looked up in PATH; NULL-terminated */
	const char *const *env;	 /* "NAME=VALUE" to add, NULL-terminated, or NULL */
};
/* Returns when the program is executing, or an error such as -ENOENT. Before that the child writes
 * its pid file. It keeps the working directory, and inherits neither other descriptors nor blocked
 * signals. */
int tool_spawn(const struct spawn *s, pid_t *ret_pid, struct lp_err *err);

/* The process of a pid file, if exactly that process (same start time) is still running; otherwise
 * 0. */
pid_t tool_pid(const char *pid_file);

/* Send `signal` to the process of a pid file (and its session's processes). After SIGTERM or
 * SIGKILL, wait up to `wait_ms` for its end, then kill it, and remove the file. 0 if there is no
 * such process. */
int tool_kill(const char *pid_file, int signal, unsigned wait_ms, struct lp_err *err);

/* The last line of a program's log that is not empty; "" if there is none. */
void tool_last_words(const char *log, char *buf, size_t size);

/* The path of the running program, to start it again. */
int tool_self(char *buf, size_t size, struct lp_err *err);

#endif
