#include "unit.h"

#include "identity_rig.h"
#include "model/hosts.h"

static void test_addresses(void **state)
{
	struct hosts h = {0};

	(void)state;
	assert_null(hosts_find(NULL, "10.0.0.1"));
	assert_int_equal(hosts_add(&h, "oss1", "10.0.0.1,192.168.122.1,2001:db8::1"), 0);
	assert_int_equal(hosts_add(&h, "oss2", "10.0.0.2,192.168.122.1"), 0);
	assert_int_equal(hosts_add(&h, "oss1", "10.0.0.1,10.0.1.1"), 0); /* another file of it */
	assert_string_equal(hosts_find(&h, "10.0.0.1"), "oss1");
	assert_string_equal(hosts_find(&h, "10.0.1.1"), "oss1");
	assert_string_equal(hosts_find(&h, "2001:db8::1"), "oss1");
	assert_string_equal(hosts_find(&h, "10.0.0.2"), "oss2");
	assert_null(hosts_find(&h, "10.0.0.3"));
	assert_null(hosts_find(&h, "192.168.122.1")); /* everybody's own */
	assert_int_equal(hosts_add(&h, "oss3", "192.168.122.1"), 0);
	assert_null(hosts_find(&h, "192.168.122.1"));
	hosts_release(&h);
}

/* Several observers on one machine. */
static void test_one_machine(void **state)
{
	struct hosts h = {0};

	(void)state;
	assert_false(hosts_is_shared(NULL, "10.0.0.1"));
	assert_false(hosts_has(NULL, "srv", "10.0.0.1"));
	assert_false(hosts_share_loopback(NULL, "srv", "cli"));
	assert_int_equal(hosts_add(&h, "srv", "10.0.0.1,loopback@1-5"), 0);
	assert_int_equal(hosts_add(&h, "srv", "10.0.0.1,loopback@1-5"), 0);
	assert_int_equal(hosts_add(&h, "cli", "10.0.0.1,loopback@1-5"), 0);
	assert_int_equal(hosts_add(&h, "other", "10.0.0.11,loopback@1-55"), 0);
	assert_int_equal(hosts_add(&h, "old", "10.0.0.3"), 0);
	assert_true(hosts_is_shared(&h, "10.0.0.1"));
	assert_false(hosts_is_shared(&h, "10.0.0.11"));
	assert_true(hosts_has(&h, "srv", "10.0.0.1"));
	assert_false(hosts_has(&h, "other", "10.0.0.1"));
	assert_true(hosts_share_loopback(&h, "srv", "cli"));
	assert_false(hosts_share_loopback(&h, "srv", "other"));
	assert_false(hosts_share_loopback(&h, "old", "old"));
	hosts_release(&h);
}

static void test_connections(void **state)
{
	struct connection c;

	(void)state;
	assert_true(connection_parse(identity_of("client3/tcp:10.0.0.7:out"), &c));
	assert_string_equal(c.observer, "client3");
	assert_string_equal(c.address, "10.0.0.7");
	assert_int_equal(c.end, CONNECTION_REMOTE);
	assert_true(c.out);
	assert_true(connection_parse(identity_of("oss1/tcp:[2001:db8::7]:in"), &c));
	assert_string_equal(c.address, "2001:db8::7");
	assert_false(c.out);
	assert_true(connection_parse(identity_of("oss1/tcp:all:in"), &c));
	assert_int_equal(c.end, CONNECTION_ALL);
	assert_true(connection_parse(identity_of("oss1/tcp:peers:out"), &c));
	assert_int_equal(c.end, CONNECTION_PEERS);
	assert_false(connection_parse(identity_of("oss1/disk:sda"), &c));
	assert_false(connection_parse(identity_of("oss1/tcp:10.0.0.7"), &c));
	assert_false(connection_parse(identity_of("tcp"), &c));
}

static void test_peers(void **state)
{
	struct connection c;

	(void)state;
	assert_true(peer_parse(identity_of("c1/peer:10.77.0.3:24007"), &c));
	assert_string_equal(c.observer, "c1");
	assert_string_equal(c.address, "10.77.0.3");
	assert_int_equal(c.end, CONNECTION_REMOTE);
	assert_true(c.out);
	assert_true(remote_parse(identity_of("c1/peer:[2001:db8::7]:49152"), &c));
	assert_string_equal(c.address, "2001:db8::7");
	assert_true(peer_parse(identity_of("s3/peer:" PEER_CLIENTS), &c));
	assert_string_equal(c.observer, "s3");
	assert_int_equal(c.end, CONNECTION_PEERS);
	assert_false(peer_parse(identity_of("c1/peer:10.77.0.3"), &c)); /* no port */
	assert_false(peer_parse(identity_of("c1/tcp:10.77.0.3:out"), &c));
	assert_true(remote_parse(identity_of("c1/tcp:10.77.0.3:out"), &c));
	assert_false(remote_parse(identity_of("c1/disk:sda"), &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_one_machine),
		cmocka_unit_test(test_connections),
		cmocka_unit_test(test_peers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
