/* A program that limpet runs from time to time, in parallel to the samples: mmpmon, beegfs-ctl.
 *
 * limpet starts it and reads its output without ever waiting for it, so a program that hangs delays
 * no sample. It kills a program that takes too long. For a recorded tree it runs nothing, and reads
 * the output from the file PATH.out.
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
	unsigned generation; /* of the last tree that was read */
	pid_t pid;	     /* 0: it is not running */
	int fd;		     /* its output; -1: none */
	int64_t started_us;  /* -1: never */
	bool failed;	     /* the last run was killed or ended with an error */
	char *text;
	size_t len;
};

/* Initialise it. -ENOENT: the program is not installed. */
int program_open(struct program *p, const struct program_def *def, const struct proc_root *root,
	struct lp_err *err);

/* Start the program if it is due, and read its output. After a successful run, returns the output,
 * which is valid until the next call; otherwise NULL. */
const char *program_poll(struct program *p, int64_t now_us);

/* Kill the program if it is running, and free its memory. */
void program_close(struct program *p);

#endif
