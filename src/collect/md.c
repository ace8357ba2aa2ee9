/* Software RAID: the state of md arrays. */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/parse_sys.h"
#include "collect/sysattr.h"
#include "collect/tree.h"
#include <stdio.h>

enum { DISKS, DEGRADED, ACTION, DONE_PERMILLE, SPEED_KBPS, MISMATCHES, WORKS, N_COLUMNS };

static const struct lp_column columns[N_COLUMNS] = {
	[DISKS] = {"disks", "disks", LP_GAUGE, 0},
	[DEGRADED] = {"degraded", "disks", LP_GAUGE, 0},
	[ACTION] = {"action", "see metrics.md", LP_GAUGE, 0},
	[DONE_PERMILLE] = {"done_permille", "permille", LP_GAUGE, 0},
	[SPEED_KBPS] = {"speed_kbps", "kB/s", LP_GAUGE, 0},
	[MISMATCHES] = {"mismatches", "sectors", LP_GAUGE, 0},
	[WORKS] = {"works", "0 or 1", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"raid", columns, ARRAY_SIZE(columns)};

static unsigned md_action(const char *text, int64_t *values)
{
	return parse_md_action(text, &values[ACTION]);
}

static unsigned md_completed(const char *text, int64_t *values)
{
	return parse_md_completed(text, &values[DONE_PERMILLE]);
}

static unsigned md_state(const char *text, int64_t *values)
{
	return parse_md_state(text, &values[WORKS]);
}

#define MD "/sys/block/*/md/"

static const struct tree_file files[] = {
	{{MD "sync_action"}, md_action, 0, false},
	{{MD "degraded"}, NULL, DEGRADED, false},
	{{MD "array_state"}, md_state, 0, false},
	{{MD "raid_disks"}, NULL, DISKS, true},
	{{MD "sync_completed"}, md_completed, 0, true},
	{{MD "sync_speed"}, NULL, SPEED_KBPS, true},
	{{MD "mismatch_cnt"}, NULL, MISMATCHES, true},
};

static int add_member(void *ctx, const struct tree_match *m)
{
	struct strbuf *sb = ctx;

	strbuf_printf(sb, "%s%s", sb->len ? "," : "", m->star[0]);
	return 0;
}

/* The disks of an array: a rebuild makes them slow. */
static void md_labels(
	const struct proc_root *root, const struct tree_match *m, struct strbuf *labels)
{
	_cleanup_free_ char *members = NULL;
	struct strbuf sb = {0};
	char buf[SYSATTR_MAX], pattern[PARSE_NAME_MAX + 32];

	if (sysattr_read(root, buf, "/sys/block/%s/md/level", m->star[0]))
		label_add(labels, "level", buf);
	snprintf(pattern, sizeof(pattern), "/sys/block/%s/slaves/*", m->star[0]);
	tree_walk(root, pattern, add_member, &sb);
	members = strbuf_take(&sb);
	if (members && *members)
		label_add(labels, "members", members);
}

static const char *const patterns[] = {"/sys/block/*/md", NULL};

static const struct tree_def def = {
	.what = "md arrays",
	.schema = &schema,
	.patterns = patterns,
	.files = files,
	.n_files = ARRAY_SIZE(files),
	.labels = md_labels,
};

static int md_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return tree_open(&def, config, ret_state, err);
}

extern const struct collector collector_md;
const struct collector collector_md = {
	.name = "md",
	.summary = "software RAID: degraded arrays, rebuilds and checks",
	.description =
		"Records the state of each md array in /sys/block: disks that are missing, what it "
		"is doing "
		"(0 idle, 1 resync, 2 recover, 3 check, 4 repair, 5 reshape, 6 frozen), how far "
		"that "
		"is and how fast. It is context: a disk that is slow while its array rebuilds is a "
		"different problem from a slow disk alone.",
	.schema = &schema,
	.if_present = true,
	.open = md_open,
	.sample = tree_sample,
	.close = tree_close,
};
