#include "collect/tcp_parse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <string.h>

/* The offsets of the counters. tcp_info grows with kernel releases. The header at build time and
 * the running kernel may have different sizes; limpet uses the common part. */
static const struct {
	uint16_t offset;
	uint8_t size;
} counter_fields[TCP_COUNTERS] = {
#define FIELD(name)                                                                                \
	{                                                                                          \
		offsetof(struct tcp_info, name), sizeof(((struct tcp_info *)NULL)->name)           \
	}
	[TCP_RETRANS] = FIELD(tcpi_total_retrans),
	[TCP_BYTES_SENT] = FIELD(tcpi_bytes_sent),
	[TCP_BYTES_ACKED] = FIELD(tcpi_bytes_acked),
	[TCP_BYTES_RECEIVED] = FIELD(tcpi_bytes_received),
	[TCP_SEGS_OUT] = FIELD(tcpi_segs_out),
	[TCP_SEGS_IN] = FIELD(tcpi_segs_in),
	[TCP_DELIVERED] = FIELD(tcpi_delivered),
#undef FIELD
};

/* Every kernel since 2.6 has tcp_info up to here. */
#define TCP_INFO_MIN (offsetof(struct tcp_info, tcpi_total_retrans) + 4)

bool tcp_counter_is_short(enum tcp_counter c)
{
	return counter_fields[c].size == 4;
}

static uint64_t read_counter(const struct tcp_info *info, enum tcp_counter c)
{
	const uint8_t *at = (const uint8_t *)info + counter_fields[c].offset;
	uint64_t wide;
	uint32_t narrow;

	if (tcp_counter_is_short(c)) {
		memcpy(&narrow, at, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

static bool read_info(struct tcp_sock *s, const void *data, size_t size)
{
	struct tcp_info info = {0};

	if (size < TCP_INFO_MIN)
		return false;
	memcpy(&info, data, size < sizeof(info) ? size : sizeof(info));
	s->cwnd = info.tcpi_snd_cwnd;
	s->rtt_us = info.tcpi_rtt;
	s->unacked = info.tcpi_unacked;
	for (unsigned c = 0; c < TCP_COUNTERS; c++) {
		if ((size_t)counter_fields[c].offset + counter_fields[c].size > size)
			continue;
		s->counters[c] = read_counter(&info, c);
		s->counted |= 1u << c;
	}
	s->has_info = true;
	return true;
}

static bool read_sock(struct tcp_sock *s, const struct nlmsghdr *nlh)
{
	const struct inet_diag_msg *msg = mnl_nlmsg_get_payload(nlh);
	const void *attrs = msg + 1;
	const struct nlattr *attr;
	size_t size = mnl_nlmsg_get_payload_len(nlh);

	if (size < sizeof(*msg))
		return false;
	size -= sizeof(*msg);
	if (msg->idiag_family != AF_INET && msg->idiag_family != AF_INET6)
		return false;
	*s = (struct tcp_sock){
		.cookie = (uint64_t)msg->id.idiag_cookie[1] << 32 | msg->id.idiag_cookie[0],
		.local = tcp_addr_make(msg->idiag_family, msg->id.idiag_src),
		.remote = tcp_addr_make(msg->idiag_family, msg->id.idiag_dst),
		.local_port = ntohs(msg->id.idiag_sport),
		.remote_port = ntohs(msg->id.idiag_dport),
		.interface = msg->id.idiag_if,
		.state = msg->idiag_state,
		.rqueue_bytes = msg->idiag_rqueue,
		.wqueue_bytes = msg->idiag_wqueue,
	};
	/* mnl_attr_for_each() would round up the end of the message. */
	mnl_attr_for_each_payload(attrs, size)
	{
		if (mnl_attr_get_type(attr) == INET_DIAG_INFO &&
			!read_info(s, mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr)))
			return false;
	}
	return true;
}

static int read_error(struct tcp_parse *p, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(e->error))
		return -EBADMSG;
	/* The kernel sends negative numbers; INT_MIN and positive ones are not errnos. */
	if (e->error == 0)
		return 1;
	p->error = e->error > -4096 && e->error < 0 ? e->error : -EPROTO;
	return -EREMOTEIO;
}

/* A dump ends with a number that is negative if it failed. */
static int read_done(struct tcp_parse *p, const struct nlmsghdr *nlh)
{
	int32_t number;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(number))
		return 1;
	memcpy(&number, mnl_nlmsg_get_payload(nlh), sizeof(number));
	if (number >= 0)
		return 1;
	p->error = number > -4096 ? number : -EPROTO;
	return -EREMOTEIO;
}

static int parse_message(struct tcp_parse *p, const struct nlmsghdr *nlh)
{
	struct tcp_sock s;

	if (nlh->nlmsg_seq != p->seq || (p->portid && nlh->nlmsg_pid != p->portid))
		return 0;
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		p->interrupted = true;
	switch (nlh->nlmsg_type) {
	case NLMSG_ERROR:
		return read_error(p, nlh);
	case NLMSG_DONE:
		return read_done(p, nlh);
	case SOCK_DIAG_BY_FAMILY:
	case TCPDIAG_GETSOCK:
		if (read_sock(&s, nlh))
			p->sock(p->ctx, &s);
		else
			p->n_bad++;
		return 0;
	default: /* NLMSG_NOOP and unknown types */
		return 0;
	}
}

/* libmnl compares lengths as int, so lengths beyond INT_MAX look short. */
static bool message_fits(const struct nlmsghdr *nlh, size_t left)
{
	return left >= sizeof(*nlh) && nlh->nlmsg_len >= sizeof(*nlh) && nlh->nlmsg_len <= left;
}

int tcp_parse_messages(struct tcp_parse *p, const void *buf, size_t size)
{
	const uint8_t *at = buf;
	size_t left = size;

	while (left > 0) {
		const struct nlmsghdr *nlh = (const void *)at;
		size_t step;
		int r;

		if (!message_fits(nlh, left))
			return -EBADMSG;
		r = parse_message(p, nlh);
		if (r != 0)
			return r;
		step = MNL_ALIGN(nlh->nlmsg_len);
		if (step > left)
			step = left;
		at += step;
		left -= step;
	}
	return 0;
}
