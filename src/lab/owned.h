/* Objects that a lab has created outside of its directory. They are noted in DIR/owned before they
 * are created: one per line, "netns limpet-lab-s1" or "cgroup /sys/fs/cgroup/cpu/limpet-lab-s1". An
 * object with the lab's name that is not noted there may belong to others and is not touched. */
#ifndef LAB_OWNED_H
#define LAB_OWNED_H

#include "lab/lab.h"

/* Note it. */
int owned_note(const struct lab *lab, const char *kind, const char *what, struct lp_err *err);

/* Did the lab with this name note it? */
bool owned_has(const char *lab_name, const char *kind, const char *what);

/* Call `fn` for all of a kind, even after an error. Returns the first error. */
int owned_each(const char *lab_name, const char *kind,
	int (*fn)(const char *what, struct lp_err *err), struct lp_err *err);

#endif
