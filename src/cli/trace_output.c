#include "cli/trace_output.h"

#include "cli/command.h"
#include "collect/spool.h"
#include <errno.h>
#include <limpet/archive.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int trace_output_choose(const char *output, const char *name, const char *what,
	struct trace_output *ret, struct lp_err *err)
{
	size_t len = output ? strlen(output) : 0, suffix = strlen(LP_ARCHIVE_SUFFIX);
	int r = observer_name(name, ret->name, err);

	if (r < 0)
		return r;
	snprintf(ret->file_name, sizeof(ret->file_name), "%s-%s", ret->name, what);
	ret->dir = output ? output : ".";
	ret->path = NULL;
	if (len <= suffix || strcmp(output + len - suffix, LP_ARCHIVE_SUFFIX) != 0)
		return 0;
	ret->path = output;
	if (len >= SPOOL_PATH_MAX)
		return lp_err_set(err, -ENAMETOOLONG, "the name of the file is too long");
	if (access(output, F_OK) == 0)
		return lp_err_set(err, -EEXIST, "%s is there already", output);
	return 0;
}

int trace_exit_code(int r)
{
	switch (r) {
	case 0:
		return EXIT_HEALTHY;
	case -EINVAL:
	case -ESRCH:
	case -ENOENT:
	case -ENOTDIR:
	case -EEXIST:
	case -EACCES:
	case -EPERM:
	case -EBUSY:
	case -EOPNOTSUPP:
	case -ENAMETOOLONG:
	case -ELOOP:
	case -EMLINK:
		return EXIT_USAGE;
	default:
		return EXIT_INTERNAL;
	}
}
