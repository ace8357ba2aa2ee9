/* GPFS file systems as a node sees them: mmpmon's fs_io_s and rhist, and the waiters of its daemon.
 */
#include "base/array.h"
#include "collect/gpfs_parse.h"
#include "collect/program_rows.h"

#define COUNTER LP_COUNTER, 64

enum { HIST_IOS = GPFS_FS_N, HIST_US, WAITERS, LONGEST_MS, N_COLUMNS };

static const struct lp_column columns[N_COLUMNS] = {
	[GPFS_RD_BYTES] = {"rd_bytes", "bytes", COUNTER},
	[GPFS_WR_BYTES] = {"wr_bytes", "bytes", COUNTER},
	[GPFS_OPENS] = {"opens", "requests", COUNTER},
	[GPFS_CLOSES] = {"closes", "requests", COUNTER},
	[GPFS_RD_CALLS] = {"rd_calls", "requests", COUNTER},
	[GPFS_WR_CALLS] = {"wr_calls", "requests", COUNTER},
	[HIST_IOS] = {"hist_ios", "requests", COUNTER},
	[HIST_US] = {"hist_us", "us", COUNTER},
	[WAITERS] = {"waiters", "threads", LP_GAUGE, 0},
	[LONGEST_MS] = {"longest_ms", "ms", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"gpfs", columns, ARRAY_SIZE(columns)};

static void clear(int64_t values[N_COLUMNS])
{
	for (unsigned i = 0; i < N_COLUMNS; i++)
		values[i] = LP_MISSING;
}

/* Each file system is a component. The histogram covers the whole node, "all". */
static int io_take(struct program_rows *r, const char *text)
{
	const char *p = text;
	int64_t values[N_COLUMNS];
	struct gpfs_fs fs;
	int got = 0;

	while (got == 0 && gpfs_parse_fs(&p, &fs)) {
		clear(values);
		for (unsigned i = 0; i < GPFS_FS_N; i++)
			values[i] = fs.values[i];
		got = program_rows_put(r, fs.name, values);
	}
	clear(values);
	if (got == 0 && gpfs_parse_rhist(text, &values[HIST_IOS], &values[HIST_US]))
		got = program_rows_put(r, "all", values);
	return got;
}

static int waiters_take(struct program_rows *r, const char *text)
{
	int64_t values[N_COLUMNS];

	clear(values);
	if (!gpfs_parse_waiters(text, &values[WAITERS], &values[LONGEST_MS]))
		return 0;
	return program_rows_put(r, "daemon", values);
}

static const char *const mmpmon[] = {"mmpmon", "-p", NULL};
static const char *const mmdiag[] = {"mmdiag", "--waiters", NULL};

static const struct program_rows_def def = {
	.what = "GPFS",
	.schema = &schema,
	.programs = {{"/usr/lpp/mmfs/bin/mmpmon", mmpmon, "fs_io_s\nrhist s\n", PROGRAM_ROWS_US},
		{"/usr/lpp/mmfs/bin/mmdiag", mmdiag, NULL, PROGRAM_ROWS_US}},
	.take = {io_take, waiters_take},
};

static int gpfs_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return program_rows_open(&def, config, ret_state, err);
}

extern const struct collector collector_gpfs;
const struct collector collector_gpfs = {
	.name = "gpfs",
	.summary = "GPFS file systems of this node, and waiters of its daemon (mmpmon, mmdiag)",
	.description =
		"Records what fs_io_s of mmpmon says of each file system, the request histogram "
		"(rhist s, the component \"all\") where somebody has turned it on, and how many "
		"threads of the daemon wait and how long the longest has waited (mmdiag "
		"--waiters, the component \"daemon\"). Both programs are run every ten seconds "
		"and killed if they take longer than eight.",
	.schema = &schema,
	.if_present = true,
	.open = gpfs_open,
	.sample = program_rows_sample,
	.close = program_rows_close,
};
