#include "unit.h"

#include "base/array.h"
#include "identity_rig.h"
#include "model/topology_groups.h"
#include <string.h>

/* The role of each component, a letter each: server, client, or neither of both. */
static void check(const char *const *names, uint32_t n, const char *want)
{
	struct lp_identity *components[32];
	struct roles roles = {0};
	char got[64] = "";

	assert_true(n <= ARRAY_SIZE(components));
	identities_of(names, n, components);
	assert_int_equal(roles_find(&roles, components, n), 0);
	for (uint32_t i = 0; i < n; i++) {
		const char *role = roles_name(&roles, components[i]);

		got[i] = role ? role[0] : '-';
	}
	assert_string_equal(got, want);
	roles_release(&roles);
}

static void test_by_connections(void **state)
{
	const char *names[] = {"s1/net:eth0", "s2/net:eth0", "c1/net:eth0", "c2/net:eth0",
		"s1/tcp:10.0.0.8:in", "s2/tcp:10.0.0.8:in", "s2/tcp:10.0.0.1:out",
		"c1/tcp:10.0.0.1:out", "c2/tcp:10.0.0.1:out", "c2/host:host", "s1/disk:sda",
		"s1/ost:1"};

	(void)state;
	check(names, ARRAY_SIZE(names), "sscc-----cs-");
	/* A single odd server is to be reported, not set apart. */
	names[8] = "c2/tcp:10.0.0.1:in";
	check(names, ARRAY_SIZE(names), "------------");
}

/* The peers of the standby server with disks are unknown. */
static void test_disks_are_servers(void **state)
{
	const char *names[] = {"s1/net:eth0", "s2/net:eth0", "c1/net:eth0", "c2/net:eth0",
		"s1/tcp:10.0.0.8:in", "s2/tcp:10.0.0.9:out", "s2/disk:sda", "c1/tcp:10.0.0.1:out",
		"c2/tcp:10.0.0.1:out"};

	(void)state;
	check(names, ARRAY_SIZE(names), "sscc--s--");
}

/* Connections with unrecorded hosts (such as ssh) count only if nothing better is known. */
static void test_pooled_tell_more(void **state)
{
	const char *names[] = {"s1/net:eth0", "s2/net:eth0", "c1/net:eth0", "c2/net:eth0",
		"s1/tcp:all:in", "s2/tcp:all:in", "c1/tcp:all:out", "c2/tcp:all:out",
		"c1/tcp:10.0.0.99:in", "c2/disk:sda", "s1/tcp:peers:out"};

	(void)state;
	check(names, ARRAY_SIZE(names), "sscc-----c-");
}

static void test_by_disks(void **state)
{
	const char *names[] = {"s1/net:eth0", "s2/net:eth0", "c1/net:eth0", "c2/net:eth0",
		"s1/disk:sda", "s2/disk:sda"};

	(void)state;
	check(names, ARRAY_SIZE(names), "ssccss");
	check(names, 4, "----");
	check(names, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_connections),
		cmocka_unit_test(test_disks_are_servers),
		cmocka_unit_test(test_pooled_tell_more),
		cmocka_unit_test(test_by_disks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
