/* Lustre MDTs as their server sees them: mdt.*.md_stats. */
#include "base/array.h"
#include "collect/lustre_stats.h"
#include "collect/tree.h"

#define COUNTER LP_COUNTER, 64

enum {
	OPENS,
	CLOSES,
	CREATES,
	UNLINKS,
	RENAMES,
	GETATTRS,
	SETATTRS,
	OTHER_OPS,
	OP_US,
	TIMED_OPS,
	CLIENTS,
	RECOVERING,
	N_COLUMNS,
};

static const struct lp_column columns[N_COLUMNS] = {
	[OPENS] = {"opens", "requests", COUNTER},
	[CLOSES] = {"closes", "requests", COUNTER},
	[CREATES] = {"creates", "requests", COUNTER},
	[UNLINKS] = {"unlinks", "requests", COUNTER},
	[RENAMES] = {"renames", "requests", COUNTER},
	[GETATTRS] = {"getattrs", "requests", COUNTER},
	[SETATTRS] = {"setattrs", "requests", COUNTER},
	[OTHER_OPS] = {"other_ops", "requests", COUNTER},
	[OP_US] = {"op_us", "us", COUNTER},
	[TIMED_OPS] = {"timed_ops", "requests", COUNTER},
	[CLIENTS] = {"clients", "clients", LP_GAUGE, 0},
	[RECOVERING] = {"recovering", "0 or 1", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"mdt", columns, ARRAY_SIZE(columns)};

/* Versions before 2.13 count requests, [reqs]; later ones have times, [usecs]. */
#define COUNT(name, column)                                                                        \
	{name, NULL, column, -1},                                                                  \
	{                                                                                          \
		name, "usec", TIMED_OPS, OP_US                                                     \
	}

static unsigned parse_stats(const char *text, int64_t *values)
{
	static const struct lustre_line lines[] = {
		COUNT("open", OPENS),
		COUNT("close", CLOSES),
		COUNT("mknod", CREATES),
		COUNT("create", CREATES),
		COUNT("mkdir", CREATES),
		COUNT("link", OTHER_OPS),
		COUNT("unlink", UNLINKS),
		COUNT("rmdir", UNLINKS),
		COUNT("rename", RENAMES),
		COUNT("getattr", GETATTRS),
		COUNT("setattr", SETATTRS),
		COUNT("getxattr", OTHER_OPS),
		COUNT("setxattr", OTHER_OPS),
		COUNT("statfs", OTHER_OPS),
		COUNT("sync", OTHER_OPS),
		{NULL, NULL, 0, 0},
	};

	return lustre_parse_stats(text, lines, values);
}

static unsigned parse_recovery(const char *text, int64_t *values)
{
	return lustre_parse_recovery(text, &values[RECOVERING]);
}

static const struct tree_file files[] = {
	{{"/proc/fs/lustre/mdt/*/md_stats", "/sys/kernel/debug/lustre/mdt/*/md_stats",
		 "/sys/fs/lustre/mdt/*/md_stats"},
		parse_stats, 0, false},
	{{"/sys/fs/lustre/mdt/*/num_exports", "/proc/fs/lustre/mdt/*/num_exports"}, NULL, CLIENTS,
		true},
	{{"/proc/fs/lustre/mdt/*/recovery_status",
		 "/sys/kernel/debug/lustre/mdt/*/recovery_status"},
		parse_recovery, 0, true},
};

static const char *const patterns[] = {"/proc/fs/lustre/mdt/*/md_stats",
	"/sys/kernel/debug/lustre/mdt/*/md_stats", "/sys/fs/lustre/mdt/*/md_stats", NULL};

static const struct tree_def def = {
	.what = "Lustre MDTs",
	.schema = &schema,
	.patterns = patterns,
	.files = files,
	.n_files = ARRAY_SIZE(files),
};

static int mdt_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return tree_open(&def, config, ret_state, err);
}

extern const struct collector collector_lustre_mdt;
const struct collector collector_lustre_mdt = {
	.name = "lustre_mdt",
	.summary = "Lustre MDTs as their server sees them",
	.description = "Records mdt.*.md_stats of each MDT that this server has mounted: how many "
		       "requests of each sort it served and, since Lustre 2.13, how long they "
		       "took; how many clients it has and whether it is in recovery.",
	.schema = &schema,
	.if_present = true,
	.open = mdt_open,
	.sample = tree_sample,
	.close = tree_close,
};
