/* The energy that processors and their memory use, from their own counters (RAPL). */
#include "base/array.h"
#include "collect/sysattr.h"
#include "collect/tree.h"
#include <stdio.h>
#include <string.h>

enum { ENERGY_UJ, N_COLUMNS };

static const struct lp_column columns[N_COLUMNS] = {
	[ENERGY_UJ] = {"energy_uj", "uJ", LP_COUNTER, 64},
};

static const struct lp_schema schema = {"power", columns, ARRAY_SIZE(columns)};

#define ZONE "/sys/class/powercap/intel-rapl:*/"

static const struct tree_file files[] = {{{ZONE "energy_uj"}, NULL, ENERGY_UJ, false}};

/* "package-0", "package-0-dram": a zone inside another zone has the name of that zone as a
 * prefix. */
static bool zone_name(
	const struct proc_root *root, const struct tree_match *m, char ret[PARSE_NAME_MAX + 1])
{
	char name[SYSATTR_MAX], outer[SYSATTR_MAX];
	size_t outer_len = strcspn(m->star[0], ":");
	int n;

	if (!sysattr_read(root, name, "/sys/class/powercap/intel-rapl:%s/name", m->star[0]))
		return false;
	if (m->star[0][outer_len] &&
		sysattr_read(root, outer, "/sys/class/powercap/intel-rapl:%.*s/name",
			(int)outer_len, m->star[0]))
		n = snprintf(ret, PARSE_NAME_MAX + 1, "%.24s-%.24s", outer, name);
	else
		n = snprintf(ret, PARSE_NAME_MAX + 1, "%.48s", name);
	return n > 0 && n <= PARSE_NAME_MAX;
}

static const char *const patterns[] = {ZONE "energy_uj", NULL};

static const struct tree_def def = {
	.what = "zones of power",
	.schema = &schema,
	.patterns = patterns,
	.files = files,
	.n_files = ARRAY_SIZE(files),
	.name = zone_name,
};

static int rapl_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return tree_open(&def, config, ret_state, err);
}

extern const struct collector collector_rapl;
const struct collector collector_rapl = {
	.name = "rapl",
	.summary = "energy of processors and memory",
	.description = "Records the energy counters of processors, their parts and their memory "
		       "in /sys/class/powercap (RAPL), where the machine has them. Only root may "
		       "read them.",
	.schema = &schema,
	.if_present = true,
	.open = rapl_open,
	.sample = tree_sample,
	.close = tree_close,
};
