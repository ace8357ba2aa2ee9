/* Lustre OSTs as their server sees them: obdfilter.*.stats and osd-*.*.brw_stats. */
#include "base/array.h"
#include "collect/lustre_stats.h"
#include "collect/tree.h"

#define COUNTER LP_COUNTER, 64

enum {
	RD_BYTES,
	WR_BYTES,
	RD_OPS,
	WR_OPS,
	RD_US,
	WR_US,
	OTHER_OPS,
	IO_TIMES,
	IO_MS,
	CLIENTS,
	FREE_KB,
	TOTAL_KB,
	RECOVERING,
	N_COLUMNS,
};

static const struct lp_column columns[N_COLUMNS] = {
	[RD_BYTES] = {"rd_bytes", "bytes", COUNTER},
	[WR_BYTES] = {"wr_bytes", "bytes", COUNTER},
	[RD_OPS] = {"rd_ops", "requests", COUNTER},
	[WR_OPS] = {"wr_ops", "requests", COUNTER},
	[RD_US] = {"rd_us", "us", COUNTER},
	[WR_US] = {"wr_us", "us", COUNTER},
	[OTHER_OPS] = {"other_ops", "requests", COUNTER},
	[IO_TIMES] = {"io_times", "requests", COUNTER},
	[IO_MS] = {"io_ms", "ms", COUNTER},
	[CLIENTS] = {"clients", "clients", LP_GAUGE, 0},
	[FREE_KB] = {"free_kb", "kB", LP_GAUGE, 0},
	[TOTAL_KB] = {"total_kb", "kB", LP_GAUGE, 0},
	[RECOVERING] = {"recovering", "0 or 1", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"ost", columns, ARRAY_SIZE(columns)};

/* Versions since 2.13 have the times of reads and writes. */
static unsigned parse_stats(const char *text, int64_t *values)
{
	static const struct lustre_line lines[] = {
		{"read_bytes", "bytes", RD_OPS, RD_BYTES},
		{"write_bytes", "bytes", WR_OPS, WR_BYTES},
		{"read", "usec", -1, RD_US},
		{"write", "usec", -1, WR_US},
		{"setattr", NULL, OTHER_OPS, -1},
		{"getattr", NULL, OTHER_OPS, -1},
		{"punch", NULL, OTHER_OPS, -1},
		{"sync", NULL, OTHER_OPS, -1},
		{"create", NULL, OTHER_OPS, -1},
		{"destroy", NULL, OTHER_OPS, -1},
		{"statfs", NULL, OTHER_OPS, -1},
		{NULL, NULL, 0, 0},
	};

	return lustre_parse_stats(text, lines, values);
}

static unsigned parse_brw(const char *text, int64_t *values)
{
	return lustre_parse_brw_times(text, &values[IO_TIMES], &values[IO_MS]);
}

static unsigned parse_recovery(const char *text, int64_t *values)
{
	return lustre_parse_recovery(text, &values[RECOVERING]);
}

static const struct tree_file files[] = {
	{{"/proc/fs/lustre/obdfilter/*/stats", "/sys/kernel/debug/lustre/obdfilter/*/stats",
		 "/sys/fs/lustre/obdfilter/*/stats"},
		parse_stats, 0, false},
	{{"/proc/fs/lustre/osd-ldiskfs/*/brw_stats", "/proc/fs/lustre/osd-zfs/*/brw_stats",
		 "/sys/kernel/debug/lustre/osd-ldiskfs/*/brw_stats",
		 "/sys/kernel/debug/lustre/osd-zfs/*/brw_stats",
		 "/proc/fs/lustre/obdfilter/*/brw_stats"},
		parse_brw, 0, false},
	{{"/sys/fs/lustre/obdfilter/*/num_exports", "/proc/fs/lustre/obdfilter/*/num_exports"},
		NULL, CLIENTS, true},
	{{"/sys/fs/lustre/obdfilter/*/kbytesfree", "/proc/fs/lustre/obdfilter/*/kbytesfree"}, NULL,
		FREE_KB, true},
	{{"/sys/fs/lustre/obdfilter/*/kbytestotal", "/proc/fs/lustre/obdfilter/*/kbytestotal"},
		NULL, TOTAL_KB, true},
	{{"/proc/fs/lustre/obdfilter/*/recovery_status",
		 "/sys/kernel/debug/lustre/obdfilter/*/recovery_status"},
		parse_recovery, 0, true},
};

static const char *const patterns[] = {"/proc/fs/lustre/obdfilter/*/stats",
	"/sys/kernel/debug/lustre/obdfilter/*/stats", "/sys/fs/lustre/obdfilter/*/stats", NULL};

static const struct tree_def def = {
	.what = "Lustre OSTs",
	.schema = &schema,
	.patterns = patterns,
	.files = files,
	.n_files = ARRAY_SIZE(files),
};

static int ost_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return tree_open(&def, config, ret_state, err);
}

extern const struct collector collector_lustre_ost;
const struct collector collector_lustre_ost = {
	.name = "lustre_ost",
	.summary = "Lustre OSTs as their server sees them",
	.description =
		"Records obdfilter.*.stats of each OST that this server has mounted, the times of "
		"its disk I/O (brw_stats), how many clients it has, how full it is and whether it "
		"is in recovery. The files are looked for in /proc/fs/lustre, /sys/fs/lustre and "
		"/sys/kernel/debug/lustre, where the versions of Lustre have them.",
	.schema = &schema,
	.if_present = true,
	.open = ost_open,
	.sample = tree_sample,
	.close = tree_close,
};
