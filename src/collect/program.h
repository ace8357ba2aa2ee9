/* A program that is run now and then, beside the samples: mmpmon, beegfs-ctl.
 *
 * It is started and its output taken over without ever waiting for it, so a program that hangs
 * holds up no sample; one that takes too long is killed. In a recorded tree nothing is run: what it
 * printed is read from a file beside it, PATH.out.
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
	const char *input;	 /* what it reads from its standard input; NULL: nothing */
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

/* Start it where it is time, and take what it has printed. When a run has ended well, its output,
 * which stays as it is until the next call; else NULL. */
const char *program_poll(struct program *p, int64_t now_us);

/* Ends it where it runs. */
void program_close(struct program *p);

#endif
