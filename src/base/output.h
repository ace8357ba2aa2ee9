/* An output file that the user named. It appears when it is complete, or not at all.
 *
 * An existing file with this name is replaced, never modified. So limpet neither follows nor
 * changes nor waits for anything that other users have put there (a symbolic link, a hard link to
 * another file, a FIFO). Only links of root or of the user are followed, and only their devices and
 * pipes are written to.
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <limpet/err.h>
#include <stdbool.h>
#include <sys/types.h>

/* Zero-initialise it. */
struct output {
	int fd; /* to write to */
	int dir;
	char *name, *temporary; /* in the directory */
	bool open, direct;	/* direct: it is not a regular file */
};

/* Begin. Write to `o->fd`. */
int output_open(struct output *o, const char *path, struct lp_err *err);

/* The file is complete: flush it, and rename it to its name. */
int output_commit(struct output *o, const char *path, struct lp_err *err);

/* Discard the file if it was not committed. */
void output_release(struct output *o);

#endif
