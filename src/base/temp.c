#include "base/temp.h"

#include "base/cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const char *temp_parent(void)
{
	const char *parent = getenv("TMPDIR");

	return parent && *parent ? parent : "/tmp";
}

/* The template of a name; NULL: out of memory. */
static char *temp_template(void)
{
	char *path;

	return asprintf(&path, "%s/limpet-XXXXXX", temp_parent()) < 0 ? NULL : path;
}

int temp_file_make(struct lp_err *err)
{
	_cleanup_free_ char *path = NULL;
	int fd = open(temp_parent(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* Not every file system supports unnamed files. */
	path = temp_template();
	if (!path)
		return lp_err_sys(err, -ENOMEM, "cannot make a temporary file");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot make the temporary file %s", path);
	unlink(path);
	return fd;
}

int temp_dir_make(char **ret_path, struct lp_err *err)
{
	_cleanup_free_ char *path = temp_template();

	if (!path)
		return lp_err_sys(err, -ENOMEM, "cannot make a temporary directory");
	if (!mkdtemp(path))
		return lp_err_sys(err, -errno, "cannot make the temporary directory %s", path);
	*ret_path = TAKE_PTR(path);
	return 0;
}
