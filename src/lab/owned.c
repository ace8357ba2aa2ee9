#include "lab/owned.h"

#include "base/cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define LINE_MAX_LEN 256

int owned_note(const struct lab *lab, const char *kind, const char *what, struct lp_err *err)
{
	char path[LAB_PATH_MAX], line[LINE_MAX_LEN];
	_cleanup_close_ int fd = -1;
	int len = snprintf(line, sizeof(line), "%s %s\n", kind, what);

	lab_path(lab, path, "owned");
	if (len < 0 || (size_t)len >= sizeof(line))
		return lp_err_set(err, -ENAMETOOLONG, "%s: too long", what);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return lp_err_sys(err, -errno, "%s", path);
	if (write(fd, line, (size_t)len) !=
		len) /* one call: the line is written completely or not at all */
		return lp_err_sys(err, errno ? -errno : -EIO, "%s", path);
	return 0;
}

static FILE *owned_open(const char *lab_name)
{
	char root[LAB_DIR_MAX], path[LAB_PATH_MAX];

	if (lab_root(root, NULL) < 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s/owned", root, lab_name);
	return fopen(path, "re");
}

/* The next entry of a kind; it stays in `line`. */
static const char *owned_next(FILE *f, const char *kind, char line[LINE_MAX_LEN])
{
	size_t len = strlen(kind);

	while (f && fgets(line, LINE_MAX_LEN, f)) {
		char *end = strchr(line, '\n');

		if (!end || strncmp(line, kind, len) != 0 || line[len] != ' ')
			continue;
		*end = '\0';
		return line + len + 1;
	}
	return NULL;
}

bool owned_has(const char *lab_name, const char *kind, const char *what)
{
	_cleanup_fclose_ FILE *f = owned_open(lab_name);
	char line[LINE_MAX_LEN];

	for (const char *m = owned_next(f, kind, line); m; m = owned_next(f, kind, line)) {
		if (!strcmp(m, what))
			return true;
	}
	return false;
}

int owned_each(const char *lab_name, const char *kind,
	int (*fn)(const char *what, struct lp_err *err), struct lp_err *err)
{
	_cleanup_fclose_ FILE *f = owned_open(lab_name);
	char line[LINE_MAX_LEN];
	int r = 0;

	for (const char *m = owned_next(f, kind, line); m; m = owned_next(f, kind, line)) {
		struct lp_err one = {0};
		int q = fn(m, &one);

		if (q < 0 && r == 0) {
			r = q;
			if (err)
				*err = one;
		}
	}
	return r;
}
