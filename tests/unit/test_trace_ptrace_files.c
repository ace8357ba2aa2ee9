/* Kinds of files and ends of sockets, on descriptors of our own. */
#include "trace/ptrace_files.h"
#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static void assert_kind(int fd, unsigned kind)
{
	assert_true(fd >= 0);
	assert_int_equal(file_kind(gettid(), fd), kind);
	close(fd);
}

static void test_kinds(void **state)
{
	int fds[2];

	(void)state;
	assert_kind(open("/proc/self/exe", O_RDONLY), TRACE_FILE_STORAGE);
	assert_kind(open("/", O_RDONLY), TRACE_FILE_DIRECTORY);
	assert_kind(open("/dev/null", O_RDONLY), TRACE_FILE_DEVICE);
	assert_kind(eventfd(0, 0), TRACE_FILE_OTHER);
	assert_kind(socket(AF_INET, SOCK_STREAM, 0), TRACE_FILE_TCP);
	assert_kind(socket(AF_INET, SOCK_DGRAM, 0), TRACE_FILE_SOCKET);
	assert_kind(socket(AF_UNIX, SOCK_STREAM, 0), TRACE_FILE_SOCKET);
	assert_int_equal(pipe(fds), 0);
	assert_kind(fds[0], TRACE_FILE_PIPE);
	assert_int_equal(file_kind(gettid(), fds[0]), TRACE_FILE_NONE);
	close(fds[1]);
}

static void test_cache(void **state)
{
	struct file_cache c = {0};
	int fd = open("/dev/null", O_RDONLY);

	(void)state;
	assert_int_equal(file_cache_get(&c, gettid(), -1), TRACE_FILE_NONE);
	assert_int_equal(file_cache_get(&c, gettid(), fd), TRACE_FILE_DEVICE);
	close(fd);
	assert_int_equal(file_cache_get(&c, gettid(), fd), TRACE_FILE_DEVICE);
	file_cache_forget(&c, fd);
	assert_int_equal(file_cache_get(&c, gettid(), fd), TRACE_FILE_NONE);
	assert_int_equal(open("/", O_RDONLY), fd);
	assert_int_equal(file_cache_get(&c, gettid(), fd), TRACE_FILE_DIRECTORY);
	close(fd);
	file_cache_forget(&c, -1);
	file_cache_forget(&c, INT64_MAX);
	file_cache_forget_all(&c);
	assert_int_equal(file_cache_get(&c, gettid(), fd), TRACE_FILE_NONE);
	c.off = true;
	assert_int_equal(open("/dev/null", O_RDONLY), fd);
	assert_int_equal(file_cache_get(&c, gettid(), fd), TRACE_FILE_DEVICE);
	close(fd);
	assert_int_equal(file_cache_get(&c, gettid(), fd), TRACE_FILE_NONE);
	file_cache_release(&c);
	file_cache_forget_all(&c);
}

/* A socket that listens, and its port. */
static int listen_on(int family, uint16_t *ret_port)
{
	char address[128] = {0};
	socklen_t len = sizeof(address);
	int fd = socket(family, SOCK_STREAM, 0);

	if (fd < 0 || listen(fd, 1) < 0)
		return -1;
	assert_int_equal(getsockname(fd, (void *)address, &len), 0);
	memcpy(ret_port, address + 2, sizeof(*ret_port)); /* at the same place in both */
	return fd;
}

static void test_endpoints(void **state)
{
	struct sockaddr_storage remote = {0};
	uint32_t loopback = htonl(INADDR_LOOPBACK);
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = loopback};
	int server = listen_on(AF_INET, &v4.sin_port), client = socket(AF_INET, SOCK_STREAM, 0);
	struct trace_endpoints ends;

	(void)state;
	assert_true(server >= 0);
	file_endpoints(getpid(), gettid(), client, NULL, &ends);
	assert_int_equal(ends.family, 0);
	/* Not connected: what was tried. */
	memcpy(&remote, &v4, sizeof(v4));
	file_endpoints(getpid(), gettid(), client, &remote, &ends);
	assert_int_equal(ends.family, AF_INET);
	assert_int_equal(ends.remote_port, v4.sin_port);
	assert_int_equal(connect(client, (void *)&v4, sizeof(v4)), 0);
	file_endpoints(getpid(), gettid(), client, NULL, &ends);
	assert_int_equal(ends.family, AF_INET);
	assert_int_equal(ends.remote_port, v4.sin_port);
	assert_memory_equal(ends.remote, &loopback, 4);
	assert_memory_equal(ends.local, &loopback, 4);
	assert_int_not_equal(ends.local_port, 0);
	close(client);
	close(server);
	file_endpoints(getpid(), gettid(), client, NULL, &ends);
	assert_int_equal(ends.family, 0);
}

static void test_endpoints_of_others(void **state)
{
	struct trace_endpoints ends;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	file_endpoints(getpid(), gettid(), fds[0], NULL, &ends);
	assert_int_equal(ends.family, 0);
	close(fds[0]);
	close(fds[1]);
	file_endpoints(getpid(), gettid(), -1, NULL, &ends);
	assert_int_equal(ends.family, 0);
}

/* A client of IPv4 at a server of IPv6 is one of IPv4. */
static void test_endpoints_mapped(void **state)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct trace_endpoints ends;
	int server = listen_on(AF_INET6, &to.sin_port), client, accepted;

	(void)state;
	if (server < 0)
		skip(); /* no IPv6 here */
	client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(client, (void *)&to, sizeof(to)), 0);
	accepted = accept(server, NULL, NULL);
	file_endpoints(getpid(), gettid(), accepted, NULL, &ends);
	assert_int_equal(ends.family, AF_INET);
	assert_int_equal(ends.local_port, to.sin_port);
	assert_memory_equal(ends.remote, &to.sin_addr, 4);
	close(accepted);
	close(client);
	close(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_endpoints),
		cmocka_unit_test(test_endpoints_of_others),
		cmocka_unit_test(test_endpoints_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
