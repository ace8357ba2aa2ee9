/* Ceph OSDs of this host: their admin sockets.
 *
 * A question is sent in one sample and its answer is read in a later one. So an OSD that hangs
 * delays no sample; it just has no values.
 */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/ceph_parse.h"
#include "collect/tree.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define COUNTER LP_COUNTER, 64

static const struct lp_column columns[CEPH_N] = {
	[CEPH_OPS] = {"ops", "requests", COUNTER},
	[CEPH_OP_US] = {"op_us", "us", COUNTER},
	[CEPH_RD_OPS] = {"rd_ops", "requests", COUNTER},
	[CEPH_RD_US] = {"rd_us", "us", COUNTER},
	[CEPH_WR_OPS] = {"wr_ops", "requests", COUNTER},
	[CEPH_WR_US] = {"wr_us", "us", COUNTER},
	[CEPH_SUBOPS] = {"subops", "requests", COUNTER},
	[CEPH_SUBOP_US] = {"subop_us", "us", COUNTER},
	[CEPH_RD_BYTES] = {"rd_bytes", "bytes", COUNTER},
	[CEPH_WR_BYTES] = {"wr_bytes", "bytes", COUNTER},
	[CEPH_IN_PROGRESS] = {"in_progress", "requests", LP_GAUGE, 0},
	[CEPH_COMMITS] = {"commits", "transactions", COUNTER},
	[CEPH_COMMIT_US] = {"commit_us", "us", COUNTER},
	[CEPH_APPLIES] = {"applies", "transactions", COUNTER},
	[CEPH_APPLY_US] = {"apply_us", "us", COUNTER},
	[CEPH_KVS] = {"kvs", "transactions", COUNTER},
	[CEPH_KV_US] = {"kv_us", "us", COUNTER},
	[CEPH_RECOVERIES] = {"recoveries", "objects", COUNTER},
	[CEPH_SLOWEST_US] = {"slowest_us", "us", LP_GAUGE, 0},
};

static const struct lp_schema schema = {"osd", columns, ARRAY_SIZE(columns)};

#define SOCKET_PATTERN "/var/run/ceph/*.asok"
#define OSDS_MAX 256
#define ANSWER_MAX ((size_t)4 * 1024 * 1024)
#define ANSWER_FIRST ((size_t)128 * 1024)
#define ASK_US (2 * US_PER_SEC)
#define ASK_HISTORIC_US (60 * US_PER_SEC)
/* An OSD that does not answer for this long has no values. */
#define SILENT_US (15 * US_PER_SEC)

enum question { ASK_PERF, ASK_HISTORIC };

static const char *const questions[] = {
	[ASK_PERF] = "{\"prefix\": \"perf dump\"}",
	[ASK_HISTORIC] = "{\"prefix\": \"dump_historic_ops\"}",
};

struct osd {
	struct tree_match match;
	char name[PARSE_NAME_MAX + 1]; /* "osd.3", or "CLUSTER-osd.3" */
	int fd;			       /* of the current question; -1: none */
	enum question question;
	int64_t asked_us, heard_us, historic_us; /* -1: never */
	char *text;				 /* the answer so far, without its length */
	size_t len, cap;
	int64_t values[CEPH_N];
	struct collect_row row;
	bool known, seen;
};

struct ceph {
	const struct collect_config *config;
	struct osd osds[OSDS_MAX];
	unsigned n;
	int64_t scanned_us;
};

static void osd_release(struct osd *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	free(o->text);
	o->text = NULL;
}

static void ceph_close(void *state)
{
	struct ceph *c = state;

	for (unsigned i = 0; c && i < c->n; i++)
		osd_release(&c->osds[i]);
	free(c);
}

/* "ceph-osd.3" becomes the OSD "osd.3"; the names of other clusters are kept: "prod-osd.3".
 * Monitors and other daemons have sockets, too. */
static int on_socket(void *ctx, const struct tree_match *m)
{
	const char *osd = strstr(m->star[0], "-osd.");
	bool plain = !strncmp(m->star[0], "ceph-", 5);
	struct ceph *c = ctx;
	struct osd o = {.match = *m,
		.fd = -1,
		.asked_us = -1,
		.heard_us = -1,
		.historic_us = -1,
		.seen = true};

	if (!osd)
		return 0;
	snprintf(o.name, sizeof(o.name), "%s", plain ? osd + 1 : m->star[0]);
	for (unsigned i = 0; i < c->n; i++) {
		if (!strcmp(c->osds[i].name, o.name)) {
			c->osds[i].seen = true;
			return 0;
		}
	}
	for (unsigned i = 0; i < CEPH_N; i++)
		o.values[i] = LP_MISSING;
	o.cap = ANSWER_FIRST;
	o.text = c->n < OSDS_MAX ? malloc(o.cap) : NULL;
	if (!o.text)
		return c->n < OSDS_MAX ? -ENOMEM : 0;
	c->osds[c->n++] = o;
	return 0;
}

static int ceph_scan(struct ceph *c)
{
	unsigned kept = 0;
	int r;

	for (unsigned i = 0; i < c->n; i++)
		c->osds[i].seen = false;
	r = tree_walk(c->config->root, SOCKET_PATTERN, on_socket, c);
	for (unsigned i = 0; r == 0 && i < c->n; i++) {
		if (c->osds[i].seen)
			c->osds[kept++] = c->osds[i];
		else
			osd_release(&c->osds[i]);
	}
	c->n = r == 0 ? kept : c->n;
	return r;
}

static int ceph_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	struct ceph *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return lp_err_sys(err, -ENOMEM, "cannot watch Ceph");
	c->config = config;
	c->scanned_us = -1;
	r = ceph_scan(c);
	if (r < 0 || !c->n) {
		ceph_close(c);
		return r < 0 ? lp_err_sys(err, r, "cannot watch Ceph")
			     : lp_err_set(err, -ENOENT, "there are no OSDs of Ceph here");
	}
	*ret_state = c;
	return 0;
}

/* Connect and send a question, without waiting. */
static void osd_ask(struct ceph *c, struct osd *o, enum question question, int64_t now_us)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *text = questions[question];
	char path[PATH_MAX];
	int n;

	if (!tree_path(SOCKET_PATTERN, &o->match, path, sizeof(path)))
		return;
	n = snprintf(
		address.sun_path, sizeof(address.sun_path), "%s%s", c->config->root->dir, path);
	if (n < 0 || n >= (int)sizeof(address.sun_path))
		return;
	o->asked_us = now_us;
	o->question = question;
	o->len = 0;
	o->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (o->fd < 0)
		return;
	/* The NUL ends the question. */
	if (connect(o->fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		send(o->fd, text, strlen(text) + 1, MSG_NOSIGNAL) != (ssize_t)strlen(text) + 1) {
		close(o->fd);
		o->fd = -1;
	}
}

/* The length of the answer, from its first four bytes; 0 if these have not arrived yet. */
static size_t answer_length(const struct osd *o)
{
	const unsigned char *b = (const unsigned char *)o->text;

	if (o->len < 4)
		return 0;
	return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

static bool answer_grow(struct osd *o)
{
	size_t need = answer_length(o) + 5;
	char *grown;

	if (need > ANSWER_MAX)
		return false;
	if (need <= o->cap)
		return true;
	grown = realloc(o->text, need);
	if (!grown)
		return false;
	o->text = grown;
	o->cap = need;
	return true;
}

/* Read available data. Returns 1 if the answer is complete, 0 if not yet, -1 if none will come. */
static int osd_receive(struct osd *o)
{
	for (;;) {
		size_t whole = o->len < 4 ? 4 : answer_length(o) + 4;
		ssize_t n;

		if (o->len >= 4 && o->len == whole)
			return 1;
		if (!answer_grow(o))
			return -1;
		n = recv(o->fd, o->text + o->len, whole - o->len, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (n <= 0)
			return -1;
		o->len += (size_t)n;
	}
}

static void osd_take(struct osd *o, int64_t now_us)
{
	const char *text = o->text + 4;

	o->text[o->len] = '\0';
	if (o->question == ASK_HISTORIC) {
		ceph_parse_historic(text, &o->values[CEPH_SLOWEST_US]);
		o->historic_us = now_us;
		return;
	}
	for (unsigned i = 0; i < CEPH_SLOWEST_US; i++)
		o->values[i] = LP_MISSING;
	if (ceph_parse_perf(text, o->values))
		o->heard_us = now_us;
}

static void osd_poll(struct ceph *c, struct osd *o, int64_t now_us)
{
	bool historic = o->heard_us >= 0 &&
		(o->historic_us < 0 || now_us - o->historic_us >= ASK_HISTORIC_US);
	int got = o->fd < 0 ? -1 : osd_receive(o);

	if (got == 1)
		osd_take(o, now_us);
	if (o->fd >= 0 && (got != 0 || now_us - o->asked_us > SILENT_US)) {
		close(o->fd);
		o->fd = -1;
	}
	/* An answer comes immediately unless the OSD is in trouble. */
	if (o->fd < 0 && (o->asked_us < 0 || historic || now_us - o->asked_us >= ASK_US))
		osd_ask(c, o, historic ? ASK_HISTORIC : ASK_PERF, now_us);
}

static int osd_store(struct ceph *c, struct osd *o, struct collect_sink *sink, struct lp_err *err)
{
	bool fresh = !o->known || !collect_holds(sink, &o->row);
	int r = 0;

	if (fresh)
		r = collect_add_named(
			sink, &schema, c->config->observer, o->name, "", &o->row, err);
	if (r < 0)
		return r;
	o->known = true;
	return collect_store(sink, &o->row, fresh, o->values, err);
}

static int ceph_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct ceph *c = state;
	int64_t now_us = sink->batch->mono_us[sink->batch->n_samples - 1];
	int r = 0;

	if (c->scanned_us < 0)
		c->scanned_us = now_us;
	if (now_us - c->scanned_us >= TREE_RESCAN_US) {
		r = ceph_scan(c);
		c->scanned_us = now_us;
	}
	if (r < 0)
		return lp_err_sys(err, r, "cannot look for OSDs");
	for (unsigned i = 0; r == 0 && i < c->n; i++) {
		struct osd *o = &c->osds[i];

		osd_poll(c, o, now_us);
		if (o->heard_us >= 0 && now_us - o->heard_us <= SILENT_US)
			r = osd_store(c, o, sink, err);
		else
			o->known = false;
	}
	return r;
}

extern const struct collector collector_ceph;
const struct collector collector_ceph = {
	.name = "ceph",
	.summary = "Ceph OSDs of this host, by their admin sockets",
	.description =
		"Asks each OSD whose admin socket is in /var/run/ceph for \"perf dump\" every two "
		"seconds: operations of clients and copies, commits and applies, the key-value "
		"store, recovery. Every minute it asks for \"dump_historic_ops\", of which the "
		"slowest operation is kept. An answer is taken in the sample after the question. "
		"An OSD that does not answer for 15 seconds has no values.",
	.schema = &schema,
	.if_present = true,
	.open = ceph_open,
	.sample = ceph_sample,
	.close = ceph_close,
};
