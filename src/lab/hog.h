/* The processes of a fault. Each has a mark in its environment that its children inherit, so that
 * all of them can be found even if every file about them is gone. */
#ifndef LAB_HOG_H
#define LAB_HOG_H

#include "lab/lab.h"

/* A fault's name and the server that it is on. */
struct hog {
	const struct lab *lab;
	const struct lab_node *on;
	const char *fault;
};

/* Start `argv` on the node `at` (in its namespace and control group), with the pid file
 * run/ON-FAULT.pid, or run/ON-FAULT-AT.pid if that is another node. */
int hog_start(const struct hog *h, const struct lab_node *at, const char *const *argv,
	struct lp_err *err);

/* Does the process on `at` still run? If not, -ESRCH. */
int hog_verify(const struct hog *h, const struct lab_node *at, struct lp_err *err);

/* Kill all processes with the mark, wherever they are, and wait until they are gone: one that waits
 * for its disk takes a while. None: 0. */
int hog_stop(const struct hog *h, struct lp_err *err);

/* Wait `ms` before checking a counter that should have grown. */
void hog_wait(unsigned ms);

#endif
