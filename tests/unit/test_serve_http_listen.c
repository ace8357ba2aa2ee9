#include "serve/http_listen.h"

#include "unit.h"
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void test_listen(void **state)
{
	static const char *const wrong[] = {"", "nowhere", "127.0.0.1:", "127.0.0.1:99999",
		"[::1:80", "[::1]80", "127.0.0.1:8o", "300.0.0.1:80"};
	struct lp_err err = {0};
	char text[96];
	bool loopback = false;
	int fd = http_listen("127.0.0.1:0", text, sizeof(text), &loopback, &err);

	(void)state;
	assert_true(fd >= 0);
	assert_true(loopback);
	assert_non_null(strstr(text, "127.0.0.1:"));
	assert_string_not_equal(text, "127.0.0.1:0");
	assert_int_equal(http_listen(text, text, sizeof(text), &loopback, &err), -EADDRINUSE);
	close(fd);
	fd = http_listen("0", text, sizeof(text), &loopback, &err);
	assert_true(fd >= 0);
	assert_true(loopback);
	close(fd);
	fd = http_listen("0.0.0.0:0", text, sizeof(text), &loopback, &err);
	assert_true(fd >= 0);
	assert_false(loopback);
	close(fd);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(
			http_listen(wrong[i], text, sizeof(text), &loopback, &err), -EINVAL);
}

static void test_loopback(void **state)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};

	(void)state;
	inet_pton(AF_INET, "127.3.2.1", &in.sin_addr);
	assert_true(sockaddr_is_loopback((struct sockaddr *)&in));
	inet_pton(AF_INET, "128.0.0.1", &in.sin_addr);
	assert_false(sockaddr_is_loopback((struct sockaddr *)&in));
	inet_pton(AF_INET6, "::1", &in6.sin6_addr);
	assert_true(sockaddr_is_loopback((struct sockaddr *)&in6));
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &in6.sin6_addr);
	assert_true(sockaddr_is_loopback((struct sockaddr *)&in6));
	inet_pton(AF_INET6, "::ffff:10.0.0.1", &in6.sin6_addr);
	assert_false(sockaddr_is_loopback((struct sockaddr *)&in6));
}

static void test_host(void **state)
{
	(void)state;
	assert_true(host_is_local("127.0.0.1:9700"));
	assert_true(host_is_local("localhost"));
	assert_true(host_is_local("LOCALHOST:9700"));
	assert_true(host_is_local("[::1]:9700"));
	assert_false(host_is_local("evil.example:9700"));
	assert_false(host_is_local("127.0.0.1.evil.example"));
	assert_false(host_is_local(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_listen),
		cmocka_unit_test(test_loopback), cmocka_unit_test(test_host)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
