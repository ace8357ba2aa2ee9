#include "lab/forget.h"

#include "base/cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <unistd.h>

/* A file may disappear at any time; then there is nothing to drop. */
static void forget_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOATIME | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

int forget_files(const char *dir, unsigned *ret_files, struct lp_err *err)
{
	char *const roots[] = {(char *)dir, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	unsigned n = 0;

	if (!tree)
		return lp_err_sys(err, -errno, "%s", dir);
	for (FTSENT *e = fts_read(tree); e; e = fts_read(tree)) {
		if (e->fts_info != FTS_F)
			continue;
		forget_file(e->fts_accpath);
		n++;
	}
	fts_close(tree);
	if (ret_files)
		*ret_files = n;
	return 0;
}

int forget_always(char *const *dirs, int n_dirs, struct lp_err *err)
{
	for (int r = 0;; sleep(1)) {
		for (int i = 0; r == 0 && i < n_dirs; i++)
			r = forget_files(dirs[i], NULL, err);
		if (r < 0)
			return r;
	}
}
