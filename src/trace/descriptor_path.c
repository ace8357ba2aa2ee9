#include "trace/descriptor_path.h"

#include <stdbool.h>
#include <string.h>

struct joined {
	char *buf;
	size_t len, floor; /* ".." stops at `floor` */
};

static void append(struct joined *j, const char *name, size_t len)
{
	if (j->len + 1 + len >= DESCRIPTOR_PATH_MAX)
		return;
	j->buf[j->len++] = '/';
	memcpy(j->buf + j->len, name, len);
	j->len += len;
}

static void step_up(struct joined *j)
{
	while (j->len > j->floor && j->buf[j->len - 1] != '/')
		j->len--;
	if (j->len > j->floor)
		j->len--;
}

static void append_all(struct joined *j, const char *path, size_t len)
{
	const char *end = path + len;

	while (path < end) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		size_t n = (size_t)((slash ? slash : end) - path);

		if (n == 2 && path[0] == '.' && path[1] == '.')
			step_up(j);
		else if (n > 0 && !(n == 1 && path[0] == '.'))
			append(j, path, n);
		path += n + 1;
	}
}

const char *descriptor_path_join(char buf[DESCRIPTOR_PATH_MAX], const char *root, const char *base,
	const char *path, size_t len)
{
	struct joined j = {.buf = buf};
	bool absolute = len > 0 && path[0] == '/';

	if (!absolute && base[0] != '/') {
		len = len < DESCRIPTOR_PATH_MAX ? len : DESCRIPTOR_PATH_MAX - 1;
		memcpy(buf, path, len);
		buf[len] = '\0';
		return buf;
	}
	append_all(&j, root, strlen(root));
	if (absolute || !strncmp(base, buf, j.len))
		j.floor = j.len;
	if (!absolute) {
		j.len = 0;
		append_all(&j, base, strlen(base));
	}
	append_all(&j, path, len);
	if (j.len == 0)
		append(&j, "", 0);
	buf[j.len] = '\0';
	return buf;
}
