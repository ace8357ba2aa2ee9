/* One lab command at a time: a lock on a lab's name. */
#ifndef LAB_LOCK_H
#define LAB_LOCK_H

#include <limpet/err.h>

struct lab_lock {
	int fd; /* -1: none */
	char path[160];
};

/* Take it, even if the lab does not exist (yet). -EBUSY if another command holds it for too
 * long. */
int lock_take(const char *lab_name, struct lab_lock *ret, struct lp_err *err);

/* Release it. `gone`: nothing is left of the lab, so also remove the file, and the directory of
 * labs if that was the last one. */
void lock_release(struct lab_lock *l, int gone);

#endif
