/* TCP connections, summed per remote address and direction. */
#include "base/array.h"
#include "base/cleanup.h"
#include "collect/collector.h"
#include "collect/tcp_diag.h"
#include "collect/tcp_table.h"
#include "collect/tcp_watch.h"
#include <errno.h>
#include <netinet/tcp.h>

#define REMOTES_DEFAULT 256
#define REMOTES_MAX 65536
#define SOCKETS_MAX 65536
/* How often a dump is repeated if the kernel's tables changed during it. */
#define TRIES 3

/* Connections that transfer data, or still have data to deliver. */
#define STATES_DATA                                                                                \
	(1u << TCP_ESTABLISHED | 1u << TCP_FIN_WAIT1 | 1u << TCP_CLOSE_WAIT | 1u << TCP_LAST_ACK | \
		1u << TCP_CLOSING)

enum {
	COLUMN_SOCKETS,
	COLUMN_CWND_SUM,
	COLUMN_CWND_MIN,
	COLUMN_RTT_SUM,
	COLUMN_RTT_MAX,
	COLUMN_UNACKED_SUM,
	COLUMN_COUNTERS, /* in the order of enum tcp_counter */
	COLUMN_FOLDED = COLUMN_COUNTERS + TCP_COUNTERS,
	COLUMN_UNTRACKED,
	COLUMN_UNREAD,
	COLUMN_RQUEUE_SUM,
	COLUMN_WQUEUE_SUM,
	N_COLUMNS,
};

static const struct lp_column columns[] = {
	{"sockets", "sockets", LP_GAUGE, 0},
	{"cwnd_sum", "segments", LP_GAUGE, 0},
	{"cwnd_min", "segments", LP_GAUGE, 0},
	{"rtt_sum_us", "us", LP_GAUGE, 0},
	{"rtt_max_us", "us", LP_GAUGE, 0},
	{"unacked_sum", "segments", LP_GAUGE, 0},
	{"retrans", "segments", LP_COUNTER, 64},
	{"bytes_sent", "bytes", LP_COUNTER, 64},
	{"bytes_acked", "bytes", LP_COUNTER, 64},
	{"bytes_received", "bytes", LP_COUNTER, 64},
	{"segs_out", "segments", LP_COUNTER, 64},
	{"segs_in", "segments", LP_COUNTER, 64},
	{"delivered", "segments", LP_COUNTER, 64},
	{"folded", "addresses", LP_GAUGE, 0},
	{"untracked", "sockets", LP_GAUGE, 0},
	{"unread", "sockets", LP_GAUGE, 0},
	{"rqueue_sum", "bytes", LP_GAUGE, 0},
	{"wqueue_sum", "bytes", LP_GAUGE, 0},
};
_Static_assert(ARRAY_SIZE(columns) == N_COLUMNS, "columns and their numbers differ");

static const struct lp_schema tcp_schema = {"tcp", columns, N_COLUMNS};

struct tcp_state {
	const char *observer;
	bool chosen;		/* the user gave the ports */
	struct tcp_ports ports; /* the user's ports, or those on which this host listens */
	struct tcp_diag diag;
	struct tcp_watch watch;
	struct tcp_table *table;
	unsigned long n_without_info;
	unsigned n_answered; /* sockets queried one by one */
	/* Each is reported once only. */
	bool said_interrupted, said_bad, said_names;
};

static void tcp_close(void *state)
{
	struct tcp_state *s = state;

	if (!s)
		return;
	tcp_diag_close(&s->diag);
	tcp_watch_close(&s->watch);
	tcp_table_free(s->table);
	free(s);
}

DEFINE_CLEANUP(struct tcp_state *, tcp_close);

static int tcp_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	_cleanup_(tcp_closep) struct tcp_state *s = NULL;
	uint32_t max_remotes = config->tcp_max ? config->tcp_max : REMOTES_DEFAULT;
	int r;

	if (config->root && config->root->dir[0])
		return lp_err_set(err, -EOPNOTSUPP,
			"tcp queries the kernel and cannot be replayed: there is nothing to read "
			"in %s",
			config->root->dir);
	if (max_remotes > REMOTES_MAX)
		return lp_err_set(err, -EINVAL, "tcp: %u remote addresses are more than %u",
			max_remotes, REMOTES_MAX);
	s = calloc(1, sizeof(*s));
	if (s)
		s->table = tcp_table_new(max_remotes, SOCKETS_MAX);
	if (!s || !s->table)
		return lp_err_sys(err, -ENOMEM, "cannot watch TCP");
	tcp_watch_open(&s->watch);
	s->observer = config->observer;
	s->chosen = config->n_ports > 0;
	for (unsigned i = 0; i < config->n_ports; i++)
		tcp_ports_add(&s->ports, config->ports[i]);
	r = tcp_diag_open(&s->diag, s->chosen ? &s->ports : NULL, err);
	if (r < 0)
		return r;
	*ret_state = TAKE_PTR(s);
	return 0;
}

static void count_listener(void *ctx, const struct tcp_sock *sock)
{
	struct tcp_state *s = ctx;

	tcp_ports_add(&s->ports, sock->local_port);
}

static void count_sock(void *ctx, const struct tcp_sock *sock)
{
	struct tcp_state *s = ctx;
	enum tcp_direction direction;

	if (!tcp_ports_classify(&s->ports, s->chosen, sock, &direction))
		return;
	tcp_watch_add(&s->watch, sock);
	if (sock->has_info)
		tcp_table_add(s->table, sock, direction);
	else
		s->n_without_info++;
}

/* Count the answer about a single socket. A closing socket is left to the next dump. */
static void count_known(void *ctx, const struct tcp_sock *sock)
{
	struct tcp_state *s = ctx;
	enum tcp_direction direction;

	if (STATES_DATA >> sock->state & 1 && sock->has_info &&
		tcp_ports_classify(&s->ports, s->chosen, sock, &direction)) {
		tcp_table_add(s->table, sock, direction);
		s->n_answered++;
	}
}

/* Query only the sockets of the last dump. False: they have changed. */
static bool tcp_take_known(struct tcp_state *s)
{
	struct lp_err ignored;

	s->n_answered = 0;
	tcp_table_begin(s->table);
	return tcp_diag_lookup(&s->diag, s->watch.socks, s->watch.n, count_known, s, &ignored) ==
		0 &&
		s->n_answered == s->watch.n;
}

/* Read one dump into the table. 0, or 1 if it may be incomplete. */
static int tcp_take(struct tcp_state *s, struct lp_err *err)
{
	int listeners = 0, r;

	tcp_watch_begin(&s->watch);
	tcp_table_begin(s->table);
	if (!s->chosen) {
		s->ports = (struct tcp_ports){0};
		listeners =
			tcp_diag_dump(&s->diag, 1u << TCP_LISTEN, false, count_listener, s, err);
		if (listeners < 0)
			return listeners;
	}
	r = tcp_diag_dump(&s->diag, STATES_DATA, true, count_sock, s, err);
	return r < 0 ? r : r | listeners;
}

static void fill_cells(const struct tcp_remote *m, struct lp_batch_kind *kind, size_t cell)
{
	const struct tcp_gauges *g = &m->now;
	const int64_t gauges[COLUMN_COUNTERS] = {
		[COLUMN_SOCKETS] = g->sockets,
		[COLUMN_CWND_SUM] = (int64_t)g->cwnd_sum,
		[COLUMN_CWND_MIN] = g->sockets ? g->cwnd_min : LP_MISSING,
		[COLUMN_RTT_SUM] = (int64_t)g->rtt_sum_us,
		[COLUMN_RTT_MAX] = g->sockets ? g->rtt_max_us : LP_MISSING,
		[COLUMN_UNACKED_SUM] = (int64_t)g->unacked_sum,
	};

	for (unsigned i = 0; i < COLUMN_COUNTERS; i++)
		kind->columns[i][cell] = gauges[i];
	for (unsigned c = 0; c < TCP_COUNTERS; c++)
		kind->columns[COLUMN_COUNTERS + c][cell] =
			m->counted >> c & 1 ? (int64_t)m->counters[c] : LP_MISSING;
	kind->columns[COLUMN_FOLDED][cell] = g->folded;
	kind->columns[COLUMN_UNTRACKED][cell] = g->untracked;
	kind->columns[COLUMN_UNREAD][cell] = g->unread;
	kind->columns[COLUMN_RQUEUE_SUM][cell] = (int64_t)g->rqueue_bytes;
	kind->columns[COLUMN_WQUEUE_SUM][cell] = (int64_t)g->wqueue_bytes;
}

static int name_row(
	struct tcp_state *s, struct tcp_remote *m, struct collect_sink *sink, struct lp_err *err)
{
	unsigned long before = sink->n_added;
	char name[TCP_NAME_MAX];
	int r;

	tcp_addr_name(m->other ? NULL : &m->addr, m->direction, name);
	r = collect_add_component(sink, &tcp_schema, s->observer, name, "", &m->row, err);
	if (r < 0)
		return r;
	if (sink->n_added > before && s->table->names_left > 0)
		s->table->names_left--;
	m->has_row = true;
	return 0;
}

static int write_row(
	struct tcp_state *s, struct tcp_remote *m, struct collect_sink *sink, struct lp_err *err)
{
	bool fresh = !m->has_row || !collect_holds(sink, &m->row);
	struct lp_batch_kind *kind;
	size_t cell;
	int r = fresh ? name_row(s, m, sink, err) : 0;

	if (r < 0)
		return r;
	r = collect_cells(sink, &m->row, fresh, &kind, &cell);
	if (r < 0)
		return lp_err_sys(err, r, "cannot keep a sample of TCP");
	fill_cells(m, kind, cell);
	return 0;
}

static void say_once(struct lp_warn *warn, bool *said, bool now, const char *text)
{
	if (now && !*said) {
		lp_warn_raise(warn, "%s", text);
		*said = true;
	}
}

static int tcp_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct tcp_state *s = state;
	int r = 1;

	if (tcp_watch_steady(&s->watch) && tcp_take_known(s))
		r = 0;
	for (unsigned i = 0; i < TRIES && r == 1; i++)
		r = tcp_take(s, err);
	if (r < 0)
		return r;
	tcp_table_end(s->table);
	say_once(sink->warn, &s->said_interrupted, r == 1,
		"tcp: sockets changed while the kernel listed them; some may be missing from a "
		"sample");
	say_once(sink->warn, &s->said_bad, s->diag.n_bad + s->n_without_info > 0,
		"tcp: the kernel described some sockets in too few bytes; they are left out");
	r = 0;
	for (uint32_t i = 0; i < s->table->n_live && r == 0; i++)
		r = write_row(s, &s->table->remotes[s->table->live[i]], sink, err);
	say_once(sink->warn, &s->said_names, s->table->names_left == 0,
		"tcp: too many remote addresses in a short time; new ones are folded into 'other'");
	return r;
}

const struct collector collector_tcp = {
	.name = "tcp",
	.summary = "TCP connections by remote address: congestion window, retransmits, rtt, bytes",
	.description =
		"One component for each remote address and direction, for instance "
		"\"tcp:10.0.0.3:in\" (the peer connected to us) and \"tcp:10.0.0.3:out\" (we "
		"connected "
		"to the peer). With ports given, a connection whose local port is one of them is "
		"\"in\", else one whose remote port is one of them is \"out\", and no other is "
		"counted. Without ports a connection to a port that this host listens on is "
		"\"in\", "
		"every other is \"out\", and connections of the host with itself are left out. "
		"Connections in the states ESTABLISHED, FIN-WAIT-1, CLOSE-WAIT, LAST-ACK and "
		"CLOSING "
		"count. Addresses beyond the largest number of remotes are folded into "
		"\"other:in\" "
		"and \"other:out\", whose column folded says how many. Counters go on when sockets "
		"close, but what a socket did after the last sample that saw it is not counted. "
		"Sockets beyond 65536 are counted in untracked and not in the counters. A remote "
		"without a socket for 300 samples is dropped until it connects again.",
	.schema = &tcp_schema,
	.open = tcp_open,
	.sample = tcp_sample,
	.close = tcp_close,
};
