#include "collect/tcp_parse.h"
#include "unit.h"
#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <string.h>

#define SEQ 7

/* A datagram that is written message by message. */
static _Alignas(8) uint8_t datagram[8192];
static size_t datagram_size;

/* What the parser gave. */
static struct tcp_sock socks[8];
static unsigned n_socks;

static void keep_sock(void *ctx, const struct tcp_sock *s)
{
	(void)ctx;
	assert_true(n_socks < 8);
	socks[n_socks++] = *s;
}

static int reset(void **state)
{
	(void)state;
	datagram_size = 0;
	n_socks = 0;
	return 0;
}

static struct nlmsghdr *put(uint16_t type, uint32_t seq)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(datagram + datagram_size);

	nlh->nlmsg_type = type;
	nlh->nlmsg_seq = seq;
	return nlh;
}

static void end(const struct nlmsghdr *nlh)
{
	datagram_size += MNL_ALIGN(nlh->nlmsg_len);
}

/* A socket 10.0.0.1:3334 <- 10.0.0.2:50000 with `info_size` bytes of tcp_info. */
static struct nlmsghdr *put_sock(uint32_t seq, size_t info_size)
{
	struct nlmsghdr *nlh = put(SOCK_DIAG_BY_FAMILY, seq);
	struct inet_diag_msg *msg = mnl_nlmsg_put_extra_header(nlh, sizeof(*msg));
	uint8_t longest[512];
	struct tcp_info info = {
		.tcpi_snd_cwnd = 10,
		.tcpi_rtt = 250,
		.tcpi_unacked = 2,
		.tcpi_total_retrans = 5,
		.tcpi_bytes_acked = UINT64_C(1) << 40,
		.tcpi_bytes_received = 77,
		.tcpi_segs_out = UINT32_MAX,
		.tcpi_segs_in = 9,
		.tcpi_delivered = 8,
		.tcpi_bytes_sent = 1000,
	};

	msg->idiag_family = AF_INET;
	msg->idiag_state = 1;
	msg->idiag_rqueue = 77;
	msg->idiag_wqueue = 88;
	msg->id.idiag_sport = htons(3334);
	msg->id.idiag_dport = htons(50000);
	msg->id.idiag_src[0] = inet_addr("10.0.0.1");
	msg->id.idiag_dst[0] = inet_addr("10.0.0.2");
	msg->id.idiag_cookie[0] = 3;
	msg->id.idiag_cookie[1] = 1;
	memset(longest, 0xff, sizeof(longest));
	memcpy(longest, &info, sizeof(info));
	mnl_attr_put_u8(nlh, INET_DIAG_SHUTDOWN, 0);
	if (info_size > 0)
		mnl_attr_put(nlh, INET_DIAG_INFO, info_size, longest);
	end(nlh);
	return nlh;
}

static int parse(struct tcp_parse *p)
{
	*p = (struct tcp_parse){.seq = SEQ, .sock = keep_sock};
	return tcp_parse_messages(p, datagram, datagram_size);
}

static void test_sock(void **state)
{
	struct tcp_parse p;
	char name[TCP_NAME_MAX];

	(void)state;
	put_sock(SEQ, sizeof(struct tcp_info));
	assert_int_equal(parse(&p), 0);
	assert_int_equal(n_socks, 1);
	assert_int_equal(socks[0].cookie, (UINT64_C(1) << 32) + 3);
	assert_string_equal(tcp_addr_name(&socks[0].remote, TCP_IN, name), "10.0.0.2:in");
	assert_string_equal(tcp_addr_name(&socks[0].local, TCP_IN, name), "10.0.0.1:in");
	assert_int_equal(socks[0].local_port, 3334);
	assert_int_equal(socks[0].remote_port, 50000);
	assert_int_equal(socks[0].state, 1);
	assert_int_equal(socks[0].cwnd, 10);
	assert_int_equal(socks[0].rtt_us, 250);
	assert_int_equal(socks[0].unacked, 2);
	assert_int_equal(socks[0].rqueue_bytes, 77);
	assert_int_equal(socks[0].wqueue_bytes, 88);
	assert_int_equal(socks[0].counters[TCP_RETRANS], 5);
	assert_int_equal(socks[0].counters[TCP_BYTES_SENT], 1000);
	assert_int_equal(socks[0].counters[TCP_BYTES_ACKED], UINT64_C(1) << 40);
	assert_int_equal(socks[0].counters[TCP_BYTES_RECEIVED], 77);
	assert_int_equal(socks[0].counters[TCP_SEGS_OUT], UINT32_MAX);
	assert_int_equal(socks[0].counters[TCP_SEGS_IN], 9);
	assert_int_equal(socks[0].counters[TCP_DELIVERED], 8);
}

/* Kernels older and newer than the header: what both have is taken. */
static void test_short_and_long_info(void **state)
{
	const unsigned all = (1u << TCP_COUNTERS) - 1;
	const unsigned acked = 1u << TCP_BYTES_ACKED | 1u << TCP_BYTES_RECEIVED;
	struct tcp_parse p;

	(void)state;
	put_sock(SEQ, 104); /* 2.6 */
	put_sock(SEQ, 136); /* 4.1: bytes, not yet segments */
	put_sock(SEQ, 280); /* 6.18 */
	put_sock(SEQ, 0);
	put_sock(SEQ, 103);
	assert_int_equal(parse(&p), 0);
	assert_int_equal(n_socks, 4);
	assert_int_equal(socks[0].counted, 1u << TCP_RETRANS);
	assert_int_equal(socks[0].counters[TCP_RETRANS], 5);
	assert_int_equal(socks[0].counters[TCP_BYTES_SENT], 0);
	assert_int_equal(socks[1].counted, 1u << TCP_RETRANS | acked);
	assert_int_equal(socks[1].counters[TCP_BYTES_RECEIVED], 77);
	assert_int_equal(socks[2].counted, all);
	assert_int_equal(socks[2].counters[TCP_BYTES_SENT], 1000);
	assert_true(socks[2].has_info);
	assert_false(socks[3].has_info);
	assert_int_equal(p.n_bad, 1);
}

static void test_end_of_dump(void **state)
{
	struct tcp_parse p;
	struct nlmsghdr *done;

	(void)state;
	put_sock(SEQ, 232);
	put_sock(SEQ - 1, 232); /* left over from an earlier dump */
	done = put(NLMSG_DONE, SEQ);
	*(int32_t *)mnl_nlmsg_put_extra_header(done, 4) = 0;
	end(done);
	put_sock(SEQ, 232); /* after the end */
	assert_int_equal(parse(&p), 1);
	assert_int_equal(n_socks, 1);
	*(int32_t *)mnl_nlmsg_get_payload(done) = -ENOMEM;
	assert_int_equal(parse(&p), -EREMOTEIO);
	assert_int_equal(p.error, -ENOMEM);
}

static void test_kernel_refuses(void **state)
{
	struct tcp_parse p;
	struct nlmsghdr *nlh = put(NLMSG_ERROR, SEQ);
	struct nlmsgerr *e = mnl_nlmsg_put_extra_header(nlh, sizeof(*e));

	(void)state;
	e->error = -ENOENT;
	end(nlh);
	assert_int_equal(parse(&p), -EREMOTEIO);
	assert_int_equal(p.error, -ENOENT);
	e->error = INT32_MIN; /* no errno */
	assert_int_equal(parse(&p), -EREMOTEIO);
	assert_int_equal(p.error, -EPROTO);
}

static void test_interrupted(void **state)
{
	struct tcp_parse p;

	(void)state;
	put_sock(SEQ, 232);
	put_sock(SEQ, 232)->nlmsg_flags |= NLM_F_DUMP_INTR;
	assert_int_equal(parse(&p), 0);
	assert_true(p.interrupted);
	assert_int_equal(n_socks, 2);
}

static void test_damaged_messages(void **state)
{
	struct tcp_parse p;
	struct nlmsghdr *second;

	(void)state;
	put_sock(SEQ, 232);
	second = put_sock(SEQ, 232);
	for (size_t whole = datagram_size, cut = 1; cut < second->nlmsg_len; cut++) {
		n_socks = 0;
		datagram_size = whole - cut;
		assert_int_equal(parse(&p), -EBADMSG);
		assert_int_equal(n_socks, 1);
	}
	second->nlmsg_len = 0xbfbfbfbf;
	assert_int_equal(parse(&p), -EBADMSG);
	second->nlmsg_len = 15;
	assert_int_equal(parse(&p), -EBADMSG);
	second->nlmsg_len = MNL_NLMSG_HDRLEN + 8; /* too short for a socket */
	datagram_size = (size_t)((uint8_t *)second - datagram) + second->nlmsg_len;
	assert_int_equal(parse(&p), 0);
	assert_int_equal(p.n_bad, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_sock, reset),
		cmocka_unit_test_setup(test_short_and_long_info, reset),
		cmocka_unit_test_setup(test_end_of_dump, reset),
		cmocka_unit_test_setup(test_kernel_refuses, reset),
		cmocka_unit_test_setup(test_interrupted, reset),
		cmocka_unit_test_setup(test_damaged_messages, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
