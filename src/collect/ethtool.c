/* Network adapters: the statistics of ethtool -S, from the kernel's interface. */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/ethtool_names.h"
#include "collect/parse_sys.h"
#include "collect/sysattr.h"
#include "collect/tree.h"
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNTER LP_COUNTER, 64

static const struct lp_column columns[LINK_N] = {
	[LINK_CRC_ERRORS] = {"crc_errors", "packets", COUNTER},
	[LINK_RX_DROPS] = {"rx_drops", "packets", COUNTER},
	[LINK_TX_DROPS] = {"tx_drops", "packets", COUNTER},
	[LINK_QUEUE_DROPS] = {"queue_drops", "packets", COUNTER},
	[LINK_PAUSE_RX] = {"pause_rx", "frames", COUNTER},
	[LINK_PAUSE_TX] = {"pause_tx", "frames", COUNTER},
	[LINK_SPEED_MBPS] = {"speed_mbps", "Mb/s", LP_GAUGE, 0},
	[LINK_MAX_MBPS] = {"max_mbps", "Mb/s", LP_GAUGE, 0},
	[LINK_CARRIER_CHANGES] = {"carrier_changes", "changes", COUNTER},
};

static const struct lp_schema schema = {"link", columns, ARRAY_SIZE(columns)};

/* Adapters with hundreds of queues have thousands of statistics. */
#define STATS_MAX 16384
#define ADAPTERS_MAX 64

struct adapter {
	char name[IFNAMSIZ];
	unsigned n_stats;
	int8_t *column; /* [statistic] the column to which it is added; -1: none */
	struct ethtool_stats *stats;
	int64_t values[LINK_N];
	struct collect_row row;
	bool known, seen;
};

struct adapters {
	const struct collect_config *config;
	int fd;
	struct adapter items[ADAPTERS_MAX];
	unsigned n;
	int64_t scanned_us, read_us; /* -1: never */
};

static int ask(int fd, const char *name, void *data)
{
	struct ifreq request = {.ifr_data = data};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	return ioctl(fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

static void adapter_release(struct adapter *a)
{
	free(a->column);
	free(a->stats);
	*a = (struct adapter){0};
}

static void adapters_close(void *state)
{
	struct adapters *s = state;

	if (!s)
		return;
	for (unsigned i = 0; i < s->n; i++)
		adapter_release(&s->items[i]);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

/* The number of its statistics; 0 if the driver has none. */
static unsigned count_stats(int fd, const char *name)
{
	union {
		struct ethtool_sset_info info;
		uint8_t room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} set = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS}};
	uint32_t n;

	if (ask(fd, name, &set) < 0 || !set.info.sset_mask)
		return 0;
	memcpy(&n, set.room + sizeof(set.info), sizeof(n));
	return n > STATS_MAX ? 0 : n;
}

/* Read the names of its statistics. */
static int adapter_learn(int fd, struct adapter *a)
{
	_cleanup_free_ struct ethtool_gstrings *names = NULL;
	unsigned wanted = 0;

	a->n_stats = count_stats(fd, a->name);
	if (!a->n_stats)
		return -ENODATA;
	names = calloc(1, sizeof(*names) + (size_t)a->n_stats * ETH_GSTRING_LEN);
	a->column = calloc(a->n_stats, sizeof(*a->column));
	a->stats = calloc(1, sizeof(*a->stats) + a->n_stats * sizeof(a->stats->data[0]));
	if (!names || !a->column || !a->stats)
		return -ENOMEM;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_STATS;
	names->len = a->n_stats;
	if (ask(fd, a->name, names) < 0 || names->len != a->n_stats)
		return -ENODATA;
	for (unsigned i = 0; i < a->n_stats; i++) {
		char name[ETH_GSTRING_LEN + 1] = "";

		memcpy(name, names->data + (size_t)i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
		a->column[i] = (int8_t)ethtool_parse_name(name);
		wanted += a->column[i] >= 0;
	}
	return wanted ? 0 : -ENODATA;
}

/* Adapters are interfaces with a device; others are recorded only if they are named. */
static bool is_wanted(const struct adapters *s, const char *name)
{
	enum collect_choice choice = collect_choose(s->config->nets, s->config->n_nets, name);

	if (choice != COLLECT_UNNAMED)
		return choice != COLLECT_EXCLUDED;
	return sysattr_exists(s->config->root, "/sys/class/net/%s/device", name);
}

static int on_interface(struct adapters *s, const char *name)
{
	struct adapter a = {.seen = true};
	int r;

	for (unsigned i = 0; i < s->n; i++) {
		if (!strcmp(s->items[i].name, name)) {
			s->items[i].seen = true;
			return 0;
		}
	}
	if (s->n >= ADAPTERS_MAX || !is_wanted(s, name))
		return 0;
	snprintf(a.name, sizeof(a.name), "%s", name);
	for (unsigned i = 0; i < LINK_N; i++)
		a.values[i] = LP_MISSING;
	r = adapter_learn(s->fd, &a);
	if (r < 0)
		adapter_release(&a);
	else
		s->items[s->n++] = a;
	return r == -ENOMEM ? r : 0;
}

static int adapters_scan(struct adapters *s)
{
	struct if_nameindex *all = if_nameindex();
	unsigned kept = 0;
	int r = 0;

	for (unsigned i = 0; i < s->n; i++)
		s->items[i].seen = false;
	for (unsigned i = 0; all && r == 0 && all[i].if_name; i++)
		r = on_interface(s, all[i].if_name);
	if (all)
		if_freenameindex(all);
	for (unsigned i = 0; r == 0 && i < s->n; i++) {
		if (s->items[i].seen)
			s->items[kept++] = s->items[i];
		else
			adapter_release(&s->items[i]);
	}
	s->n = r == 0 ? kept : s->n;
	return r;
}

static int adapters_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	struct adapters *s;
	int r;

	if (*config->root->dir)
		return lp_err_set(
			err, -EOPNOTSUPP, "ethtool queries the kernel and cannot be replayed");
	s = calloc(1, sizeof(*s));
	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot watch network adapters");
	s->config = config;
	s->scanned_us = s->read_us = -1;
	/* Any socket works, and the service may be restricted to this family. */
	s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	r = s->fd < 0 ? -EOPNOTSUPP : adapters_scan(s);
	if (r < 0 || !s->n) {
		adapters_close(s);
		return r < 0 ? lp_err_sys(err, r, "cannot watch network adapters")
			     : lp_err_set(err, -ENOENT,
				       "no network adapter here has its own statistics");
	}
	*ret_state = s;
	return 0;
}

static void read_attribute(
	const struct adapters *s, struct adapter *a, const char *file, unsigned column)
{
	char text[SYSATTR_MAX];
	int64_t value;

	if (sysattr_read(s->config->root, text, "/sys/class/net/%s/%s", a->name, file) &&
		parse_number(text, &value) && value >= 0)
		a->values[column] = value;
}

/* Its highest speed so far is assumed to be its maximum speed. */
static void adapter_read(struct adapters *s, struct adapter *a)
{
	int64_t fastest = a->values[LINK_MAX_MBPS];

	for (unsigned i = 0; i < LINK_N; i++)
		a->values[i] = LP_MISSING;
	a->stats->cmd = ETHTOOL_GSTATS;
	a->stats->n_stats = a->n_stats;
	if (ask(s->fd, a->name, a->stats) == 0 && a->stats->n_stats == a->n_stats) {
		for (unsigned i = 0; i < a->n_stats; i++) {
			int64_t *v = a->column[i] < 0 ? NULL : &a->values[a->column[i]];

			if (v)
				*v = (int64_t)(((uint64_t)(*v == LP_MISSING ? 0 : *v) +
						       a->stats->data[i]) &
					INT64_MAX);
		}
	}
	read_attribute(s, a, "speed", LINK_SPEED_MBPS);
	read_attribute(s, a, "carrier_changes", LINK_CARRIER_CHANGES);
	a->values[LINK_MAX_MBPS] =
		fastest > a->values[LINK_SPEED_MBPS] ? fastest : a->values[LINK_SPEED_MBPS];
}

static int adapter_store(
	struct adapters *s, struct adapter *a, struct collect_sink *sink, struct lp_err *err)
{
	bool fresh = !a->known || !collect_holds(sink, &a->row);
	int r = 0;

	if (fresh)
		r = collect_add_named(
			sink, &schema, s->config->observer, a->name, "", &a->row, err);
	if (r < 0)
		return r;
	a->known = true;
	return collect_store(sink, &a->row, fresh, a->values, err);
}

static int adapters_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct adapters *s = state;
	int64_t now_us = sink->batch->mono_us[sink->batch->n_samples - 1];
	bool due = s->read_us < 0 || now_us - s->read_us >= TREE_SLOW_US;
	int r = 0;

	if (s->scanned_us < 0)
		s->scanned_us = now_us;
	if (now_us - s->scanned_us >= 2 * TREE_RESCAN_US) {
		r = adapters_scan(s);
		s->scanned_us = now_us;
	}
	if (r < 0)
		return lp_err_sys(err, r, "cannot look for network adapters");
	s->read_us = due ? now_us : s->read_us;
	for (unsigned i = 0; r == 0 && i < s->n; i++) {
		if (due || !s->items[i].known)
			adapter_read(s, &s->items[i]);
		r = adapter_store(s, &s->items[i], sink, err);
	}
	return r;
}

extern const struct collector collector_ethtool;
const struct collector collector_ethtool = {
	.name = "ethtool",
	.summary = "network adapters: bad frames, pause frames, drops of their queues",
	.description =
		"Records what ethtool -S shows of each network adapter, every ten seconds: frames "
		"with bad checksums, packets that were dropped by the adapter or by one of its "
		"queues, pause frames; and the speed of its link. Every driver has its own names "
		"for these, which limpet recognises by the words in them. Interfaces without an "
		"adapter (bridges, veth) are recorded only if --nets names them.",
	.schema = &schema,
	.if_present = true,
	.open = adapters_open,
	.sample = adapters_sample,
	.close = adapters_close,
};
