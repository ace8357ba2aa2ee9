/* Lustre OSTs as a client sees them: osc.*.stats, rpc_stats and import. One OST is a component of
 * each client that uses it, an attachment. */
#include "base/array.h"
#include "collect/lustre_stats.h"
#include "collect/sysattr.h"
#include "collect/tree.h"
#include <stdio.h>
#include <string.h>

#define COUNTER LP_COUNTER, 64

enum {
	RPCS,
	WAIT_US,
	RD_BYTES,
	WR_BYTES,
	RD_RPCS,
	WR_RPCS,
	IN_FLIGHT,
	PENDING_PAGES,
	TIMEOUTS,
	ATTEMPTS,
	CONNECTED,
	N_COLUMNS,
};

static const struct lp_column columns[N_COLUMNS] = {
	[RPCS] = {"rpcs", "requests", COUNTER},
	[WAIT_US] = {"wait_us", "us", COUNTER},
	[RD_BYTES] = {"rd_bytes", "bytes", COUNTER},
	[WR_BYTES] = {"wr_bytes", "bytes", COUNTER},
	[RD_RPCS] = {"rd_rpcs", "requests", COUNTER},
	[WR_RPCS] = {"wr_rpcs", "requests", COUNTER},
	[IN_FLIGHT] = {"in_flight", "requests", LP_GAUGE, 0},
	[PENDING_PAGES] = {"pending_pages", "pages", LP_GAUGE, 0},
	[TIMEOUTS] = {"timeouts", "requests", COUNTER},
	[ATTEMPTS] = {"attempts", "connections", COUNTER},
	[CONNECTED] = {"connected", "0 or 1", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"osc", columns, ARRAY_SIZE(columns)};

static unsigned parse_stats(const char *text, int64_t *values)
{
	static const struct lustre_line lines[] = {
		{"req_waittime", "usec", RPCS, WAIT_US},
		{"read_bytes", "bytes", -1, RD_BYTES},
		{"write_bytes", "bytes", -1, WR_BYTES},
		{NULL, NULL, 0, 0},
	};

	return lustre_parse_stats(text, lines, values);
}

static int64_t sum(int64_t a, int64_t b)
{
	return a == LP_MISSING ? b : b == LP_MISSING ? a : a + b;
}

static unsigned parse_rpc_stats(const char *text, int64_t *values)
{
	struct lustre_rpc r;
	unsigned found = lustre_parse_rpc_stats(text, &r);

	values[RD_RPCS] = r.reads;
	values[WR_RPCS] = r.writes;
	values[IN_FLIGHT] = sum(r.read_in_flight, r.write_in_flight);
	values[PENDING_PAGES] = sum(r.pending_read, r.pending_write);
	return found;
}

static unsigned parse_import(const char *text, int64_t *values)
{
	struct lustre_import i;
	unsigned found = lustre_parse_import(text, &i);

	if (!found)
		return 0;
	values[TIMEOUTS] = i.timeouts;
	values[ATTEMPTS] = i.attempts;
	values[CONNECTED] = i.full;
	if (values[IN_FLIGHT] == LP_MISSING)
		values[IN_FLIGHT] = i.in_flight;
	return found;
}

#define IMPORT_PATHS                                                                               \
	"/proc/fs/lustre/osc/*/import", "/sys/kernel/debug/lustre/osc/*/import",                   \
		"/sys/fs/lustre/osc/*/import"

static const struct tree_file files[] = {
	{{"/proc/fs/lustre/osc/*/stats", "/sys/kernel/debug/lustre/osc/*/stats"}, parse_stats, 0,
		false},
	{{"/proc/fs/lustre/osc/*/rpc_stats", "/sys/kernel/debug/lustre/osc/*/rpc_stats"},
		parse_rpc_stats, 0, false},
	{{IMPORT_PATHS}, parse_import, 0, false},
};

/* "scratch-OST0003-osc-ffff88105db50000", one per mount, is the OST "scratch-OST0003". Connections
 * of an MDT ("-osc-MDT0000") belong to a server. */
static bool osc_name(
	const struct proc_root *root, const struct tree_match *m, char ret[PARSE_NAME_MAX + 1])
{
	const char *osc = strstr(m->star[0], "-osc-");

	(void)root;
	if (!osc || osc == m->star[0] || !strncmp(osc, "-osc-MDT", 8))
		return false;
	snprintf(ret, PARSE_NAME_MAX + 1, "%.*s", (int)(osc - m->star[0]), m->star[0]);
	return true;
}

static void osc_labels(
	const struct proc_root *root, const struct tree_match *m, struct strbuf *labels)
{
	static const char *const paths[] = {IMPORT_PATHS};
	struct lustre_import import;
	struct procfile f;
	char path[256], ost[PARSE_NAME_MAX + 1];

	if (osc_name(root, m, ost))
		label_add(labels, "ost", ost);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (!tree_path(paths[i], m, path, sizeof(path)) ||
			procfile_open(&f, root, path, NULL) < 0)
			continue;
		if (procfile_read(&f, NULL) == 0 && lustre_parse_import(f.text, &import) &&
			import.nid[0])
			label_add(labels, "nid", import.nid);
		procfile_close(&f);
		return;
	}
}

static const char *const patterns[] = {
	"/proc/fs/lustre/osc/*", "/sys/kernel/debug/lustre/osc/*", "/sys/fs/lustre/osc/*", NULL};

static const struct tree_def def = {
	.what = "Lustre OSTs of a client",
	.schema = &schema,
	.patterns = patterns,
	.files = files,
	.n_files = ARRAY_SIZE(files),
	.name = osc_name,
	.labels = osc_labels,
};

static int osc_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	return tree_open(&def, config, ret_state, err);
}

extern const struct collector collector_lustre_osc;
const struct collector collector_lustre_osc = {
	.name = "lustre_osc",
	.summary = "Lustre OSTs as this client sees them: waits, RPCs, connection",
	.description =
		"Records how long requests to each OST take (osc.*.stats), how many are under way "
		"(rpc_stats), and whether the client is connected to it (import). The component "
		"has the OST's name, so that an OST which is slow for all its clients can be "
		"distinguished from a client which is slow with all its OSTs.",
	.schema = &schema,
	.if_present = true,
	.open = osc_open,
	.sample = tree_sample,
	.close = tree_close,
};
