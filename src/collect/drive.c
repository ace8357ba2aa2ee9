/* Drives: their links, their state, and the errors that the kernel counted. */
#include "base/array.h"
#include "collect/parse_sys.h"
#include "collect/sysattr.h"
#include "collect/tree.h"
#include <stdio.h>
#include <string.h>

enum {
	PCIE_MTS,
	PCIE_MAX_MTS,
	PCIE_LANES,
	PCIE_MAX_LANES,
	SATA_MBPS,
	SATA_MAX_MBPS,
	ERRORS,
	TIMEOUTS,
	RUNNING,
	N_COLUMNS,
};

static const struct lp_column columns[N_COLUMNS] = {
	[PCIE_MTS] = {"pcie_mts", "MT/s", LP_GAUGE, 0},
	[PCIE_MAX_MTS] = {"pcie_max_mts", "MT/s", LP_GAUGE, 0},
	[PCIE_LANES] = {"pcie_lanes", "lanes", LP_GAUGE, 0},
	[PCIE_MAX_LANES] = {"pcie_max_lanes", "lanes", LP_GAUGE, 0},
	[SATA_MBPS] = {"sata_mbps", "Mb/s", LP_GAUGE, 0},
	[SATA_MAX_MBPS] = {"sata_max_mbps", "Mb/s", LP_GAUGE, 0},
	[ERRORS] = {"errors", "requests", LP_COUNTER, 64},
	[TIMEOUTS] = {"timeouts", "requests", LP_COUNTER, 64},
	[RUNNING] = {"running", "0 or 1", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"drive", columns, ARRAY_SIZE(columns)};

static unsigned drive_speed(const char *text, int64_t *values)
{
	return parse_pcie_speed(text, &values[PCIE_MTS]);
}

static unsigned drive_max_speed(const char *text, int64_t *values)
{
	return parse_pcie_speed(text, &values[PCIE_MAX_MTS]);
}

static unsigned drive_sata(const char *text, int64_t *values)
{
	return parse_sata_speed(text, &values[SATA_MBPS]);
}

static unsigned drive_max_sata(const char *text, int64_t *values)
{
	return parse_sata_speed(text, &values[SATA_MAX_MBPS]);
}

static unsigned drive_errors(const char *text, int64_t *values)
{
	return parse_hex(text, &values[ERRORS]);
}

static unsigned drive_timeouts(const char *text, int64_t *values)
{
	return parse_hex(text, &values[TIMEOUTS]);
}

/* SCSI devices have the state "running", NVMe controllers "live". */
static unsigned drive_state(const char *text, int64_t *values)
{
	values[RUNNING] = !strncmp(text, "running", 7) || !strncmp(text, "live", 4);
	return 1;
}

#define DEVICE "/sys/block/*/device/"
/* Above the host of a SATA drive is its port, with the link of the same number. */
#define LINK DEVICE "../../../link*/ata_link/link*/"
#define DEVICE_FMT "/sys/block/%s/device/"

static const struct tree_file files[] = {
	{{DEVICE "device/current_link_speed"}, drive_speed, 0, true},
	{{DEVICE "device/max_link_speed"}, drive_max_speed, 0, true},
	{{DEVICE "device/current_link_width"}, NULL, PCIE_LANES, true},
	{{DEVICE "device/max_link_width"}, NULL, PCIE_MAX_LANES, true},
	{{LINK "sata_spd"}, drive_sata, 0, true},
	/* The kernel lowers the first one after errors; the second one may be unknown. */
	{{LINK "sata_spd_limit"}, drive_max_sata, 0, true},
	{{LINK "hw_sata_spd_limit"}, drive_max_sata, 0, true},
	{{DEVICE "ioerr_cnt"}, drive_errors, 0, true},
	{{DEVICE "iotmo_cnt"}, drive_timeouts, 0, true},
	{{DEVICE "state"}, drive_state, 0, true},
};

static bool drive_name(
	const struct proc_root *root, const struct tree_match *m, char ret[PARSE_NAME_MAX + 1])
{
	(void)root;
	snprintf(ret, PARSE_NAME_MAX + 1, "%s", m->star[0]);
	return true;
}

static void drive_labels(
	const struct proc_root *root, const struct tree_match *m, struct strbuf *labels)
{
	char buf[SYSATTR_MAX];

	if (sysattr_read(root, buf, DEVICE_FMT "model", m->star[0]))
		label_add(labels, "model", buf);
	if (sysattr_read(root, buf, DEVICE_FMT "serial", m->star[0]))
		label_add(labels, "serial", buf);
	if (sysattr_read(root, buf, DEVICE_FMT "firmware_rev", m->star[0]) ||
		sysattr_read(root, buf, DEVICE_FMT "rev", m->star[0]))
		label_add(labels, "firmware", buf);
}

static const char *const patterns[] = {
	DEVICE "../../../link*/ata_link", "/sys/block/*/device", NULL};

static const struct tree_def def = {
	.what = "drives",
	.schema = &schema,
	.patterns = patterns,
	.files = files,
	.n_files = ARRAY_SIZE(files),
	.name = drive_name,
	.labels = drive_labels,
};

static int drive_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return tree_open(&def, config, ret_state, err);
}

extern const struct collector collector_drive;
const struct collector collector_drive = {
	.name = "drive",
	.summary = "drives: speed and width of their links, errors, state",
	.description =
		"Records, for each drive in /sys/block, the PCIe or SATA link that it has and the "
		"one that it "
		"could have, the errors and timeouts that the kernel counted, and whether it is "
		"running. It is read every ten seconds. It is context: a drive whose link came up "
		"with one lane in place of four is slow without being broken.",
	.schema = &schema,
	.if_present = true,
	.open = drive_open,
	.sample = tree_sample,
	.close = tree_close,
};
