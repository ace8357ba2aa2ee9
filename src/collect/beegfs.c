/* BeeGFS storage servers: beegfs-ctl --serverstats. */
#include "base/array.h"
#include "collect/beegfs_parse.h"
#include "collect/program_rows.h"

static const struct lp_column columns[BEEGFS_N] = {
	[BEEGFS_WR_KIB] = {"wr_kib", "KiB/s", LP_GAUGE, 0},
	[BEEGFS_RD_KIB] = {"rd_kib", "KiB/s", LP_GAUGE, 0},
	[BEEGFS_REQUESTS] = {"requests", "1/s", LP_GAUGE, 0},
	[BEEGFS_QUEUED] = {"queued", "requests", LP_GAUGE, 0},
	[BEEGFS_BUSY] = {"busy", "threads", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"beegfs", columns, ARRAY_SIZE(columns)};

static int stats_take(struct program_rows *r, const char *text)
{
	struct beegfs_heading h = {0};
	struct beegfs_server server;
	int got = 0;

	while (got == 0 && beegfs_parse_server(&text, &h, &server))
		got = program_rows_put(r, server.name, server.values);
	return got;
}

static const char *const argv[] = {"beegfs-ctl", "--serverstats", "--nodetype=storage",
	"--perserver", "--names", "--interval=0", "--history=1", NULL};

static const struct program_rows_def def = {
	.what = "BeeGFS",
	.schema = &schema,
	.programs = {{"/usr/bin/beegfs-ctl", argv, NULL, PROGRAM_ROWS_US}},
	.take = {stats_take},
};

static int beegfs_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return program_rows_open(&def, config, ret_state, err);
}

extern const struct collector collector_beegfs;
const struct collector collector_beegfs = {
	.name = "beegfs",
	.summary = "storage servers of a BeeGFS, by beegfs-ctl --serverstats (on request)",
	.description =
		"Records what each storage server did in the last second: bytes, requests, queue "
		"and busy workers, as beegfs-ctl reports it for all of them. It runs only where it "
		"is "
		"named: one host is enough, and needs beegfs-ctl and its configuration. "
		"beegfs-ctl is run every ten seconds and killed if it takes longer than eight.",
	.schema = &schema,
	.on_request = true,
	.open = beegfs_open,
	.sample = program_rows_sample,
	.close = program_rows_close,
};
