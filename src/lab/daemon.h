/* The common part of the daemons of parallel file systems: write their configuration, start them,
 * and wait until they serve. Every wait ends when the process of the pid file ends, or after a time
 * limit. */
#ifndef LAB_DAEMON_H
#define LAB_DAEMON_H

#include "base/strbuf.h"
#include "lab/lab.h"
#include <limits.h>

/* Write a configuration to a file. -ENOMEM if `text` is incomplete. Empties `text`. */
int daemon_configure(const char *path, struct strbuf *text, struct lp_err *err);

/* A program of the file system: in PREFIX/sbin or PREFIX/bin, else by its name alone. Returns
 * `buf`. */
const char *daemon_program(const struct lab_config *c, const char *name, char buf[PATH_MAX]);
/* Is there such a program in the file system's prefix, or in PATH if it has none? */
bool daemon_exists(const struct lab_config *c, const char *program);
/* Set the error for a prefix without the programs of `what`: -ENOENT. */
int daemon_missing(const struct lab_config *c, const char *what, struct lp_err *err);

/* Start it in the node's namespace and control group: run/NODE-fs.pid, log/NODE-fs.log. */
int daemon_start(const struct lab *lab, const struct lab_node *node, const char *const *argv,
	struct lp_err *err);

/* Wait until the process of run/NODE-fs.pid listens on the TCP port. */
int daemon_wait_listening(
	const struct lab *lab, const struct lab_node *node, uint16_t port, struct lp_err *err);

/* Wait until it has `n` connections to such a port. */
int daemon_wait_connected(const struct lab *lab, const struct lab_node *node, uint16_t port,
	unsigned n, struct lp_err *err);

/* Wait until NODE/mnt is mounted, and answers. */
int daemon_wait_mounted(const struct lab *lab, const struct lab_node *node, struct lp_err *err);

/* Wait until there is such a file or directory in NODE/mnt, for a file system that is mounted
 * before its servers are ready. */
int daemon_wait_file(
	const struct lab *lab, const struct lab_node *node, const char *name, struct lp_err *err);

/* End the process of run/NODE-fs.pid, even if it was stopped. 0 if there is none. */
int daemon_stop(const struct lab *lab, const struct lab_node *node, struct lp_err *err);

/* The same for a client; also removes its mount on NODE/mnt. */
int daemon_unmount(const struct lab *lab, const struct lab_node *node, struct lp_err *err);

/* The number of sockets in the text of /proc/net/tcp in `state` (10: listen, 1: established) with
 * this port, at their own end (listen) or at the other (established). */
unsigned daemon_count_sockets(const char *text, unsigned state, uint16_t port);

#endif
