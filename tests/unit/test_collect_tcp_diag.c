/* The running kernel is asked about sockets of this test. */
#include "base/cleanup.h"
#include "collect/tcp_diag.h"
#include "unit.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define PAIRS 3
#define DATA (1u << TCP_ESTABLISHED)

static int listener = -1, clients[PAIRS], served[PAIRS];
static struct tcp_ports ports;
static uint16_t port;
static struct tcp_diag diag;

struct seen {
	unsigned n_local, n_remote, n_info, n_foreign;
};

static void count(void *ctx, const struct tcp_sock *s)
{
	struct seen *seen = ctx;

	seen->n_local += s->local_port == port;
	seen->n_remote += s->remote_port == port;
	seen->n_foreign += s->local_port != port && s->remote_port != port;
	seen->n_info += s->has_info && s->cwnd > 0;
}

static int make_sockets(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(a);

	(void)state;
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&a, size) || listen(listener, PAIRS) ||
		getsockname(listener, (struct sockaddr *)&a, &size))
		return -1;
	port = ntohs(a.sin_port);
	tcp_ports_add(&ports, port);
	for (int i = 0; i < PAIRS; i++) {
		clients[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(clients[i], (struct sockaddr *)&a, size))
			return -1;
		served[i] = accept(listener, NULL, NULL);
	}
	return 0;
}

static int close_sockets(void **state)
{
	(void)state;
	for (int i = 0; i < PAIRS; i++) {
		close(clients[i]);
		close(served[i]);
	}
	close(listener);
	return 0;
}

static void open_diag(const struct tcp_ports *wanted)
{
	struct lp_err err = {0};
	int r = tcp_diag_open(&diag, wanted, &err);

	if (r == -EOPNOTSUPP) {
		printf("# %s\n", err.text);
		skip();
	}
	assert_int_equal(r, 0);
}

static struct seen dump(uint32_t states, bool info)
{
	struct seen seen = {0};
	struct lp_err err = {0};

	assert_true(tcp_diag_dump(&diag, states, info, count, &seen, &err) >= 0);
	return seen;
}

static void test_filtered_by_the_kernel(void **state)
{
	struct seen seen;

	(void)state;
	open_diag(&ports);
	assert_int_equal(diag.filter_size, 36);
	seen = dump(DATA, true);
	assert_int_equal(seen.n_local, PAIRS);
	assert_int_equal(seen.n_remote, PAIRS);
	assert_int_equal(seen.n_info, 2 * PAIRS);
	assert_int_equal(seen.n_foreign, 0);
	tcp_diag_close(&diag);
}

static void test_listeners(void **state)
{
	struct seen seen;

	(void)state;
	open_diag(NULL);
	seen = dump(1u << TCP_LISTEN, false);
	assert_int_equal(seen.n_local, 1);
	assert_int_equal(seen.n_remote, 0);
	assert_int_equal(seen.n_info, 0);
	tcp_diag_close(&diag);
}

/* A kernel that takes only the newer request is asked twice and gives the same. */
static void test_family_by_family(void **state)
{
	struct seen seen;

	(void)state;
	open_diag(&ports);
	diag.by_family = true;
	seen = dump(DATA, true);
	assert_int_equal(seen.n_local, PAIRS);
	assert_int_equal(seen.n_info, 2 * PAIRS);
	tcp_diag_close(&diag);
}

/* Put something in the place of a netlink socket that cannot be asked. */
static int shut(int fd)
{
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	return dup2(null, fd) == fd ? 0 : -1;
}

static void test_refusal_and_recovery(void **state)
{
	struct seen seen = {0};
	struct lp_err err = {0};
	uint8_t good = 0;

	(void)state;
	open_diag(&ports);
	good = diag.filter[0];
	diag.filter[0] = 200; /* no such operation */
	assert_int_equal(tcp_diag_dump(&diag, DATA, true, count, &seen, &err), -EINVAL);
	assert_non_null(strstr(err.text, "refused"));
	diag.filter[0] = good;
	assert_int_equal(dump(DATA, true).n_local, PAIRS);
	/* The socket breaks: that dump fails, the next one has a new socket. */
	assert_int_equal(shut(mnl_socket_get_fd(diag.nl)), 0);
	assert_true(tcp_diag_dump(&diag, DATA, true, count, &seen, &err) < 0);
	assert_int_equal(dump(DATA, true).n_local, PAIRS);
	tcp_diag_close(&diag);
}

struct kept {
	struct tcp_sock socks[2 * PAIRS];
	unsigned n;
};

static void keep(void *ctx, const struct tcp_sock *s)
{
	struct kept *kept = ctx;

	if (kept->n < 2 * PAIRS)
		kept->socks[kept->n++] = *s;
}

/* What a dump gave can be asked for again, one by one, until it is closed. */
static void test_lookup(void **state)
{
	struct kept dumped = {0}, looked_up = {0};
	struct lp_err err = {0};

	(void)state;
	open_diag(&ports);
	assert_int_equal(tcp_diag_dump(&diag, DATA, true, keep, &dumped, &err), 0);
	assert_int_equal(dumped.n, 2 * PAIRS);
	assert_int_equal(tcp_diag_lookup(&diag, dumped.socks, dumped.n, keep, &looked_up, &err), 0);
	assert_int_equal(looked_up.n, 2 * PAIRS);
	for (unsigned i = 0; i < dumped.n; i++) {
		assert_true(looked_up.socks[i].cookie == dumped.socks[i].cookie);
		assert_true(looked_up.socks[i].has_info && looked_up.socks[i].cwnd > 0);
	}
	dumped.socks[1].cookie ^= 1; /* as if the port had been taken by another connection */
	looked_up.n = 0;
	assert_int_equal(
		tcp_diag_lookup(&diag, dumped.socks, dumped.n, keep, &looked_up, &err), -ENOENT);
	/* The failure does not affect the next request. */
	looked_up.n = 0;
	assert_int_equal(tcp_diag_lookup(&diag, dumped.socks, 1, keep, &looked_up, &err), 0);
	assert_int_equal(looked_up.n, 1);
	tcp_diag_close(&diag);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_filtered_by_the_kernel),
		cmocka_unit_test(test_listeners),
		cmocka_unit_test(test_family_by_family),
		cmocka_unit_test(test_refusal_and_recovery),
	};

	return cmocka_run_group_tests(tests, make_sockets, close_sockets);
}
