/* Resource limits of a running server, lowered temporarily. The old limit is noted in
 * run/NODE-FAULT.limit before it is changed: "PID SOFT HARD LOWERED". */
#ifndef LAB_RLIMIT_H
#define LAB_RLIMIT_H

#include "lab/lab.h"
#include <sys/resource.h>

/* A limit of a fault, and the name for its note. */
struct limit {
	const char *fault;
	__rlimit_resource_t resource; /* RLIMIT_NOFILE, ... */
};

/* Lower the limit of the process that serves the file system on `on`. */
int rlimit_lower(const struct limit *l, const struct lab *lab, const struct lab_node *on,
	rlim_t value, struct lp_err *err);

/* Is it still active? 0 if it is, or if the server has ended, because then it was affected. */
int rlimit_verify(const struct limit *l, const struct lab *lab, const struct lab_node *on,
	struct lp_err *err);

/* Restore the server's limit, or start it again if it has ended. 0 if there is no note. */
int rlimit_restore(const struct limit *l, const struct lab *lab, const struct lab_node *on,
	struct lp_err *err);

#endif
