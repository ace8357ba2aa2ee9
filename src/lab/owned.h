/* Things that a lab has made outside of its directory, noted in DIR/owned before they are made: one
 * per line, "netns limpet-lab-s1" or "cgroup /sys/fs/cgroup/cpu/limpet-lab-s1". Something that has
 * the lab's name but is not noted there may belong to others and is left alone. */
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
