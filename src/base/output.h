/* A file that the user wants written: it appears under its name when it is whole, or not at all.
 *
 * What is there under that name is replaced, never written into, so that nothing that others have
 * put there (a symbolic link, a second name of another file, a FIFO) is followed, changed or waited
 * for. A link of root's or of the user's own is followed, though, and a device or a pipe behind it,
 * or of theirs, is written to.
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

/* It is whole: flush it, and give it its name. */
int output_commit(struct output *o, const char *path, struct lp_err *err);

/* Forget it if it was not committed. */
void output_release(struct output *o);

#endif
