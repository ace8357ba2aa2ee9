#include "collect/tcp_ports.h"
#include "unit.h"
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <string.h>

static struct tcp_addr v4(const char *text)
{
	uint32_t raw[4] = {inet_addr(text)};

	return tcp_addr_make(AF_INET, raw);
}

/* "in", "out" or "" for a connection that does not count. */
static const char *direction(const struct tcp_ports *p, bool chosen, const char *local,
	uint16_t local_port, const char *remote, uint16_t remote_port)
{
	struct tcp_sock s = {
		.local = v4(local),
		.remote = v4(remote),
		.local_port = local_port,
		.remote_port = remote_port,
	};
	enum tcp_direction d;

	if (!tcp_ports_classify(p, chosen, &s, &d))
		return "";
	return d == TCP_IN ? "in" : "out";
}

static void test_chosen_ports(void **state)
{
	static struct tcp_ports p;

	(void)state;
	tcp_ports_add(&p, 3334);
	assert_string_equal(direction(&p, true, "10.0.0.1", 3334, "10.0.0.2", 50000), "in");
	assert_string_equal(direction(&p, true, "10.0.0.1", 50000, "10.0.0.2", 3334), "out");
	assert_string_equal(direction(&p, true, "10.0.0.1", 3334, "10.0.0.2", 3334), "in");
	assert_string_equal(direction(&p, true, "10.0.0.1", 22, "10.0.0.2", 50000), "");
	assert_string_equal(direction(&p, true, "127.0.0.1", 3334, "127.0.0.1", 50000), "in");
}

static void test_listening_ports(void **state)
{
	static struct tcp_ports p;

	(void)state;
	tcp_ports_add(&p, 22);
	assert_string_equal(direction(&p, false, "10.0.0.1", 22, "10.0.0.2", 50000), "in");
	assert_string_equal(direction(&p, false, "10.0.0.1", 50000, "10.0.0.2", 22), "out");
	assert_string_equal(direction(&p, false, "10.0.0.1", 50000, "10.0.0.2", 80), "out");
	assert_string_equal(direction(&p, false, "127.0.0.1", 22, "127.0.0.1", 50000), "");
	assert_string_equal(direction(&p, false, "10.0.0.1", 22, "10.0.0.1", 50000), "");
}

/* What the kernel does with a program: true if it ends exactly at its end. */
static bool accepts(const uint8_t *program, size_t size, uint16_t local, uint16_t remote)
{
	ptrdiff_t left = (ptrdiff_t)size;

	while (left > 0) {
		struct inet_diag_bc_op op, arg = {0};
		bool yes = false;

		memcpy(&op, program + size - (size_t)left, sizeof(op));
		if (left > 4)
			memcpy(&arg, program + size - (size_t)left + 4, sizeof(arg));
		switch (op.code) {
		case INET_DIAG_BC_JMP:
			break;
		case INET_DIAG_BC_S_GE:
			yes = local >= arg.no;
			break;
		case INET_DIAG_BC_S_LE:
			yes = local <= arg.no;
			break;
		case INET_DIAG_BC_D_GE:
			yes = remote >= arg.no;
			break;
		case INET_DIAG_BC_D_LE:
			yes = remote <= arg.no;
			break;
		default:
			fail_msg("unexpected operation %d", op.code);
		}
		assert_true(op.yes >= 4 && op.no >= 4);
		left -= yes ? op.yes : op.no;
	}
	return left == 0;
}

static void test_filter_is_the_set(void **state)
{
	static struct tcp_ports p;
	uint8_t program[TCP_FILTER_MAX];
	size_t size;

	(void)state;
	tcp_ports_add(&p, 3334);
	assert_int_equal(tcp_ports_filter(&p, program), 36);
	for (unsigned port = 49152; port < 49200; port++)
		tcp_ports_add(&p, (uint16_t)port);
	tcp_ports_add(&p, 0);
	tcp_ports_add(&p, 65535);
	size = tcp_ports_filter(&p, program);
	assert_int_equal(size, 4 * 40 - 4);
	for (unsigned port = 0; port < 65536; port++) {
		bool want = tcp_ports_has(&p, (uint16_t)port);

		assert_int_equal(accepts(program, size, (uint16_t)port, 7), want);
		assert_int_equal(accepts(program, size, 7, (uint16_t)port), want);
		assert_true(accepts(program, size, 3334, (uint16_t)port));
	}
}

static void test_filter_has_limits(void **state)
{
	static struct tcp_ports p;
	uint8_t program[TCP_FILTER_MAX];

	(void)state;
	assert_int_equal(tcp_ports_filter(&p, program), 0);
	for (unsigned i = 0; i < TCP_FILTER_RANGES; i++)
		tcp_ports_add(&p, (uint16_t)(i * 2));
	assert_int_equal(tcp_ports_filter(&p, program), TCP_FILTER_MAX - 4);
	assert_true(accepts(program, TCP_FILTER_MAX - 4, 7, TCP_FILTER_RANGES * 2 - 2));
	tcp_ports_add(&p, 60001);
	assert_int_equal(tcp_ports_filter(&p, program), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chosen_ports),
		cmocka_unit_test(test_listening_ports),
		cmocka_unit_test(test_filter_is_the_set),
		cmocka_unit_test(test_filter_has_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
