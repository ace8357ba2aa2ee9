/* The program behind a lab's disk: a FUSE file system with one file, `disk.img`. Its requests take
 * as long as the disk model says. */
#ifndef LAB_DISK_SERVE_H
#define LAB_DISK_SERVE_H

#include "lab/disk_model.h"
#include <limpet/err.h>

#define DISK_FILE_NAME "disk.img"

struct disk_serve_config {
	const char *image;   /* the contents of the disk; created with its size if it does not
			      * exist */
	const char *mount;   /* directory to mount it on */
	const char *control; /* socket to create (disk_control.h) */
	struct disk_params params;
};

/* Serve until SIGTERM, SIGINT or an unmount. -ENOTSUP if limpet was built without libfuse3. */
int disk_serve(const struct disk_serve_config *config, struct lp_err *err);

#endif
