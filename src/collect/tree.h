/* Components that are directories under /proc and /sys: a Lustre target, a port of an InfiniBand
 * adapter, a RAID array.
 *
 * A collector of such components is a table: patterns of the directories, the files to read in
 * each, and the parser for the columns. Directories are searched when the collector opens and every
 * TREE_RESCAN_US after that; in between, a sample is one pread() per file, into one buffer that all
 * files share.
 */
#ifndef COLLECT_TREE_H
#define COLLECT_TREE_H

#include "base/strbuf.h"
#include "base/time.h"
#include "collect/collector.h"
#include "collect/parse.h"

#define TREE_RESCAN_US (30 * US_PER_SEC)
#define TREE_SLOW_US (10 * US_PER_SEC)
#define TREE_STARS_MAX 2
#define TREE_PATHS_MAX 5
#define TREE_COLUMNS_MAX 64

/* The texts that the stars of a pattern matched, in order; "" if the pattern has fewer. */
struct tree_match {
	char star[TREE_STARS_MAX][PARSE_NAME_MAX + 1];
};

struct tree_file {
	/* The first existing path is read. Each star is replaced by the match of the same star in
	 * the pattern, and a third star by the match of the second one. */
	const char *paths[TREE_PATHS_MAX];
	/* Sets the columns that it finds, which are LP_MISSING before, and returns their number.
	 * NULL: the file contains one number, for `column`. */
	unsigned (*parse)(const char *text, int64_t *values);
	unsigned column;
	bool slow; /* read only every TREE_SLOW_US; its values are repeated in between */
};

struct tree_def {
	const char *what; /* "Lustre OSTs", for messages */
	const struct lp_schema *schema;
	/* Paths that have to exist, with up to TREE_STARS_MAX stars, at most one between two
	 * slashes. All patterns are searched; matches that an earlier pattern found are skipped.
	 */
	const char *const *patterns;
	const struct tree_file *files;
	unsigned n_files;
	/* The component's name; false: ignore it. NULL: use the matches of the stars, separated by
	 * slashes. */
	bool (*name)(const struct proc_root *root, const struct tree_match *m,
		char ret[PARSE_NAME_MAX + 1]);
	/* Adds labels (see sysattr.h); may be NULL. */
	void (*labels)(
		const struct proc_root *root, const struct tree_match *m, struct strbuf *labels);
	/* Changes the values of a row before they are stored; may be NULL. */
	void (*finish)(int64_t *values);
};

/* A collector's functions with the same names call these. Opening fails with -ENOENT if no pattern
 * matches anything. */
int tree_open(const struct tree_def *def, const struct collect_config *config, void **ret_state,
	struct lp_err *err);
int tree_sample(void *state, struct collect_sink *sink, struct lp_err *err);
void tree_close(void *state); /* accepts NULL */

/* Calls `found` for every match of `pattern` under `root`, in the order of their names. A negative
 * errno of `found` ends the walk and is returned; directories that cannot be read match nothing. */
typedef int tree_found_fn(void *ctx, const struct tree_match *m);
int tree_walk(const struct proc_root *root, const char *pattern, tree_found_fn *found, void *ctx);

/* Writes `pattern` with its stars replaced; false if the result is too long. */
bool tree_path(const char *pattern, const struct tree_match *m, char *ret, size_t size);

#endif
