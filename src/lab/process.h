/* Processes: their identity, session and network namespace, and their end. A process is identified
 * by its pid and its start time, so that a reused pid is not confused with it. */
#ifndef LAB_PROCESS_H
#define LAB_PROCESS_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_LINE_MAX 64

struct process_stat {
	pid_t pid, session;
	uint64_t start; /* ticks since boot: field 22 of /proc/PID/stat */
	bool zombie;	/* all of its threads have ended */
};

/* Read /proc/PID/stat. False: there is no such process. Safe between fork() and exec(). */
bool process_read(pid_t pid, struct process_stat *ret);

/* "PID START\n" of the calling process, for a pid file. Returns its length, or -1. Safe between
 * fork() and exec(). */
int process_line(char line[PROCESS_LINE_MAX]);

/* Call `fn` for every process except this one. */
void process_each(void (*fn)(const struct process_stat *p, void *ctx), void *ctx);

/* Wait until a process has ended (a child of this process is then a zombie). False after
 * `limit_ms`. */
bool process_wait(pid_t pid, int limit_ms);

/* Kill every process in the network namespace at `path` (/run/netns/NAME), except those of the
 * session `except` (0: none), and wait until they have ended. 0, or -EBUSY if some do not end. */
int process_kill_in(const char *path, pid_t except, struct lp_err *err);

#endif
