/* A file that the user wants written: it appears under its name when it is complete, or not at all.
 *
 * An existing file of that name is replaced, never written into, so that nothing that others have
 * put there (a symbolic link, a hard link to another file, a FIFO) is followed, changed or waited
 * for. Only a link that belongs to root or to the user is followed, and a device or a pipe of
 * theirs is written to.
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

/* Begin: `o->fd` can be written to. */
int output_open(struct output *o, const char *path, struct lp_err *err);

/* The file is complete: flush it, and give it its name. */
int output_commit(struct output *o, const char *path, struct lp_err *err);

/* Discard the file if it was not committed. */
void output_release(struct output *o);

#endif
