/* The processes of a fault. Each has a mark in its environment, which its children inherit, so that
 * all of them can be found even if the files about them are gone. */
#ifndef LAB_HOG_H
#define LAB_HOG_H

#include "lab/lab.h"

/* The name of a fault, and its server. */
struct hog {
	const struct lab *lab;
	const struct lab_node *on;
	const char *fault;
};

/* Start `argv` on the node `at` (in its namespace and control group), with the pid file
 * run/ON-FAULT.pid, or run/ON-FAULT-AT.pid if that is another node. */
int hog_start(const struct hog *h, const struct lab_node *at, const char *const *argv,
	struct lp_err *err);

/* Is the process on `at` still running? If not, -ESRCH. */
int hog_verify(const struct hog *h, const struct lab_node *at, struct lp_err *err);

/* Kill all processes with the mark on any node, and wait until they are gone: a process that waits
 * for its disk takes some time. 0 if there are none. */
int hog_stop(const struct hog *h, struct lp_err *err);

/* Wait `ms` before checking a counter that should have grown. */
void hog_wait(unsigned ms);

#endif
