/* ZFS datasets: the kstats objset-0xNN of OpenZFS 0.8 and later. */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/parse_sys.h"
#include "collect/tree.h"

#define COUNTER LP_COUNTER, 64

enum { WR_OPS, WR_BYTES, RD_OPS, RD_BYTES, N_COLUMNS };

static const struct lp_column columns[N_COLUMNS] = {
	[WR_OPS] = {"wr_ops", "requests", COUNTER},
	[WR_BYTES] = {"wr_bytes", "bytes", COUNTER},
	[RD_OPS] = {"rd_ops", "requests", COUNTER},
	[RD_BYTES] = {"rd_bytes", "bytes", COUNTER},
};

static const struct lp_schema schema = {"dataset", columns, ARRAY_SIZE(columns)};

static const char *const names[N_COLUMNS] = {"writes", "nwritten", "reads", "nread"};

static unsigned dataset_stat(const char *text, int64_t *values)
{
	return parse_kstat(text, names, N_COLUMNS, values);
}

static const struct tree_file files[] = {
	{{"/proc/spl/kstat/zfs/*/objset-*"}, dataset_stat, 0, false},
};

static bool dataset_name(
	const struct proc_root *root, const struct tree_match *m, char ret[PARSE_NAME_MAX + 1])
{
	char path[2 * PARSE_NAME_MAX + 64];
	struct procfile f;
	bool ok;

	if (!tree_path(files[0].paths[0], m, path, sizeof(path)) ||
		procfile_open(&f, root, path, NULL) < 0)
		return false;
	ok = procfile_read(&f, NULL) == 0 && parse_kstat_dataset(f.text, ret);
	procfile_close(&f);
	return ok;
}

static const char *const patterns[] = {"/proc/spl/kstat/zfs/*/objset-*", NULL};

static const struct tree_def def = {
	.what = "ZFS datasets",
	.schema = &schema,
	.patterns = patterns,
	.files = files,
	.n_files = ARRAY_SIZE(files),
	.name = dataset_name,
};

static int dataset_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return tree_open(&def, config, ret_state, err);
}

extern const struct collector collector_zfs_dataset;
const struct collector collector_zfs_dataset = {
	.name = "zfs_dataset",
	.summary = "ZFS datasets: reads and writes",
	.description = "Records reads and writes of each dataset of OpenZFS 0.8 and later, from "
		       "the kstats "
		       "/proc/spl/kstat/zfs/POOL/objset-*.",
	.schema = &schema,
	.if_present = true,
	.open = dataset_open,
	.sample = tree_sample,
	.close = tree_close,
};
