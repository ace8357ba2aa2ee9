#include "model/endpoints.h"
#include "unit.h"
#include <arpa/inet.h>
#include <asm/unistd.h>
#include <string.h>

static struct trace_endpoints ends(int family, const char *local, unsigned local_port,
	const char *remote, unsigned remote_port)
{
	struct trace_endpoints e = {.family = (uint16_t)family,
		.local_port = htons((uint16_t)local_port),
		.remote_port = htons((uint16_t)remote_port)};

	assert_int_equal(inet_pton(family, local, e.local), 1);
	assert_int_equal(inet_pton(family, remote, e.remote), 1);
	return e;
}

static void test_names(void **state)
{
	struct trace_endpoints e = ends(AF_INET, "10.0.0.1", 24007, "10.0.0.9", 49151);
	char buf[ENDPOINTS_TEXT_MAX], end[ENDPOINT_TEXT_MAX];

	(void)state;
	assert_string_equal(endpoints_name(&e, buf), "tcp 10.0.0.1:24007 10.0.0.9:49151");
	assert_string_equal(endpoints_local(&e, end), "10.0.0.1:24007");
	assert_string_equal(endpoints_remote(&e, end), "10.0.0.9:49151");
	e = ends(AF_INET6, "fe80::1", 1, "2001:db8::2", 65535);
	assert_string_equal(endpoints_name(&e, buf), "tcp [fe80::1]:1 [2001:db8::2]:65535");
	e = ends(AF_INET6, "::ffff:10.0.0.1", 1, "::ffff:10.0.0.2", 2);
	assert_string_equal(endpoints_name(&e, buf), "tcp 10.0.0.1:1 10.0.0.2:2");
	e = ends(AF_INET, "0.0.0.0", 24007, "0.0.0.0", 0);
	assert_string_equal(endpoints_name(&e, buf), "tcp 0.0.0.0:24007");
	assert_false(endpoints_connected(&e));
	e.family = 0;
	assert_string_equal(endpoints_name(&e, buf), "tcp");
}

static void test_longest(void **state)
{
	struct trace_endpoints e = ends(AF_INET6, "1111:2222:3333:4444:5555:6666:7777:8888", 65535,
		"1111:2222:3333:4444:5555:6666:7777:8888", 65535);
	char buf[ENDPOINTS_TEXT_MAX];

	(void)state;
	assert_string_equal(endpoints_name(&e, buf),
		"tcp [1111:2222:3333:4444:5555:6666:7777:8888]:65535 "
		"[1111:2222:3333:4444:5555:6666:7777:8888]:65535");
}

static void test_parse(void **state)
{
	static const char *const bad[] = {"", "tcp", "tcp 10.0.0.1:1", "udp 10.0.0.1:1 10.0.0.2:2",
		"tcp 10.0.0.1:1 10.0.0.2", "tcp 10.0.0.1:1 10.0.0.2:", "tcp 10.0.0.1:1 10.0.0.2:x",
		"tcp 10.0.0.1:1 10.0.0.2:65536", "tcp 10.0.0.1:1 [fe80::1]:2",
		"tcp 10.0.0:1 10.0.0.2:2", "tcp [fe80::1:1 [fe80::2]:2", "tcp :1 :2",
		"/data/brick/x"};
	struct trace_endpoints e = ends(AF_INET, "10.0.0.1", 24007, "10.0.0.9", 49151), back;
	char buf[ENDPOINTS_TEXT_MAX];

	(void)state;
	assert_true(endpoints_parse(endpoints_name(&e, buf), &back));
	assert_memory_equal(&e, &back, sizeof(e));
	e = ends(AF_INET6, "fe80::1", 1, "2001:db8::2", 65535);
	assert_true(endpoints_parse(endpoints_name(&e, buf), &back));
	assert_memory_equal(&e, &back, sizeof(e));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(endpoints_parse(bad[i], &back));
	memset(buf, '1', sizeof(buf) - 1);
	memcpy(buf, "tcp ", 4);
	buf[sizeof(buf) - 1] = '\0';
	assert_false(endpoints_parse(buf, &back));
}

static void test_event(void **state)
{
	struct trace_endpoints e = ends(AF_INET, "10.0.0.1", 24007, "10.0.0.9", 49151), back;
	struct trace_event event = {.what = TRACE_CALL,
		.nr = __NR_connect,
		.text = (const char *)&e,
		.text_len = sizeof(e)};

	(void)state;
	assert_true(endpoints_of_event(&event, &back));
	assert_memory_equal(&e, &back, sizeof(e));
	event.text_len--;
	assert_false(endpoints_of_event(&event, &back));
	event.text_len++;
	event.nr = __NR_openat;
	assert_false(endpoints_of_event(&event, &back));
	event.nr = __NR_accept4;
	e.family = 0;
	assert_false(endpoints_of_event(&event, &back));
	event.text = NULL;
	assert_false(endpoints_of_event(&event, &back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
