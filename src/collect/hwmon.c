/* Temperatures: all of /sys/class/hwmon. */
#include "base/array.h"
#include "collect/sysattr.h"
#include "collect/tree.h"
#include <stdio.h>

enum { MILLI_C, MAX_MILLI_C, CRIT_MILLI_C, ALARM, N_COLUMNS };

static const struct lp_column columns[N_COLUMNS] = {
	[MILLI_C] = {"milli_c", "mC", LP_GAUGE, 0},
	[MAX_MILLI_C] = {"max_milli_c", "mC", LP_GAUGE, 0},
	[CRIT_MILLI_C] = {"crit_milli_c", "mC", LP_GAUGE, 0},
	[ALARM] = {"alarm", "0 or 1", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"sensor", columns, ARRAY_SIZE(columns)};

#define TEMP "/sys/class/hwmon/*/temp*_"

/* Some chips take milliseconds to answer, and temperatures change slowly. */
static const struct tree_file files[] = {
	{{TEMP "input"}, NULL, MILLI_C, true},
	{{TEMP "max"}, NULL, MAX_MILLI_C, true},
	{{TEMP "crit"}, NULL, CRIT_MILLI_C, true},
	{{TEMP "crit_alarm", TEMP "max_alarm", TEMP "alarm"}, NULL, ALARM, true},
};

/* "nvme-nvme0-temp1": the chip, its device, the sensor. The numbers of hwmon change with every
 * boot. */
static bool sensor_name(
	const struct proc_root *root, const struct tree_match *m, char ret[PARSE_NAME_MAX + 1])
{
	char chip[SYSATTR_MAX], device[SYSATTR_MAX];
	int n;

	if (!sysattr_read(root, chip, "/sys/class/hwmon/%s/name", m->star[0]))
		return false;
	if (!sysattr_link(root, device, "/sys/class/hwmon/%s/device", m->star[0]))
		snprintf(device, sizeof(device), "%s", m->star[0]);
	n = snprintf(ret, PARSE_NAME_MAX + 1, "%.24s-%.24s-temp%.8s", chip, device, m->star[1]);
	return n > 0 && n <= PARSE_NAME_MAX;
}

static void sensor_labels(
	const struct proc_root *root, const struct tree_match *m, struct strbuf *labels)
{
	char buf[SYSATTR_MAX];

	if (sysattr_read(root, buf, "/sys/class/hwmon/%s/temp%s_label", m->star[0], m->star[1]))
		label_add(labels, "label", buf);
	if (sysattr_link(root, buf, "/sys/class/hwmon/%s/device", m->star[0]))
		label_add(labels, "members", buf);
}

static const char *const patterns[] = {TEMP "input", NULL};

static const struct tree_def def = {
	.what = "temperature sensors",
	.schema = &schema,
	.patterns = patterns,
	.files = files,
	.n_files = ARRAY_SIZE(files),
	.name = sensor_name,
	.labels = sensor_labels,
};

static int sensor_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return tree_open(&def, config, ret_state, err);
}

extern const struct collector collector_hwmon;
const struct collector collector_hwmon = {
	.name = "hwmon",
	.summary = "temperatures of processors, drives and boards",
	.description = "Records each temperature in /sys/class/hwmon with its limits and its "
		       "alarm, every ten seconds. "
		       "It is context: a drive that is too hot is slow on purpose.",
	.schema = &schema,
	.if_present = true,
	.open = sensor_open,
	.sample = tree_sample,
	.close = tree_close,
};
