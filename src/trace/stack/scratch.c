#include "trace/stack/scratch.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "limpet-stack."

/* Remove the directory with the files in it. */
static void tree_remove(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (fd >= 0 && !dir)
		close(fd);
	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* Remove one if it is ours and no process reads it. */
static void leftover_remove(int parent, const char *name)
{
	_cleanup_close_ int fd =
		openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
		flock(fd, LOCK_EX | LOCK_NB) == 0)
		tree_remove(parent, name);
}

static void leftovers_remove(const char *parent)
{
	DIR *dir = opendir(parent);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			leftover_remove(dirfd(dir), entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/* Make it and lock it. 1: another run took it for a leftover before it was locked. */
static int make(struct scratch *s, const char *parent)
{
	struct stat st;
	int r;

	if (asprintf(&s->path, "%s/" PREFIX "XXXXXX", parent) < 0) {
		s->path = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(s->path)) {
		r = -errno;
		free(s->path);
		s->path = NULL;
		return r;
	}
	/* Programs that root starts may run as other users. */
	if (geteuid() == 0)
		(void)!chmod(s->path, 01777);
	s->lock = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->lock >= 0 && flock(s->lock, LOCK_EX) < 0) {
		close(s->lock);
		s->lock = -1;
	}
	if (stat(s->path, &st) == 0)
		return 0;
	scratch_close(s);
	return 1;
}

int scratch_open(struct scratch *s, const char *parent, struct lp_err *err)
{
	const char *const parents[] = {parent ? parent : "/dev/shm", "/tmp"};
	size_t n = parent ? 1 : ARRAY_SIZE(parents);
	int r = -ENOENT;

	*s = (struct scratch){.lock = -1};
	for (size_t i = 0; i < n && r < 0; i++) {
		leftovers_remove(parents[i]);
		do
			r = make(s, parents[i]);
		while (r > 0);
	}
	return r < 0 ? lp_err_sys(err, r, "cannot make a directory for spans in %s", parents[n - 1])
		     : 0;
}

void scratch_close(struct scratch *s)
{
	if (s->path)
		tree_remove(AT_FDCWD, s->path);
	free(s->path);
	if (s->lock >= 0)
		close(s->lock);
	*s = (struct scratch){.lock = -1};
}
