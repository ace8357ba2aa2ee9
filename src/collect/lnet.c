/* LNet: the credits of each network interface, and the traffic of all of them. */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/device_lines.h"
#include "collect/lustre_stats.h"
#include <errno.h>
#include <string.h>

#define COUNTER LP_COUNTER, 64

static const struct lp_column columns[LNET_N] = {
	[LNET_UP] = {"up", "0 or 1", LP_GAUGE, 0},
	[LNET_CREDITS_MAX] = {"credits_max", "credits", LP_GAUGE, 0},
	[LNET_CREDITS] = {"credits", "credits", LP_GAUGE, 0},
	[LNET_CREDITS_MIN] = {"credits_min", "credits", LP_GAUGE, 0},
	[LNET_SENT] = {"sent", "messages", COUNTER},
	[LNET_RECEIVED] = {"received", "messages", COUNTER},
	[LNET_DROPPED] = {"dropped", "messages", COUNTER},
	[LNET_TX_BYTES] = {"tx_bytes", "bytes", COUNTER},
	[LNET_RX_BYTES] = {"rx_bytes", "bytes", COUNTER},
};

static const struct lp_schema schema = {"lnet", columns, ARRAY_SIZE(columns)};

struct lnet {
	struct device_lines nis; /* must be first: a pointer to it is a pointer to the whole
				  * struct */
	struct lnet_heading heading;
	struct procfile stats; /* fd -1: none */
	struct collect_row all;
	bool known;
};

static void lnet_close(void *state)
{
	struct lnet *l = state;

	if (!l)
		return;
	device_lines_close(&l->nis);
	procfile_close(&l->stats);
	free(l);
}

static int lnet_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	_cleanup_free_ struct lnet *l = calloc(1, sizeof(*l));

	if (!l)
		return lp_err_sys(err, -ENOMEM, "cannot collect lnet");
	if (device_lines_open(&l->nis, config, "/sys/kernel/debug/lnet/nis", NULL) < 0 &&
		device_lines_open(&l->nis, config, "/proc/sys/lnet/nis", NULL) < 0)
		return lp_err_set(err, -ENOENT, "there is no LNet here");
	if (procfile_open(&l->stats, config->root, "/sys/kernel/debug/lnet/stats", NULL) < 0)
		procfile_open(&l->stats, config->root, "/proc/sys/lnet/stats", NULL);
	*ret_state = TAKE_PTR(l);
	return 0;
}

static int nis_line(
	struct device_lines *d, struct collect_sink *sink, const char **p, struct lp_err *err)
{
	struct lnet *l = (struct lnet *)d;
	int64_t values[LNET_N];
	struct roster_entry *e;
	const char *name;
	size_t len;
	bool fresh;
	int r = lnet_parse_ni(p, &l->heading, &name, &len, values);

	if (r != PARSE_OK)
		return r;
	r = roster_next(&d->roster, name, len, &e);
	if (r < 0)
		return lp_err_sys(err, r, "cannot remember an interface of LNet");
	if (r == ROSTER_TWICE)
		return 0;
	fresh = r == ROSTER_NEW || !collect_holds(sink, &e->row);
	if (fresh) {
		r = collect_add_named(
			sink, &schema, d->config->observer, e->name, "", &e->row, err);
		if (r < 0)
			return r;
	}
	return collect_store(sink, &e->row, fresh, values, err);
}

/* The traffic of the host on all interfaces. */
static int sample_all(struct lnet *l, struct collect_sink *sink, struct lp_err *err)
{
	bool fresh = !l->known || !collect_holds(sink, &l->all);
	int64_t values[LNET_N];
	int r = 0;

	if (l->stats.fd < 0 || procfile_read(&l->stats, NULL) < 0 ||
		!lnet_parse_stats(l->stats.text, values))
		return 0;
	if (fresh)
		r = collect_add_component(
			sink, &schema, l->nis.config->observer, "all", "", &l->all, err);
	if (r < 0)
		return r;
	l->known = true;
	return collect_store(sink, &l->all, fresh, values, err);
}

static int lnet_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct lnet *l = state;
	int r;

	l->heading = (struct lnet_heading){0};
	r = device_lines_sample(&l->nis, sink, nis_line, err);
	return r < 0 ? r : sample_all(l, sink, err);
}

extern const struct collector collector_lnet;
const struct collector collector_lnet = {
	.name = "lnet",
	.summary = "LNet: credits of each interface, messages and bytes",
	.description =
		"Records the credits of each network interface of LNet (nis), and what the host "
		"sent, received and dropped in all (stats, the component \"all\"). An interface "
		"whose fewest credits are below zero has had messages waiting for it.",
	.schema = &schema,
	.if_present = true,
	.open = lnet_open,
	.sample = lnet_sample,
	.close = lnet_close,
};
