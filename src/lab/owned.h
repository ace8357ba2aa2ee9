/* What a lab has made outside of its directory, noted in DIR/owned before it is made: a line each,
 * "netns limpet-lab-s1" or "cgroup /sys/fs/cgroup/cpu/limpet-lab-s1". Something that carries the
 * lab's name but is not noted there may be somebody else's and is left alone. */
#ifndef LAB_OWNED_H
#define LAB_OWNED_H

#include "lab/lab.h"

/* Note it. */
int owned_note(const struct lab *lab, const char *kind, const char *what, struct lp_err *err);

/* Was it noted by the lab of this name? */
bool owned_has(const char *lab_name, const char *kind, const char *what);

/* Call `fn` for all of a kind. The first error is returned, but all are tried. */
int owned_each(const char *lab_name, const char *kind,
	int (*fn)(const char *what, struct lp_err *err), struct lp_err *err);

#endif
