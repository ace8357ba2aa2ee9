/* The interface of a parallel file system that a lab can run: one file fs_NAME.c in this folder,
 * which defines `const struct fs fs_NAME`, and its name in meson.build. */
#ifndef LAB_FS_H
#define LAB_FS_H

#include "lab/lab.h"

struct fs {
	const char *name;    /* "gluster" */
	const char *summary; /* for the help */
	uint16_t port;	     /* on which its servers listen; for `limpet record --ports` */
	/* Are its programs installed? If not, the error says what to install. */
	int (*check)(const struct lab_config *c, struct lp_err *err);
	/* Write configuration files, and create everything that all servers need. Bricks are
	 * mounted. */
	int (*prepare)(const struct lab *lab, struct lp_err *err);
	/* Start the server of `node` in its namespace and control group, with pid file
	 * run/NODE-fs.pid. Returns when it serves. */
	int (*server_start)(const struct lab *lab, const struct lab_node *node, struct lp_err *err);
	/* Mount it on NODE/mnt from the client's namespace (run/NODE-fs.pid); returns when it is
	 * usable. All servers run. */
	int (*client_start)(const struct lab *lab, const struct lab_node *node, struct lp_err *err);
	/* Wait until a running client is connected again to all `n_servers` that run. NULL: clients
	 * connect on demand. */
	int (*client_rejoin)(const struct lab *lab, const struct lab_node *node, unsigned n_servers,
		struct lp_err *err);
	/* Undo these. 0 if there is nothing to undo. */
	int (*client_stop)(const struct lab *lab, const struct lab_node *node, struct lp_err *err);
	int (*server_stop)(const struct lab *lab, const struct lab_node *node, struct lp_err *err);
};

extern const struct fs *const file_systems[]; /* NULL-terminated */
const struct fs *fs_find(const char *name);

#endif
