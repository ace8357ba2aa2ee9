#include "lab/mounts.h"

#include "base/cleanup.h"
#include "lab/unmount.h"
#include <errno.h>
#include <limits.h>
#include <string.h>

#define MOUNTS_MAX 1000 /* with more, something is mounted in a loop */
#define LIMIT_MS 10000

/* The mount point of a line of /proc/self/mountinfo: its fifth field. Paths of labs need no
 * escapes. */
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
			snprintf(ret, PATH_MAX, "%s", path);
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

/* Is it one of the words between commas? */
static bool has_option(const char *options, const char *option)
{
	size_t len = strlen(option);

	for (const char *at = options; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, option, len) && strchr(",\n", at[len]))
			return true;
	}
	return false;
}

bool mounts_read_only(const char *path)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (f && getline(&line, &size, f) > 0) {
		/* The options of the file system itself are at the end. */
		_cleanup_free_ char *copy = strdup(line);
		const char *point = copy ? mount_point(copy) : NULL, *options = strrchr(line, ' ');

		if (point && options && !strcmp(point, path))
			found = has_option(options + 1, "ro") ||
				has_option(options + 1, "emergency_ro"); /* Linux 6.15 */
	}
	return found;
}

int mounts_remove(const char *dir, struct lp_err *err)
{
	char path[PATH_MAX];
	int r;

	for (unsigned i = 0; find_last(dir, false, path); i++) {
		if (i >= MOUNTS_MAX)
			return lp_err_set(err, -EBUSY, "%s: too many mounts", dir);
		r = unmount(path, LIMIT_MS, NULL, err);
		if (r < 0)
			return r;
	}
	return 0;
}
