/* Block devices: every column of /proc/diskstats. */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/device_lines.h"
#include "collect/diskname.h"
#include <errno.h>

/* The kernel prints times as unsigned ints, in milliseconds, on every machine. */
#define TICKS LP_COUNTER, 32

static const struct lp_column columns[DISK_N_COLUMNS] = {
	[DISK_RD_IOS] = {"rd_ios", "requests", LP_COUNTER, 64},
	[DISK_RD_MERGES] = {"rd_merges", "requests", LP_COUNTER, 64},
	[DISK_RD_SEC] = {"rd_sec", "sectors", LP_COUNTER, 64},
	[DISK_RD_TICKS] = {"rd_ticks", "ms", TICKS},
	[DISK_WR_IOS] = {"wr_ios", "requests", LP_COUNTER, 64},
	[DISK_WR_MERGES] = {"wr_merges", "requests", LP_COUNTER, 64},
	[DISK_WR_SEC] = {"wr_sec", "sectors", LP_COUNTER, 64},
	[DISK_WR_TICKS] = {"wr_ticks", "ms", TICKS},
	[DISK_IN_FLIGHT] = {"in_flight", "requests", LP_GAUGE, 0},
	[DISK_TOT_TICKS] = {"tot_ticks", "ms", TICKS},
	[DISK_RQ_TICKS] = {"rq_ticks", "ms", TICKS},
	[DISK_DC_IOS] = {"dc_ios", "requests", LP_COUNTER, 64},
	[DISK_DC_MERGES] = {"dc_merges", "requests", LP_COUNTER, 64},
	[DISK_DC_SEC] = {"dc_sec", "sectors", LP_COUNTER, 64},
	[DISK_DC_TICKS] = {"dc_ticks", "ms", TICKS},
	[DISK_FL_IOS] = {"fl_ios", "requests", LP_COUNTER, 64},
	[DISK_FL_TICKS] = {"fl_ticks", "ms", TICKS},
};

static const struct lp_schema schema = {"disk", columns, ARRAY_SIZE(columns)};

struct disks {
	struct device_lines lines;   /* must be first: a pointer to it is a pointer to the whole
				      * struct */
	struct diskname_links links; /* filled only while devices are appearing */
};

static void disks_close(void *state)
{
	struct disks *d = state;

	if (!d)
		return;
	device_lines_close(&d->lines);
	diskname_links_release(&d->links);
	free(d);
}

static int disks_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	_cleanup_free_ struct disks *d = calloc(1, sizeof(*d));
	int r = d ? device_lines_open(&d->lines, config, "/proc/diskstats", err)
		  : lp_err_sys(err, -ENOMEM, "cannot collect diskstats");

	if (r == 0)
		*ret_state = TAKE_PTR(d);
	return r;
}

static bool disks_want(
	const struct collect_config *config, const char *name, const struct diskname *facts)
{
	enum collect_choice choice = collect_choose(config->disks, config->n_disks, name);

	if (choice == COLLECT_NAMED) /* "sd*" means disks, although it matches "sda1" */
		return config->partitions || !facts->partition;
	if (choice != COLLECT_UNNAMED)
		return choice == COLLECT_EXACT;
	return (config->loops || !diskname_is_memory(name)) &&
		(config->partitions || !facts->partition) && !facts->empty;
}

/* A device appeared, came back or was replaced: identify it. */
static int disks_identify(struct disks *d, struct collect_sink *sink, const struct disk_line *line,
	struct roster_entry *e, struct lp_err *err)
{
	_cleanup_(diskname_release) struct diskname facts = {0};
	int r = diskname_describe(
		d->lines.config->root, &d->links, e->name, line->major, line->minor, &facts);

	if (r < 0)
		return lp_err_sys(err, r, "cannot describe disk %s", e->name);
	e->wanted = disks_want(d->lines.config, e->name, &facts);
	e->empty = !e->wanted && facts.empty;
	if (!e->wanted)
		return 0;
	return collect_add_named(
		sink, &schema, d->lines.config->observer, e->name, facts.labels, &e->row, err);
}

static bool disks_is_other(
	struct roster_entry *e, const struct disk_line *line, enum roster_hit hit)
{
	uint64_t devno = (uint64_t)line->major << 32 | line->minor;
	uint64_t before = e->growth[0] + e->growth[1];
	bool back = roster_went_back(e, line->values[DISK_RD_IOS], line->values[DISK_WR_IOS]);
	bool renumbered = e->identity != devno;

	e->identity = devno;
	return hit == ROSTER_NEW || back || renumbered ||
		(e->empty && e->growth[0] + e->growth[1] != before);
}

static int disks_line(
	struct device_lines *l, struct collect_sink *sink, const char **p, struct lp_err *err)
{
	struct roster_entry *e;
	struct disk_line line;
	bool fresh;
	int r = parse_diskstats_line(p, &line);

	if (r != PARSE_OK)
		return r;
	r = roster_next(&l->roster, line.name, line.len, &e);
	if (r < 0)
		return lp_err_sys(err, r, "cannot remember a disk");
	if (r == ROSTER_TWICE)
		return 0;
	fresh = disks_is_other(e, &line, r) || (e->wanted && !collect_holds(sink, &e->row));
	r = fresh ? disks_identify((struct disks *)l, sink, &line, e, err) : 0;
	if (r < 0 || !e->wanted)
		return r;
	return collect_store(sink, &e->row, fresh, line.values, err);
}

static int disks_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct disks *d = state;
	int r = device_lines_sample(&d->lines, sink, disks_line, err);

	if (d->links.loaded)
		diskname_links_release(&d->links);
	return r;
}

const struct collector collector_diskstats = {
	.name = "diskstats",
	.summary = "block devices: requests, sectors, times of reads, writes, discards, flushes",
	.description =
		"Records every column of /proc/diskstats for whole devices that have a size. "
		"Partitions, and loop, ram and zram devices, are recorded on request, or if a glob "
		"of --disks matches their names. Beside the kernel's name each device gets labels "
		"with names that stay the same: device-mapper and multipath name, /dev/disk/by-id, "
		"WWID and serial number; \"stable\" is the best of them.",
	.schema = &schema,
	.open = disks_open,
	.sample = disks_sample,
	.close = disks_close,
};
