/* GPFS NSDs as their server sees them: mmpmon's nsd_ds. */
#include "base/array.h"
#include "collect/gpfs_parse.h"
#include "collect/program_rows.h"

#define COUNTER LP_COUNTER, 64

static const struct lp_column columns[NSD_N] = {
	[NSD_RD_OPS] = {"rd_ops", "requests", COUNTER},
	[NSD_WR_OPS] = {"wr_ops", "requests", COUNTER},
	[NSD_RD_BYTES] = {"rd_bytes", "bytes", COUNTER},
	[NSD_WR_BYTES] = {"wr_bytes", "bytes", COUNTER},
	[NSD_RD_US] = {"rd_us", "us", COUNTER},
	[NSD_WR_US] = {"wr_us", "us", COUNTER},
};

static const struct lp_schema schema = {"nsd", columns, ARRAY_SIZE(columns)};

static int nsd_take(struct program_rows *r, const char *text)
{
	struct gpfs_nsd nsd;
	int got = 0;

	while (got == 0 && gpfs_parse_nsd(&text, &nsd))
		got = program_rows_put(r, nsd.name, nsd.values);
	return got;
}

static const char *const argv[] = {"mmpmon", "-p", NULL};

static const struct program_rows_def def = {
	.what = "GPFS",
	.schema = &schema,
	.programs = {{"/usr/lpp/mmfs/bin/mmpmon", argv, "nsd_ds\n", PROGRAM_ROWS_US}},
	.take = {nsd_take},
};

static int nsd_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return program_rows_open(&def, config, ret_state, err);
}

extern const struct collector collector_gpfs_nsd;
const struct collector collector_gpfs_nsd = {
	.name = "gpfs_nsd",
	.summary = "GPFS NSDs as their server sees them (mmpmon)",
	.description =
		"Records what nsd_ds of mmpmon says of each NSD that this host serves: requests, "
		"bytes and the time that they took. mmpmon is run every ten seconds and killed if "
		"it takes longer than eight.",
	.schema = &schema,
	.if_present = true,
	.open = nsd_open,
	.sample = program_rows_sample,
	.close = program_rows_close,
};
