#include "collect/tcp_diag.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>

/* The kernel puts at most 32 kB into a datagram. */
#define ANSWER_SIZE (64 * 1024)
/* The kernel answers immediately; it takes this long only if something is broken. */
#define ANSWER_TIMEOUT_S 5
/* With more lost answers than this, the dump fails. */
#define LOST_MAX 100

static void diag_disconnect(struct tcp_diag *d)
{
	if (d->nl)
		mnl_socket_close(d->nl);
	d->nl = NULL;
}

static int diag_connect(struct tcp_diag *d, struct lp_err *err)
{
	struct timeval timeout = {.tv_sec = ANSWER_TIMEOUT_S};
	int r;

	d->nl = mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC);
	if (!d->nl && errno == EPROTONOSUPPORT)
		return lp_err_set(err, -EOPNOTSUPP,
			"this kernel has no sock_diag (CONFIG_INET_DIAG): TCP cannot be watched");
	if (!d->nl)
		return lp_err_sys(err, -errno, "cannot open a netlink socket for TCP");
	if (mnl_socket_bind(d->nl, 0, MNL_SOCKET_AUTOPID) < 0 ||
		setsockopt(mnl_socket_get_fd(d->nl), SOL_SOCKET, SO_RCVTIMEO, &timeout,
			sizeof(timeout)) < 0) {
		r = lp_err_sys(err, -errno, "cannot set up the netlink socket for TCP");
		diag_disconnect(d);
		return r;
	}
	return 0;
}

/* The older request, for both families. */
static void put_request_any(struct nlmsghdr *nlh, uint32_t states, uint8_t extensions)
{
	struct inet_diag_req *r = mnl_nlmsg_put_extra_header(nlh, sizeof(*r));

	nlh->nlmsg_type = TCPDIAG_GETSOCK;
	r->idiag_states = states;
	r->idiag_ext = extensions;
}

static void put_request_family(
	struct nlmsghdr *nlh, int family, uint32_t states, uint8_t extensions)
{
	struct inet_diag_req_v2 *r = mnl_nlmsg_put_extra_header(nlh, sizeof(*r));

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	r->sdiag_family = (uint8_t)family;
	r->sdiag_protocol = IPPROTO_TCP;
	r->idiag_states = states;
	r->idiag_ext = extensions;
}

/* Request the sockets of a family; AF_UNSPEC: both. */
static int diag_send(struct tcp_diag *d, int family, uint32_t states, bool info)
{
	union {
		struct nlmsghdr align;
		uint8_t bytes[sizeof(struct nlmsghdr) + sizeof(struct inet_diag_req) +
			sizeof(struct nlattr) + TCP_FILTER_MAX];
	} request;
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&request);
	uint8_t extensions = info ? 1 << (INET_DIAG_INFO - 1) : 0;

	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = ++d->seq;
	if (family == AF_UNSPEC)
		put_request_any(nlh, states, extensions);
	else
		put_request_family(nlh, family, states, extensions);
	if (d->filter_size > 0)
		mnl_attr_put(nlh, INET_DIAG_REQ_BYTECODE, d->filter_size, d->filter);
	return mnl_socket_sendto(d->nl, nlh, nlh->nlmsg_len) < 0 ? -errno : 0;
}

_Static_assert(sizeof(struct inet_diag_req) >= sizeof(struct inet_diag_req_v2),
	"the buffer of a request has room for either");

/* Receive until the dump ends. A lost answer does not end it: the rest must be read from the socket
 * before the next request. */
static int diag_receive(struct tcp_diag *d, struct tcp_parse *p)
{
	unsigned lost = 0;
	int r = 0;

	while (r == 0) {
		ssize_t n = mnl_socket_recvfrom(d->nl, d->answer, ANSWER_SIZE);

		if (n >= 0)
			r = tcp_parse_messages(p, d->answer, (size_t)n);
		else if (errno == ENOBUFS && lost++ < LOST_MAX)
			p->interrupted = true;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			r = -ETIMEDOUT;
		else if (errno != EINTR)
			r = -errno;
	}
	return r < 0 ? r : 0;
}

static int diag_dump_family(struct tcp_diag *d, int family, uint32_t states, bool info,
	struct tcp_parse *p, struct lp_err *err)
{
	int r = diag_send(d, family, states, info);

	p->seq = d->seq;
	p->portid = mnl_socket_get_portid(d->nl);
	if (r == 0)
		r = diag_receive(d, p);
	if (r == -EREMOTEIO) /* there was an answer, so the socket works */
		return lp_err_sys(err, p->error, "the kernel refused to list its TCP sockets");
	if (r < 0) {
		diag_disconnect(d);
		return lp_err_sys(err, r, "cannot list the kernel's TCP sockets");
	}
	return 0;
}

int tcp_diag_dump(struct tcp_diag *d, uint32_t states, bool info,
	void (*sock)(void *ctx, const struct tcp_sock *s), void *ctx, struct lp_err *err)
{
	struct tcp_parse p = {.sock = sock, .ctx = ctx};
	int r = d->nl ? 0 : diag_connect(d, err);

	if (r == 0)
		r = diag_dump_family(d, d->by_family ? AF_INET : AF_UNSPEC, states, info, &p, err);
	if (r == 0 && d->by_family && !d->no_v6)
		r = diag_dump_family(d, AF_INET6, states, info, &p, err);
	d->n_bad += p.n_bad;
	return r < 0 ? r : p.interrupted;
}

/* A request for one socket: 16 + 56 bytes. */
struct lookup {
	struct nlmsghdr header;
	struct inet_diag_req_v2 request;
};
_Static_assert(sizeof(struct lookup) % NLMSG_ALIGNTO == 0, "lookups can stand in a row");

static struct lookup lookup_make(const struct tcp_sock *s, uint32_t seq)
{
	struct lookup l = {
		.header = {.nlmsg_len = sizeof(l),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST,
			.nlmsg_seq = seq},
		.request = {.sdiag_protocol = IPPROTO_TCP,
			.idiag_ext = 1 << (INET_DIAG_INFO - 1),
			.idiag_states = UINT32_MAX},
	};
	struct inet_diag_sockid *id = &l.request.id;

	l.request.sdiag_family = (uint8_t)tcp_addr_raw(&s->local, id->idiag_src);
	tcp_addr_raw(&s->remote, id->idiag_dst);
	id->idiag_sport = htons(s->local_port);
	id->idiag_dport = htons(s->remote_port);
	id->idiag_if = s->interface;
	id->idiag_cookie[0] = (uint32_t)s->cookie;
	id->idiag_cookie[1] = (uint32_t)(s->cookie >> 32);
	return l;
}

/* Every request gets one answer, the socket or an error. Read all of them, so that none is left for
 * the next request. */
static int lookup_receive(struct tcp_diag *d, struct tcp_parse *p, unsigned n)
{
	int r = 0;

	for (unsigned i = 0; i < n; i++) {
		ssize_t got = mnl_socket_recvfrom(d->nl, d->answer, ANSWER_SIZE);

		if (got < 0)
			return errno == EINTR ? -EAGAIN : -errno;
		if (tcp_parse_messages(p, d->answer, (size_t)got) < 0)
			r = p->error == -ENOENT ? -ENOENT : -EIO;
	}
	return r;
}

int tcp_diag_lookup(struct tcp_diag *d, const struct tcp_sock *socks, unsigned n,
	void (*sock)(void *ctx, const struct tcp_sock *s), void *ctx, struct lp_err *err)
{
	struct lookup lookups[TCP_LOOKUP_MAX];
	struct tcp_parse p = {.sock = sock, .ctx = ctx, .seq = ++d->seq};
	int r = d->nl ? 0 : diag_connect(d, err);

	if (r < 0 || !n)
		return r;
	p.portid = mnl_socket_get_portid(d->nl);
	for (unsigned i = 0; i < n; i++)
		lookups[i] = lookup_make(&socks[i], p.seq);
	if (mnl_socket_sendto(d->nl, lookups, n * sizeof(*lookups)) < 0)
		r = -errno;
	if (r == 0)
		r = lookup_receive(d, &p, n);
	d->n_bad += p.n_bad;
	if (r == -ENOENT)
		return lp_err_set(err, r, "a TCP socket is not there any more");
	if (r < 0) {
		diag_disconnect(d);
		return lp_err_sys(err, r, "cannot ask for TCP sockets");
	}
	return 0;
}

static void ignore_sock(void *ctx, const struct tcp_sock *s)
{
	(void)ctx;
	(void)s;
}

/* Test with a request for the few listening sockets. */
static int diag_try(struct tcp_diag *d, int family, struct lp_err *err)
{
	struct tcp_parse p = {.sock = ignore_sock};

	return diag_dump_family(d, family, 1u << TCP_LISTEN, false, &p, err);
}

/* Does this error mean that the kernel lacks the feature? */
static bool diag_lacks(int r)
{
	return r == -ENOENT || r == -EINVAL || r == -EOPNOTSUPP;
}

static int diag_probe(struct tcp_diag *d, struct lp_err *err)
{
	int r = diag_try(d, AF_UNSPEC, err);

	d->by_family = diag_lacks(r);
	if (d->by_family)
		r = diag_try(d, AF_INET, err);
	if (diag_lacks(r) && d->filter_size > 0) {
		d->filter_size = 0;
		return diag_probe(d, err);
	}
	if (diag_lacks(r))
		return lp_err_set(err, -EOPNOTSUPP,
			"this kernel does not list TCP sockets: 'modprobe tcp_diag' may help");
	if (r == 0 && d->by_family) {
		r = diag_try(d, AF_INET6, err);
		d->no_v6 = diag_lacks(r);
	}
	return d->no_v6 ? 0 : r;
}

int tcp_diag_open(struct tcp_diag *d, const struct tcp_ports *ports, struct lp_err *err)
{
	int r;

	*d = (struct tcp_diag){.answer = malloc(ANSWER_SIZE)};
	if (!d->answer)
		return lp_err_sys(err, -ENOMEM, "cannot watch TCP");
	if (ports)
		d->filter_size = tcp_ports_filter(ports, d->filter);
	r = diag_connect(d, err);
	if (r == 0)
		r = diag_probe(d, err);
	if (r < 0)
		tcp_diag_close(d);
	return r;
}

void tcp_diag_close(struct tcp_diag *d)
{
	diag_disconnect(d);
	free(d->answer);
	d->answer = NULL;
}
