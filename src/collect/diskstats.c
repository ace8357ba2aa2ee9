/* Block devices: every column of /proc/diskstats. */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/diskname.h"
#include "collect/roster.h"
#include "collect/sysattr.h"
#include <errno.h>

/* The kernel prints times as unsigned ints of milliseconds on every machine. */
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
	const struct collect_config *config;
	struct procfile file;
	struct roster roster;
	struct diskname_links links; /* filled only while devices are appearing */
	bool warned;
};

static void disks_close(void *state)
{
	struct disks *d = state;

	if (!d)
		return;
	procfile_close(&d->file);
	roster_release(&d->roster);
	diskname_links_release(&d->links);
	free(d);
}

static int disks_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	_cleanup_free_ struct disks *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return lp_err_sys(err, -ENOMEM, "cannot collect diskstats");
	d->config = config;
	r = procfile_open(&d->file, config->root, "/proc/diskstats", err);
	if (r < 0)
		return r;
	*ret_state = TAKE_PTR(d);
	return 0;
}

static bool disks_want(
	const struct collect_config *config, const char *name, const struct diskname *facts)
{
	switch (collect_choose(config->disks, config->n_disks, name)) {
	case COLLECT_NAMED:
		return true;
	case COLLECT_EXCLUDED:
		return false;
	case COLLECT_UNNAMED:
		break;
	}
	return (config->loops || !diskname_is_memory(name)) &&
		(config->partitions || !facts->partition) && !facts->empty;
}

/* A device appeared, came back or was replaced: find out what it is. */
static int disks_identify(struct disks *d, struct collect_sink *sink, const struct disk_line *line,
	struct roster_entry *e, struct lp_err *err)
{
	_cleanup_(diskname_release) struct diskname facts = {0};
	int r = diskname_describe(
		d->config->root, &d->links, e->name, line->major, line->minor, &facts);

	if (r < 0)
		return lp_err_sys(err, r, "cannot describe disk %s", e->name);
	e->wanted = disks_want(d->config, e->name, &facts);
	e->empty = !e->wanted && facts.empty;
	if (!e->wanted)
		return 0;
	return collect_add_named(
		sink, &schema, d->config->observer, e->name, facts.labels, &e->row, err);
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

static int disks_line(struct disks *d, struct collect_sink *sink, const struct disk_line *line,
	struct lp_err *err)
{
	struct roster_entry *e;
	int hit = roster_next(&d->roster, line->name, line->len, &e);
	bool fresh;
	int r;

	if (hit < 0)
		return lp_err_sys(err, hit, "cannot remember a disk");
	if (hit == ROSTER_TWICE)
		return 0;
	fresh = disks_is_other(e, line, hit);
	if (fresh) {
		r = disks_identify(d, sink, line, e, err);
		if (r < 0)
			return r;
	}
	return e->wanted ? collect_store(sink, &e->row, fresh, line->values, err) : 0;
}

static int disks_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct disks *d = state;
	int r = procfile_read(&d->file, err);
	const char *p = d->file.text;

	if (r < 0)
		return r;
	roster_begin(&d->roster);
	while (r == 0 && *p) {
		const char *start = p;
		struct disk_line line;
		enum parse_result got = parse_diskstats_line(&p, &line);

		if (got == PARSE_OK)
			r = disks_line(d, sink, &line, err);
		else if (got == PARSE_BAD)
			collect_bad_line(sink, &d->file, start, &d->warned);
	}
	if (d->links.loaded)
		diskname_links_release(&d->links);
	return r;
}

const struct collector collector_diskstats = {
	.name = "diskstats",
	.summary = "block devices: requests, sectors and times of reads, writes, discards, flushes",
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
