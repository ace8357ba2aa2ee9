#include "proc_rig.h"
#include "trace/descriptor_net.h"
#include <arpa/inet.h>

#define TAIL "00000000:00000000 00:00000000 00000000     0        0 "

static const char tcp[] = PROC_TCP_HEADING
	/* listens on 0.0.0.0:24007; serves 10.0.0.9:49151 there; is a client of 10.0.0.2:24007 */
	"   0: 00000000:5DC7 00000000:0000 0A " TAIL "101 1 0000000000000000 100 0 0 10 0\n"
	"   1: 0100000A:5DC7 0900000A:BFFF 01 " TAIL "102 1 0000000000000000 20 4 30 10 -1\n"
	"   2: 0100000A:C000 0200000A:5DC7 01 " TAIL "103 1 0000000000000000 20 4 30 10 -1\n"
	"   3: nonsense\n";

static const char tcp6[] = PROC_TCP_HEADING
	"   0: 0000000000000000FFFF00000100000A:5DC7 0000000000000000FFFF00000700000A:1234 01 " TAIL
	"104 1 0\n"
	"   1: 000080FE000000000000000001000000:0050 000080FE000000000000000002000000:0051 01 " TAIL
	"105 1 0\n";

static const char unixes[] = "Num       RefCount Protocol Flags    Type St Inode Path\n"
			     "0000000000000000: 00000002 00000000 00010000 0001 01   201 /run/x y\n"
			     "0000000000000000: 00000003 00000000 00000000 0001 03   202\n";

static void put_all(void)
{
	proc_process(7, "x", "/");
	proc_put(7, "net/tcp", tcp);
	proc_put(7, "net/tcp6", tcp6);
	proc_put(7, "net/udp",
		PROC_TCP_HEADING "   0: 00000000:0035 00000000:0000 07 " TAIL "150 2 0\n");
	proc_put(7, "net/unix", unixes);
}

static void check(const struct net_sockets *s, uint64_t inode, const char *name, bool accepted)
{
	const struct net_socket *socket = net_sockets_find(s, inode);

	assert_non_null(socket);
	assert_string_equal(socket->name, name);
	assert_int_equal(socket->accepted, accepted);
	assert_int_equal(
		socket->file, strncmp(name, "tcp", 3) == 0 ? TRACE_FILE_TCP : TRACE_FILE_SOCKET);
}

static void test_files(void **state)
{
	struct net_sockets s = {0};

	(void)state;
	put_all();
	assert_int_equal(net_sockets_read(&s, temp_dir_path, 7, 1, 0), 0);
	assert_int_equal(s.n, 8);
	check(&s, 101, "tcp 0.0.0.0:24007", false);
	check(&s, 102, "tcp 10.0.0.1:24007 10.0.0.9:49151", true);
	check(&s, 103, "tcp 10.0.0.1:49152 10.0.0.2:24007", false);
	check(&s, 104, "tcp 10.0.0.1:24007 10.0.0.7:4660", true);
	check(&s, 105, "tcp [fe80::1]:80 [fe80::2]:81", false);
	check(&s, 150, "udp", false);
	check(&s, 201, "unix /run/x y", false);
	check(&s, 202, "unix", false);
	assert_null(net_sockets_find(&s, 999));
	assert_int_equal(net_sockets_find(&s, 102)->ends.family, AF_INET);
	assert_int_equal(ntohs(net_sockets_find(&s, 102)->ends.remote_port), 49151);
	assert_int_equal(net_sockets_find(&s, 150)->ends.family, 0);
	net_sockets_release(&s);
}

static void test_age(void **state)
{
	struct net_sockets s = {0};

	(void)state;
	put_all();
	assert_int_equal(net_sockets_read(&s, temp_dir_path, 7, 100, 50), 0);
	proc_put(7, "net/tcp", PROC_TCP_HEADING);
	assert_int_equal(net_sockets_read(&s, temp_dir_path, 7, 149, 50), 0);
	assert_non_null(net_sockets_find(&s, 101));
	assert_int_equal(net_sockets_read(&s, temp_dir_path, 7, 150, 50), 0);
	assert_null(net_sockets_find(&s, 101));
	assert_non_null(net_sockets_find(&s, 104));
	/* Another namespace has other sockets, however fresh these are. */
	proc_process(8, "y", "/");
	proc_link_put(8, "ns/net", "net:[2]");
	assert_int_equal(net_sockets_read(&s, temp_dir_path, 8, 151, 50), 0);
	assert_int_equal(s.n, 0);
	net_sockets_release(&s);
}

static void test_nothing(void **state)
{
	struct net_sockets s = {0};

	(void)state;
	assert_null(net_sockets_find(&s, 1));
	assert_int_equal(net_sockets_read(&s, temp_path("none"), 7, 1, 0), 0);
	assert_null(net_sockets_find(&s, 1));
	net_sockets_release(&s);
	net_sockets_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_age, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_nothing, temp_dir_setup, temp_dir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
