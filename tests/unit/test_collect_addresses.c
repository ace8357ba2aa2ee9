#include "unit.h"

#include "collect/addresses.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static const char *told(const char *text, char *buf, size_t size)
{
	struct sockaddr_storage a = {.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET};
	void *bits = a.ss_family == AF_INET ? (void *)&((struct sockaddr_in *)&a)->sin_addr
					    : (void *)&((struct sockaddr_in6 *)&a)->sin6_addr;

	assert_int_equal(inet_pton(a.ss_family, text, bits), 1);
	return address_format((struct sockaddr *)&a, buf, size) ? buf : "no";
}

static void test_which_are_told(void **state)
{
	struct sockaddr other = {.sa_family = AF_UNIX};
	char buf[INET6_ADDRSTRLEN];

	(void)state;
	assert_string_equal(told("10.91.1.3", buf, sizeof(buf)), "10.91.1.3");
	assert_string_equal(told("2001:db8::7", buf, sizeof(buf)), "2001:db8::7");
	assert_string_equal(told("127.0.0.1", buf, sizeof(buf)), "no");
	assert_string_equal(told("127.1.2.3", buf, sizeof(buf)), "no");
	assert_string_equal(told("169.254.9.9", buf, sizeof(buf)), "no");
	assert_string_equal(told("::1", buf, sizeof(buf)), "no");
	assert_string_equal(told("fe80::1", buf, sizeof(buf)), "no");
	assert_false(address_format(&other, buf, sizeof(buf)));
}

/* Whatever this host has: no more than there is room for, and no address cut in two. */
static void test_own(void **state)
{
	char all[4096], few[8];

	(void)state;
	addresses_own(all, sizeof(all));
	addresses_own(few, sizeof(few));
	assert_true(strlen(few) < sizeof(few));
	assert_null(strstr(all, "127.0.0.1"));
	for (char *a = strtok(all, ","); a; a = strtok(NULL, ",")) {
		struct in6_addr bits;

		assert_int_equal(inet_pton(strchr(a, ':') ? AF_INET6 : AF_INET, a, &bits), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_are_told),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
