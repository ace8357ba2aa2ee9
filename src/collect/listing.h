/* What collectors of files with one device a line have in common (/proc/diskstats, /proc/net/dev):
 * the open file, the roster of its lines, and the loop over them.
 */
#ifndef COLLECT_LISTING_H
#define COLLECT_LISTING_H

#include "collect/roster.h"

struct listing {
	const struct collect_config *config;
	struct procfile file;
	struct roster roster;
	bool warned; /* of a line that no parser understood */
};

/* Open `path` under the root of `config`; both outlive the listing. */
int listing_open(struct listing *l, const struct collect_config *config, const char *path,
	struct lp_err *err);

void listing_close(struct listing *l);

/* Takes the line at `*p`, moves `*p` to the next one and records what is wanted of it. PARSE_BAD
 * for a line that is not in the kernel's format: it is skipped. Other errors end the sample. */
typedef int listing_line_fn(
	struct listing *l, struct collect_sink *sink, const char **p, struct lp_err *err);

/* Read the file anew and call `line` for each of its lines. */
int listing_sample(
	struct listing *l, struct collect_sink *sink, listing_line_fn *line, struct lp_err *err);

#endif
