/* Replaces disk_serve.c if there is no libfuse3. */
#include "lab/disk_serve.h"

#include <errno.h>

int disk_serve(const struct disk_serve_config *config, struct lp_err *err)
{
	(void)config;
	return lp_err_set(
		err, -ENOTSUP, "limpet was built without libfuse3, so it cannot make disks");
}
