/* ZFS pools: their state and, for versions before 2.0, their I/O. */
#include "base/array.h"
#include "collect/parse_sys.h"
#include "collect/tree.h"
#include <string.h>

#define COUNTER LP_COUNTER, 64

/* From RD_BYTES on, the order is that of parse_kstat_io(). */
enum { ONLINE, RD_BYTES, WR_BYTES, RD_OPS, WR_OPS, WAIT_NS, RUN_NS, N_COLUMNS };

static const struct lp_column columns[N_COLUMNS] = {
	[ONLINE] = {"online", "0 or 1", LP_GAUGE, 0},
	[RD_BYTES] = {"rd_bytes", "bytes", COUNTER},
	[WR_BYTES] = {"wr_bytes", "bytes", COUNTER},
	[RD_OPS] = {"rd_ops", "requests", COUNTER},
	[WR_OPS] = {"wr_ops", "requests", COUNTER},
	[WAIT_NS] = {"wait_ns", "ns", COUNTER},
	[RUN_NS] = {"run_ns", "ns", COUNTER},
};

static const struct lp_schema schema = {"zpool", columns, ARRAY_SIZE(columns)};

static unsigned zfs_state(const char *text, int64_t *values)
{
	values[ONLINE] = !strncmp(text, "ONLINE", 6);
	return 1;
}

static unsigned zfs_io(const char *text, int64_t *values)
{
	return parse_kstat_io(text, &values[RD_BYTES]);
}

static const struct tree_file files[] = {
	{{"/proc/spl/kstat/zfs/*/io"}, zfs_io, 0, false},
	{{"/proc/spl/kstat/zfs/*/state"}, zfs_state, 0, false},
};

static const char *const patterns[] = {
	"/proc/spl/kstat/zfs/*/state", "/proc/spl/kstat/zfs/*/io", NULL};

static const struct tree_def def = {
	.what = "ZFS pools",
	.schema = &schema,
	.patterns = patterns,
	.files = files,
	.n_files = ARRAY_SIZE(files),
};

static int zfs_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return tree_open(&def, config, ret_state, err);
}

extern const struct collector collector_zfs;
const struct collector collector_zfs = {
	.name = "zfs",
	.summary = "ZFS pools: their health and I/O",
	.description =
		"Records the state of each pool in /proc/spl/kstat/zfs and, of versions of OpenZFS "
		"that have "
		"it (before 2.0), its I/O. What later versions count is recorded by zfs_dataset.",
	.schema = &schema,
	.if_present = true,
	.open = zfs_open,
	.sample = tree_sample,
	.close = tree_close,
};
