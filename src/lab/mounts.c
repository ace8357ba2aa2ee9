#include "lab/mounts.h"

#include "base/cleanup.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>

#define PASSES 64 /* as many mounts may lie on each other; more is somebody's loop */

/* The mount point of a line of /proc/self/mountinfo: its fifth field. Paths of labs have nothing
 * that is escaped there. */
static const char *mount_point(char *line)
{
	char *rest = NULL, *word = strtok_r(line, " ", &rest);

	for (unsigned i = 1; i < 5 && word; i++)
		word = strtok_r(NULL, " ", &rest);
	return word;
}

static bool lies_in(const char *path, const char *dir, bool exactly)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && (!path[len] || (!exactly && path[len] == '/'));
}

/* The last mount at or below `dir`; false if there is none. */
static bool find_last(const char *dir, bool exactly, char ret[PATH_MAX])
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (f && getline(&line, &size, f) > 0) {
		const char *path = mount_point(line);

		if (path && lies_in(path, dir, exactly) && strlen(path) < PATH_MAX) {
			strcpy(ret, path);
			found = true;
		}
	}
	return found;
}

bool mounts_has(const char *path)
{
	char found[PATH_MAX];

	return find_last(path, true, found);
}

int mounts_remove(const char *dir, struct lp_err *err)
{
	char path[PATH_MAX];

	for (unsigned i = 0; find_last(dir, false, path); i++) {
		if (i >= PASSES * PASSES)
			return lp_err_set(err, -EBUSY, "%s: too many mounts", dir);
		if (umount2(path, UMOUNT_NOFOLLOW) < 0 &&
			umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 && errno != EINVAL)
			return lp_err_sys(err, -errno, "cannot unmount %s", path);
	}
	return 0;
}
