/* Running other programs: ip, tc, nft, losetup, mkfs, dd, ... */
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

/* The same as tool_run(), in a network namespace (its name). Only the network is entered, so that
 * mounts stay visible to everyone. */
int tool_run_in(const char *netns, struct lp_err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Is there such a program in PATH (or /usr/sbin, /sbin)? */
bool tool_exists(const char *program);

/* A program that runs in a session of its own until it is killed. */
struct spawn {
	const char *netns;	 /* its network namespace, or NULL */
	const char *cgroup;	 /* path of its CPU control group, or NULL */
	const char *log;	 /* file for its output (appended), or NULL for none */
	const char *pid_file;	 /* written with "PID STARTTIME\n", or NULL */
	const char *const *argv; /* argv[0] is looked up in PATH; NULL-terminated */
	const char *const *env;	 /* "NAME=VALUE" to add, NULL-terminated, or NULL */
};
/* Returns once the program is executing (or could not: -ENOENT and the like). The child writes its
 * pid file itself before that, keeps the working directory, and inherits no other descriptors nor
 * blocked signals. */
int tool_spawn(const struct spawn *s, pid_t *ret_pid, struct lp_err *err);

/* The process of a pid file, if that very process (same start time) still runs; else 0. */
pid_t tool_pid(const char *pid_file);

/* Send `signal` to the process of a pid file (and its session's processes); with SIGTERM or
 * SIGKILL wait up to `wait_ms` for its end, then SIGKILL it, and remove the file. No such
 * process: 0. */
int tool_kill(const char *pid_file, int signal, unsigned wait_ms, struct lp_err *err);

/* The last line of a program's log that is not empty; "" if there is none. */
void tool_last_words(const char *log, char *buf, size_t size);

/* The path of the running program, to start it again. */
int tool_self(char *buf, size_t size, struct lp_err *err);

#endif
