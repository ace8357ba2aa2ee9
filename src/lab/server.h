/* The process that serves the parallel file system on a node: whether it runs, and how to restart
 * it.
 */
#ifndef LAB_SERVER_H
#define LAB_SERVER_H

#include "lab/lab.h"
#include <sys/types.h>

/* The process of run/NODE-fs.pid; 0 if it does not run. */
pid_t server_pid(const struct lab *lab, const struct lab_node *on);

/* The same; -ESRCH and a sentence if it does not run. */
int server_need(
	const struct lab *lab, const struct lab_node *on, pid_t *ret_pid, struct lp_err *err);

/* Stop it, if it runs. */
int server_stop(const struct lab *lab, const struct lab_node *on, struct lp_err *err);

/* Start it if it does not run, and wait until all running clients are connected again. */
int server_revive(const struct lab *lab, const struct lab_node *on, struct lp_err *err);

#endif
