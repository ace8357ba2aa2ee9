/* A program that is run from time to time, beside the samples: mmpmon, beegfs-ctl.
 *
 * limpet starts it and reads its output without ever waiting for it, so a program that hangs delays
 * no sample; one that takes too long is killed. For a recorded tree nothing is run: the output is
 * read from a file beside the program, PATH.out.
 */
#ifndef COLLECT_PROGRAM_H
#define COLLECT_PROGRAM_H

#include "collect/procfile.h"
#include <sys/types.h>

#define PROGRAM_OUTPUT_MAX (1024 * 1024)
#define PROGRAM_TIMEOUT_US INT64_C(8000000)

struct program_def {
	const char *path;	 /* "/usr/lpp/mmfs/bin/mmpmon" */
	const char *const *argv; /* NULL-terminated */
	const char *input;	 /* its standard input; NULL: none */
	int64_t every_us;	 /* from one start to the next */
};

struct program {
	const struct program_def *def;
	const struct proc_root *root;
	unsigned generation; /* of the tree that was read last */
	pid_t pid;	     /* 0: it does not run */
	int fd;		     /* its output; -1: none */
	int64_t started_us;  /* -1: never */
	bool failed;	     /* the last run was killed, or ended with an error */
	char *text;
	size_t len;
};

/* -ENOENT: it is not installed here. */
int program_open(struct program *p, const struct program_def *def, const struct proc_root *root,
	struct lp_err *err);

/* Start it if it is due, and read what it has printed. When a run has ended well, returns its
 * output, which is valid until the next call; else NULL. */
const char *program_poll(struct program *p, int64_t now_us);

/* Kills it if it is running. */
void program_close(struct program *p);

#endif
