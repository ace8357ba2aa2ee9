/* Uses up the free space on a server's disk, with files in lost+found/limpet-FAULT of its brick,
 * which parallel file systems ignore. The disk is fast while they are created and removed, so that
 * only the lack of space has an effect. */
#ifndef LAB_BALLAST_H
#define LAB_BALLAST_H

#include "lab/lab.h"

/* Use up all free inodes, or all free blocks. */
int ballast_take_inodes(
	const struct lab *lab, const struct lab_node *on, const char *fault, struct lp_err *err);
int ballast_take_blocks(
	const struct lab *lab, const struct lab_node *on, const char *fault, struct lp_err *err);

/* The free part, as a share of the total. */
struct ballast_free {
	double inodes, blocks;
};
int ballast_free(const struct lab *lab, const struct lab_node *on, struct ballast_free *ret,
	struct lp_err *err);

/* Does it exist, with the file of this name? If not, -ENOENT. */
int ballast_verify(const struct lab *lab, const struct lab_node *on, const char *fault,
	const char *file, struct lp_err *err);

/* Remove it, and start the server again if it has ended. 0 if it does not exist. */
int ballast_remove(
	const struct lab *lab, const struct lab_node *on, const char *fault, struct lp_err *err);

#endif
