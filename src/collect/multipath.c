/* Paths of multipath devices, by the state of the SCSI devices under them. */
#include "base/array.h"
#include "collect/parse_sys.h"
#include "collect/sysattr.h"
#include "collect/tree.h"
#include <stdio.h>
#include <string.h>

enum { RUNNING, TIMEOUTS, ERRORS, N_COLUMNS };

static const struct lp_column columns[N_COLUMNS] = {
	[RUNNING] = {"running", "0 or 1", LP_GAUGE, 0},
	[TIMEOUTS] = {"timeouts", "requests", LP_COUNTER, 64},
	[ERRORS] = {"errors", "requests", LP_COUNTER, 64},
};

static const struct lp_schema schema = {"path", columns, ARRAY_SIZE(columns)};

static unsigned path_state(const char *text, int64_t *values)
{
	values[RUNNING] = !strncmp(text, "running", 7) || !strncmp(text, "live", 4);
	return 1;
}

static unsigned path_timeouts(const char *text, int64_t *values)
{
	return parse_hex(text, &values[TIMEOUTS]);
}

static unsigned path_errors(const char *text, int64_t *values)
{
	return parse_hex(text, &values[ERRORS]);
}

#define SLAVE "/sys/block/dm-*/slaves/*/device/"

static const struct tree_file files[] = {
	{{SLAVE "state"}, path_state, 0, false},
	{{SLAVE "iotmo_cnt"}, path_timeouts, 0, true},
	{{SLAVE "ioerr_cnt"}, path_errors, 0, true},
};

/* The UUID of a device-mapper device shows whether it is a multipath device. */
static bool path_name(
	const struct proc_root *root, const struct tree_match *m, char ret[PARSE_NAME_MAX + 1])
{
	char uuid[SYSATTR_MAX], name[SYSATTR_MAX];
	int n;

	if (!sysattr_read(root, uuid, "/sys/block/dm-%s/dm/uuid", m->star[0]) ||
		strncmp(uuid, "mpath-", 6) != 0 ||
		!sysattr_read(root, name, "/sys/block/dm-%s/dm/name", m->star[0]))
		return false;
	n = snprintf(ret, PARSE_NAME_MAX + 1, "%s/%s", name, m->star[1]);
	return n > 0 && n <= PARSE_NAME_MAX;
}

static void path_labels(
	const struct proc_root *root, const struct tree_match *m, struct strbuf *labels)
{
	char members[2 * PARSE_NAME_MAX + 8];

	(void)root;
	snprintf(members, sizeof(members), "dm-%s,%s", m->star[0], m->star[1]);
	label_add(labels, "members", members);
}

static const char *const patterns[] = {"/sys/block/dm-*/slaves/*", NULL};

static const struct tree_def def = {
	.what = "multipath devices",
	.schema = &schema,
	.patterns = patterns,
	.files = files,
	.n_files = ARRAY_SIZE(files),
	.name = path_name,
	.labels = path_labels,
};

static int path_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return tree_open(&def, config, ret_state, err);
}

extern const struct collector collector_multipath;
const struct collector collector_multipath = {
	.name = "multipath",
	.summary = "paths of multipath devices: which of them work",
	.description = "Records, for each path of each multipath device (in "
		       "/sys/block/dm-*/slaves), whether it works "
		       "and how many of its requests failed or timed out.",
	.schema = &schema,
	.if_present = true,
	.open = path_open,
	.sample = tree_sample,
	.close = tree_close,
};
