#include "collect/device_lines.h"

#include "base/cleanup.h"
#include "collect/sysattr.h"
#include <string.h>

int device_lines_open(struct device_lines *l, const struct collect_config *config, const char *path,
	struct lp_err *err)
{
	*l = (struct device_lines){.config = config};
	return procfile_open(&l->file, config->root, path, err);
}

void device_lines_close(struct device_lines *l)
{
	procfile_close(&l->file);
	roster_release(&l->roster);
}

/* Warn only once: the same would happen in every sample. */
static void device_lines_complain(
	struct device_lines *l, struct collect_sink *sink, const char *line)
{
	_cleanup_free_ char *safe = NULL;
	struct strbuf escaped = {0};
	unsigned number = 1;
	char start[41];

	if (l->warned)
		return;
	l->warned = true;
	for (const char *p = l->file.text; p < line; p++)
		number += *p == '\n';
	snprintf(start, sizeof(start), "%.*s", (int)strcspn(line, "\n"), line);
	label_escape(&escaped, start);
	safe = strbuf_take(&escaped);
	lp_warn_raise(sink->warn,
		"%s%s: line %u is not in the kernel's format and is skipped (reported once): "
		"%s",
		l->file.root->dir, l->file.path, number, safe ? safe : "");
}

int device_lines_sample(struct device_lines *l, struct collect_sink *sink,
	device_lines_line_fn *line, struct lp_err *err)
{
	int r = procfile_read(&l->file, err);
	const char *p = l->file.text;

	if (r < 0)
		return r;
	roster_begin(&l->roster);
	while (*p) {
		const char *start = p;

		r = line(l, sink, &p, err);
		if (r == PARSE_BAD)
			device_lines_complain(l, sink, start);
		else if (r < 0)
			return r;
	}
	if (p != l->file.text + l->file.len) /* a NUL byte, which no kernel writes */
		device_lines_complain(l, sink, p);
	return 0;
}
