/* The common part of collectors of files with one device per line (/proc/diskstats, /proc/net/dev):
 * the open file, the roster of its lines, and the loop over them.
 */
#ifndef COLLECT_DEVICE_LINES_H
#define COLLECT_DEVICE_LINES_H

#include "collect/roster.h"

struct device_lines {
	const struct collect_config *config;
	struct procfile file;
	struct roster roster;
	bool warned; /* about a line that could not be parsed */
};

/* Open `path` under the root of `config`; both must outlive `l`. */
int device_lines_open(struct device_lines *l, const struct collect_config *config, const char *path,
	struct lp_err *err);

void device_lines_close(struct device_lines *l);

/* Parses the line at `*p`, records it if it is selected, and moves `*p` to the next line.
 * PARSE_BAD: the line is not in the kernel's format, and is skipped. Other errors end the
 * sample. */
typedef int device_lines_line_fn(
	struct device_lines *l, struct collect_sink *sink, const char **p, struct lp_err *err);

/* Read the file again and call `line` for each of its lines. */
int device_lines_sample(struct device_lines *l, struct collect_sink *sink,
	device_lines_line_fn *line, struct lp_err *err);

#endif
