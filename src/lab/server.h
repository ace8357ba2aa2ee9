/* The process that serves the parallel file system on a node: whether it runs, and how to restart
 * it.
 */
#ifndef LAB_SERVER_H
#define LAB_SERVER_H

#include "lab/lab.h"
#include <sys/types.h>

/* The process of run/NODE-fs.pid; 0 if it is not running. */
pid_t server_pid(const struct lab *lab, const struct lab_node *on);

/* The same; -ESRCH and a message if it is not running. */
int server_need(
	const struct lab *lab, const struct lab_node *on, pid_t *ret_pid, struct lp_err *err);

/* Stop it, if it is running. */
int server_stop(const struct lab *lab, const struct lab_node *on, struct lp_err *err);

/* Start it if it is not running, and wait until all running clients are connected again. */
int server_revive(const struct lab *lab, const struct lab_node *on, struct lp_err *err);

#endif
