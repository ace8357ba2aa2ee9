/* The configuration files of a lab's GlusterFS. */
#ifndef LAB_FS_GLUSTER_H
#define LAB_FS_GLUSTER_H

#include "base/strbuf.h"
#include "lab/lab.h"

/* Append the volfile of a server, or the one that all clients share. */
void gluster_server_volfile(
	const struct lab *lab, const struct lab_node *server, struct strbuf *out);
void gluster_client_volfile(const struct lab *lab, struct strbuf *out);

#endif
