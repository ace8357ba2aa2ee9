/* Network interfaces: every column of /proc/net/dev.
 *
 * The file shows the network namespace in which it was opened, even if the process changes to
 * another one. The kernel lists interfaces by their ifindex, so a renamed interface keeps its line:
 * a line with a changed name is a rename.
 */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/device_lines.h"
#include "collect/sysattr.h"
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
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

static void nets_close(void *state)
{
	if (state)
		device_lines_close(state);
	free(state);
}

static int nets_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	_cleanup_free_ struct device_lines *l = calloc(1, sizeof(*l));
	int r = l ? device_lines_open(l, config, "/proc/net/dev", err)
		  : lp_err_sys(err, -ENOMEM, "cannot collect netdev");

	if (r == 0)
		*ret_state = TAKE_PTR(l);
	return r;
}

/* The loopback interface has no peer to compare it with. */
static bool nets_want(const struct collect_config *config, const char *name)
{
	enum collect_choice choice = collect_choose(config->nets, config->n_nets, name);

	if (choice != COLLECT_UNNAMED)
		return choice != COLLECT_EXCLUDED;
	return strcmp(name, "lo") != 0;
}

/* The number that an interface keeps under every name, from /sys; 0 if it is unknown. */
static uint64_t nets_sys_ifindex(const struct proc_root *root, const char *name)
{
	char buf[SYSATTR_MAX];
	const char *p = buf;
	uint64_t ifindex;

	if (!sysattr_read(root, buf, "/sys/class/net/%s/ifindex", name) || !scan_u64(&p, &ifindex))
		return 0;
	return ifindex;
}

/* The same, from the running kernel: /sys may have been mounted in another network namespace, and
 * show its interfaces. */
static uint64_t nets_ifindex(const struct proc_root *root, const char *name)
{
	uint64_t ifindex = *root->dir ? 0 : if_nametoindex(name);

	return ifindex ? ifindex : nets_sys_ifindex(root, name);
}

static void nets_label_sys(struct strbuf *labels, const struct proc_root *root, const char *name)
{
	char buf[SYSATTR_MAX];

	/* Interfaces without a link show -1, or nothing at all. */
	if (sysattr_read(root, buf, "/sys/class/net/%s/speed", name) && buf[0] != '-')
		label_add(labels, "speed", buf);
	if (sysattr_read(root, buf, "/sys/class/net/%s/address", name))
		label_add(labels, "mac", buf);
	if (sysattr_link(root, buf, "/sys/class/net/%s/device/driver", name))
		label_add(labels, "driver", buf);
}

static char *nets_labels(const struct proc_root *root, const char *name, uint64_t ifindex)
{
	struct strbuf labels = {0};
	char number[24];

	if (ifindex) {
		snprintf(number, sizeof(number), "%" PRIu64, ifindex);
		label_add(&labels, "ifindex", number);
	}
	if (ifindex == nets_sys_ifindex(root, name))
		nets_label_sys(&labels, root, name);
	return strbuf_take(&labels);
}

/* An interface appeared, came back or was replaced: identify it. */
static int nets_identify(struct device_lines *l, struct collect_sink *sink, struct roster_entry *e,
	uint64_t ifindex, struct lp_err *err)
{
	_cleanup_free_ char *labels = NULL;

	e->identity = ifindex;
	e->wanted = nets_want(l->config, e->name);
	if (!e->wanted)
		return 0;
	labels = nets_labels(l->config->root, e->name, ifindex);
	if (!labels)
		return lp_err_sys(err, -ENOMEM, "cannot describe interface %s", e->name);
	return collect_add_named(sink, &schema, l->config->observer, e->name, labels, &e->row, err);
}

/* The line does not continue the previous one: is it the same interface? */
static int nets_check(struct device_lines *l, struct collect_sink *sink, struct roster_entry *e,
	bool *fresh, struct lp_err *err)
{
	uint64_t ifindex = nets_ifindex(l->config->root, e->name);

	/* Without a number it cannot be proved to be the same. */
	*fresh = *fresh || !ifindex || ifindex != e->identity;
	return *fresh ? nets_identify(l, sink, e, ifindex, err) : 0;
}

static int nets_line(
	struct device_lines *l, struct collect_sink *sink, const char **p, struct lp_err *err)
{
	struct roster_entry *e;
	struct net_line line;
	int r = parse_netdev_line(p, &line), hit;
	bool fresh;

	if (r != PARSE_OK)
		return r;
	hit = roster_next(&l->roster, line.name, line.len, &e);
	if (hit < 0)
		return lp_err_sys(err, hit, "cannot remember an interface");
	if (hit == ROSTER_TWICE)
		return 0;
	fresh = roster_went_back(e, line.values[NET_RX_BYTES], line.values[NET_TX_BYTES]) ||
		hit == ROSTER_NEW || (e->wanted && !collect_holds(sink, &e->row));
	r = fresh || hit != ROSTER_SAME ? nets_check(l, sink, e, &fresh, err) : 0;
	if (r < 0 || !e->wanted)
		return r;
	return collect_store(sink, &e->row, fresh, line.values, err);
}

static int nets_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	return device_lines_sample(state, sink, nets_line, err);
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
