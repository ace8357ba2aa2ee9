/* Network interfaces: every column of /proc/net/dev.
 *
 * The file shows the network namespace in which it was opened, and goes on showing it. The kernel
 * lists interfaces by their ifindex, so a renamed interface keeps its line: that a line changed its
 * name is how a rename is noticed.
 */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/roster.h"
#include "collect/sysattr.h"
#include <errno.h>
#include <string.h>

#define COUNTER LP_COUNTER, 64

static const struct lp_column columns[NET_N_COLUMNS] = {
	[NET_RX_BYTES] = {"rx_bytes", "bytes", COUNTER},
	[NET_RX_PACKETS] = {"rx_packets", "packets", COUNTER},
	[NET_RX_ERRS] = {"rx_errs", "packets", COUNTER},
	[NET_RX_DROP] = {"rx_drop", "packets", COUNTER},
	[NET_RX_FIFO] = {"rx_fifo", "packets", COUNTER},
	[NET_RX_FRAME] = {"rx_frame", "packets", COUNTER},
	[NET_RX_COMPRESSED] = {"rx_compressed", "packets", COUNTER},
	[NET_RX_MULTICAST] = {"rx_multicast", "packets", COUNTER},
	[NET_TX_BYTES] = {"tx_bytes", "bytes", COUNTER},
	[NET_TX_PACKETS] = {"tx_packets", "packets", COUNTER},
	[NET_TX_ERRS] = {"tx_errs", "packets", COUNTER},
	[NET_TX_DROP] = {"tx_drop", "packets", COUNTER},
	[NET_TX_FIFO] = {"tx_fifo", "packets", COUNTER},
	[NET_TX_COLLS] = {"tx_colls", "collisions", COUNTER},
	[NET_TX_CARRIER] = {"tx_carrier", "errors", COUNTER},
	[NET_TX_COMPRESSED] = {"tx_compressed", "packets", COUNTER},
};

static const struct lp_schema schema = {"net", columns, ARRAY_SIZE(columns)};

struct nets {
	const struct collect_config *config;
	struct procfile file;
	struct roster roster;
	bool warned;
};

static void nets_close(void *state)
{
	struct nets *n = state;

	if (!n)
		return;
	procfile_close(&n->file);
	roster_release(&n->roster);
	free(n);
}

static int nets_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	_cleanup_free_ struct nets *n = calloc(1, sizeof(*n));
	int r;

	if (!n)
		return lp_err_sys(err, -ENOMEM, "cannot collect netdev");
	n->config = config;
	r = procfile_open(&n->file, config->root, "/proc/net/dev", err);
	if (r < 0)
		return r;
	*ret_state = TAKE_PTR(n);
	return 0;
}

/* The loopback has no peer that it could be compared with. */
static bool nets_want(const struct collect_config *config, const char *name)
{
	switch (collect_choose(config->nets, config->n_nets, name)) {
	case COLLECT_NAMED:
		return true;
	case COLLECT_EXCLUDED:
		return false;
	case COLLECT_UNNAMED:
		break;
	}
	return strcmp(name, "lo") != 0;
}

/* The number that an interface keeps under every name; 0 if it cannot be found out. */
static uint64_t nets_ifindex(const struct proc_root *root, const char *name)
{
	char buf[SYSATTR_MAX];
	const char *p = buf;
	uint64_t ifindex;

	if (!sysattr_read(root, buf, "/sys/class/net/%s/ifindex", name) || !scan_u64(&p, &ifindex))
		return 0;
	return ifindex;
}

static char *nets_labels(const struct proc_root *root, const char *name, uint64_t ifindex)
{
	struct strbuf labels = {0};
	char buf[SYSATTR_MAX];

	if (ifindex) {
		snprintf(buf, sizeof(buf), "%llu", (unsigned long long)ifindex);
		label_add(&labels, "ifindex", buf);
	}
	/* Interfaces without a link say -1, or nothing at all. */
	if (sysattr_read(root, buf, "/sys/class/net/%s/speed", name) && buf[0] != '-')
		label_add(&labels, "speed", buf);
	if (sysattr_read(root, buf, "/sys/class/net/%s/address", name))
		label_add(&labels, "mac", buf);
	if (sysattr_link(root, buf, "/sys/class/net/%s/device/driver", name))
		label_add(&labels, "driver", buf);
	return strbuf_take(&labels);
}

/* An interface appeared, came back or was replaced: find out what it is. */
static int nets_identify(struct nets *n, struct collect_sink *sink, struct roster_entry *e,
	uint64_t ifindex, struct lp_err *err)
{
	_cleanup_free_ char *labels = NULL;

	e->identity = ifindex;
	e->wanted = nets_want(n->config, e->name);
	if (!e->wanted)
		return 0;
	labels = nets_labels(n->config->root, e->name, ifindex);
	if (!labels)
		return lp_err_sys(err, -ENOMEM, "cannot describe interface %s", e->name);
	return collect_add_named(sink, &schema, n->config->observer, e->name, labels, &e->row, err);
}

static int nets_line(
	struct nets *n, struct collect_sink *sink, const struct net_line *line, struct lp_err *err)
{
	struct roster_entry *e;
	int hit = roster_next(&n->roster, line->name, line->len, &e);
	bool fresh, back;

	if (hit < 0)
		return lp_err_sys(err, hit, "cannot remember an interface");
	if (hit == ROSTER_TWICE)
		return 0;
	back = roster_went_back(e, line->values[NET_RX_BYTES], line->values[NET_TX_BYTES]);
	fresh = hit == ROSTER_NEW || back;
	if (hit != ROSTER_SAME || back) {
		uint64_t ifindex = nets_ifindex(n->config->root, e->name);
		int r = 0;

		/* Without a number nothing proves that this is the interface it was. */
		fresh = fresh || !ifindex || ifindex != e->identity;
		if (fresh)
			r = nets_identify(n, sink, e, ifindex, err);
		if (r < 0)
			return r;
	}
	return e->wanted ? collect_store(sink, &e->row, fresh, line->values, err) : 0;
}

static int nets_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct nets *n = state;
	int r = procfile_read(&n->file, err);
	const char *p = n->file.text;

	if (r < 0)
		return r;
	roster_begin(&n->roster);
	while (r == 0 && *p) {
		const char *start = p;
		struct net_line line;
		enum parse_result got = parse_netdev_line(&p, &line);

		if (got == PARSE_OK)
			r = nets_line(n, sink, &line, err);
		else if (got == PARSE_BAD)
			collect_bad_line(sink, &n->file, start, &n->warned);
	}
	return r;
}

const struct collector collector_netdev = {
	.name = "netdev",
	.summary = "network interfaces: bytes, packets, errors and drops",
	.description =
		"Records every column of /proc/net/dev for the interfaces of this network "
		"namespace. The loopback interface is recorded only if a glob of --nets matches "
		"its name. A renamed interface goes on under its new name; no rate is computed "
		"across the change.",
	.schema = &schema,
	.open = nets_open,
	.sample = nets_sample,
	.close = nets_close,
};
