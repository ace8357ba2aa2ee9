#include "collect/tcp_addr.h"
#include "unit.h"
#include <arpa/inet.h>
#include <string.h>

static struct tcp_addr parse(const char *text)
{
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;
	uint32_t raw[4] = {0xdeadbeef, 0xdeadbeef, 0xdeadbeef, 0xdeadbeef};

	assert_int_equal(inet_pton(family, text, raw), 1);
	return tcp_addr_make(family, raw);
}

static void check_name(const char *text, enum tcp_direction direction, const char *want)
{
	struct tcp_addr a = parse(text);
	char name[TCP_NAME_MAX];

	assert_string_equal(tcp_addr_name(&a, direction, name), want);
}

static void test_names(void **state)
{
	char name[TCP_NAME_MAX];

	(void)state;
	check_name("10.0.0.3", TCP_IN, "10.0.0.3:in");
	check_name("10.0.0.3", TCP_OUT, "10.0.0.3:out");
	check_name("255.255.255.255", TCP_OUT, "255.255.255.255:out");
	check_name("fe80::1", TCP_IN, "[fe80::1]:in");
	check_name("::ffff:10.0.0.3", TCP_IN, "10.0.0.3:in");
	check_name("1111:2222:3333:4444:5555:6666:7777:8888", TCP_OUT,
		"[1111:2222:3333:4444:5555:6666:7777:8888]:out");
	assert_string_equal(tcp_addr_name(NULL, TCP_IN, name), "other:in");
	assert_string_equal(tcp_addr_name(NULL, TCP_OUT, name), "other:out");
}

static bool loopback(const char *text)
{
	struct tcp_addr a = parse(text);

	return tcp_addr_is_loopback(&a);
}

static void test_loopback(void **state)
{
	(void)state;
	assert_true(loopback("127.0.0.1"));
	assert_true(loopback("127.255.0.9"));
	assert_true(loopback("::1"));
	assert_true(loopback("::ffff:127.0.0.1"));
	assert_false(loopback("128.0.0.1"));
	assert_false(loopback("::2"));
	assert_false(loopback("::"));
	assert_false(loopback("7f00::1"));
}

static void test_mapped_is_the_same_peer(void **state)
{
	struct tcp_addr plain = parse("10.0.0.3"), mapped = parse("::ffff:10.0.0.3");
	struct tcp_addr next = parse("10.0.0.4");

	(void)state;
	assert_true(tcp_addr_equal(&plain, &mapped));
	assert_false(tcp_addr_equal(&plain, &next));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_mapped_is_the_same_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
