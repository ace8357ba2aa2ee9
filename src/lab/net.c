#include "lab/net.h"

#include "base/cleanup.h"
#include "lab/owned.h"
#include "lab/tool.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>

#define NETNS_DIR "/run/netns"
#define BURST_MIN                                                                                  \
	16384 /* some full frames: with less, the kernel's timers cannot keep the rate             \
	       */

const char *net_switch(const char *lab_name, char buf[NETNS_MAX])
{
	snprintf(buf, NETNS_MAX, "limpet-%.*s-sw", LAB_NAME_MAX, lab_name);
	return buf;
}

static bool netns_exists(const char *netns)
{
	char path[128];

	snprintf(path, sizeof(path), NETNS_DIR "/%s", netns);
	return access(path, F_OK) == 0;
}

/* The alias of its loopback interface names the lab of a namespace, even if the directory of the
 * lab is lost. */
static void netns_mark(const char *lab_name, char *buf, size_t size)
{
	snprintf(buf, size, "limpet-lab-%s", lab_name);
}

static bool netns_marked(const char *lab_name, const char *netns)
{
	_cleanup_free_ char *text = NULL;
	char mark[64];

	netns_mark(lab_name, mark, sizeof(mark));
	return tool_output(&text, NULL, "ip -n %s -o link show dev lo", netns) == 0 &&
		strstr(text, mark) && strstr(text, "alias");
}

static int netns_add(const struct lab *lab, const char *netns, struct lp_err *err)
{
	char mark[64];
	int r;

	netns_mark(lab->config.name, mark, sizeof(mark));
	if (netns_exists(netns))
		return lp_err_set(err, -EEXIST,
			"there is a network namespace '%s', which this lab did not make: use "
			"another "
			"name for the lab, or 'ip netns del %s' if it is not needed",
			netns, netns);
	r = owned_note(lab, "netns", netns, err);
	if (r == 0)
		r = tool_run(err, "ip netns add %s", netns);
	if (r == 0)
		r = tool_run(err, "ip -n %s link set dev lo alias %s up", netns, mark);
	/* No neighbour discovery, no automatic addresses. */
	if (r == 0)
		r = tool_run_in(netns, err,
			"sysctl -q -e -w net.ipv6.conf.all.disable_ipv6=1 "
			"net.ipv6.conf.default.disable_ipv6=1");
	if (r == 0) /* halves its window after a loss; if it is missing, the default is used */
		tool_run_in(netns, NULL, "sysctl -q -e -w net.ipv4.tcp_congestion_control=reno");
	return r;
}

static int bridge_add(const struct lab *lab, struct lp_err *err)
{
	char sw[NETNS_MAX];
	int r = netns_add(lab, net_switch(lab->config.name, sw), err);

	if (r == 0)
		r = tool_run(err, "ip -n %s link add br0 type bridge mcast_snooping 0", sw);
	if (r == 0)
		r = tool_run(err, "ip -n %s link set dev br0 up", sw);
	return r;
}

static int limit(const char *netns, const char *dev, uint32_t kbit, struct lp_err *err)
{
	uint32_t burst = kbit / 8 + kbit / 32; /* the bytes of slightly more than 1 ms */

	return tool_run(err,
		"tc -n %s qdisc replace dev %s root handle 1: tbf rate %ukbit burst %u "
		"latency 20ms",
		netns, dev, kbit, burst < BURST_MIN ? BURST_MIN : burst);
}

int net_link_rate(
	const struct lab *lab, const struct lab_node *node, uint32_t kbit, struct lp_err *err)
{
	char sw[NETNS_MAX];
	int r = limit(node->netns, "eth0", kbit, err);

	if (r == 0)
		r = limit(net_switch(lab->config.name, sw), node->name, kbit, err);
	return r;
}

/* The rate of an end of a link, in kbit/s. */
static int rate_read(const char *netns, const char *dev, uint64_t *ret, struct lp_err *err)
{
	static const char key[] = "\"rate\":";
	_cleanup_free_ char *text = NULL;
	const char *rate;
	int r = tool_output(&text, err, "tc -j -n %s qdisc show dev %s", netns, dev);

	if (r < 0)
		return r;
	rate = strstr(text, key);
	*ret = rate ? strtoull(rate + strlen(key), NULL, 10) * 8 / 1000 : 0; /* bytes a second */
	return 0;
}

int net_link_rates(const struct lab *lab, const struct lab_node *node, uint64_t *ret_slower,
	uint64_t *ret_faster, struct lp_err *err)
{
	uint64_t near = 0, far = 0;
	char sw[NETNS_MAX];
	int r = rate_read(node->netns, "eth0", &near, err);

	if (r == 0)
		r = rate_read(net_switch(lab->config.name, sw), node->name, &far, err);
	if (r < 0)
		return r;
	*ret_slower = near < far ? near : far;
	*ret_faster = near < far ? far : near;
	return 0;
}

/* Frames on the link must be like those on a wire, so that rates are right. */
static int offloads_off(const char *netns, const char *dev, struct lp_err *err)
{
	return tool_run_in(netns, err, "ethtool -K %s tso off gso off gro off", dev);
}

static int node_add(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char sw[NETNS_MAX];
	int r = netns_add(lab, node->netns, err);

	net_switch(lab->config.name, sw);
	if (r == 0)
		r = tool_run(err, "ip link add %s netns %s type veth peer name eth0 netns %s",
			node->name, sw, node->netns);
	if (r == 0)
		r = tool_run(err, "ip -n %s link set dev %s master br0 up", sw, node->name);
	if (r == 0)
		r = tool_run(err, "ip -n %s addr add %s/16 dev eth0", node->netns, node->address);
	if (r == 0)
		r = offloads_off(node->netns, "eth0", err);
	if (r == 0)
		r = offloads_off(sw, node->name, err);
	if (r == 0)
		r = net_link_rate(lab, node, lab->config.link_kbit, err);
	if (r == 0)
		r = tool_run(err, "ip -n %s link set dev eth0 up", node->netns);
	return r;
}

int net_up(const struct lab *lab, struct lp_err *err)
{
	int r = bridge_add(lab, err);

	for (unsigned i = 0; i < lab->n_nodes && r == 0; i++)
		r = node_add(lab, &lab->nodes[i], err);
	return r;
}

static int each_in(DIR *dir, const char *name, net_fn *fn, void *ctx, struct lp_err *err)
{
	char prefix[64];
	size_t len = (size_t)snprintf(prefix, sizeof(prefix), "limpet-%s-", name);
	int r = 0;

	for (struct dirent *e = readdir(dir); e && r >= 0; e = readdir(dir)) {
		if (strncmp(e->d_name, prefix, len) != 0)
			continue;
		r = fn(e->d_name,
			owned_has(name, "netns", e->d_name) || netns_marked(name, e->d_name), ctx,
			err);
	}
	return r;
}

int net_each(const char *name, net_fn *fn, void *ctx, struct lp_err *err)
{
	_cleanup_closedir_ DIR *dir = opendir(NETNS_DIR);

	if (!dir)
		return errno == ENOENT ? 0 : lp_err_sys(err, -errno, NETNS_DIR);
	return each_in(dir, name, fn, ctx, err);
}

static int netns_delete(const char *netns, bool own, void *ctx, struct lp_err *err)
{
	(void)ctx;
	return own ? tool_run(err, "ip netns del %s", netns) : 0;
}

int net_down(const char *name, struct lp_err *err)
{
	return net_each(name, netns_delete, NULL, err);
}
