#include "lab/traffic.h"

#include "base/thread.h"
#include "unit.h"
#include <arpa/inet.h>
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MUCH (4 * 1024 * 1024)

static void test_target(void **state)
{
	static const char *const bad[] = {"", "10.0.0.1", "10.0.0.1:", "10.0.0.1:0", ":80",
		"10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1: 1", "10.0.0.1:1x", "host:80",
		"100.100.100.100.100:80", "::1:80"};
	char address[16] = "unchanged";
	uint16_t port = 0;
	struct lp_err err = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(traffic_target_parse(bad[i], address, &port, &err), -EINVAL);
		assert_non_null(strstr(err.text, "want ADDRESS:PORT"));
	}
	assert_string_equal(address, "unchanged");
	assert_int_equal(traffic_target_parse("100.100.100.100:65535", address, &port, &err), 0);
	assert_string_equal(address, "100.100.100.100");
	assert_int_equal(port, 65535);
}

struct rig {
	struct traffic t;
	volatile int stop;
	sem_t is_ready;
	uint16_t port;
	struct lp_err err;
	int result;
};

static void note_port(void *ctx, uint16_t port)
{
	struct rig *rig = ctx;

	rig->port = port;
	sem_post(&rig->is_ready);
}

static void *work(void *arg)
{
	struct rig *rig = arg;

	rig->result = rig->t.address ? traffic_send(&rig->t, &rig->err)
				     : traffic_listen(&rig->t, &rig->err);
	return NULL;
}

static void send_all(const struct sockaddr_in *to, char *block)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *)to, sizeof(*to)), 0);
	for (size_t sent = 0; sent < MUCH;) {
		ssize_t n = send(fd, block + sent, MUCH - sent, MSG_NOSIGNAL);

		assert_true(n > 0);
		sent += (size_t)n;
	}
	/* It read all of that before it sees the end, and then closes, too. */
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_int_equal(recv(fd, block, 1, 0), 0);
	close(fd);
}

static void test_listen(void **state)
{
	struct rig rig = {0};
	struct sockaddr_in to = {.sin_family = AF_INET};
	char *block = calloc(1, MUCH);
	pthread_t thread;

	(void)state;
	rig.t = (struct traffic){.stop = &rig.stop, .ready = note_port, .ctx = &rig};
	sem_init(&rig.is_ready, 0, 0);
	assert_int_equal(thread_start(&thread, work, &rig), 0);
	sem_wait(&rig.is_ready);
	to.sin_port = htons(rig.port);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	send_all(&to, block);
	send_all(&to, block);
	__atomic_store_n(&rig.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_int_equal(rig.result, 0);
	free(block);
}

/* Read zeros from one connection of the sender, then close it. */
static void take(int listener, size_t bytes)
{
	static char buf[65536];
	int fd = accept(listener, NULL, NULL);

	assert_true(fd >= 0);
	for (size_t got = 0; got < bytes;) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);

		assert_true(n > 0);
		for (ssize_t i = 0; i < n; i++)
			assert_int_equal(buf[i], 0);
		got += (size_t)n;
	}
	close(fd);
}

/* It sends over as many connections as asked for, and connects again when one is closed. */
static void test_send(void **state)
{
	struct rig rig = {0};
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t size = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t thread;

	(void)state;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, 8), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	rig.t = (struct traffic){.address = "127.0.0.1",
		.port = ntohs(at.sin_port),
		.connections = 2,
		.stop = &rig.stop};
	assert_int_equal(thread_start(&thread, work, &rig), 0);
	for (unsigned i = 0; i < 4; i++)
		take(listener, MUCH / 4);
	__atomic_store_n(&rig.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_int_equal(rig.result, 0);
	close(listener);
}

static void test_bad_address(void **state)
{
	struct traffic t = {.address = "nowhere", .port = 1, .connections = 1};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(traffic_send(&t, &err), -EINVAL);
	assert_string_equal(err.text, "'nowhere' is not an address");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_target),
		cmocka_unit_test(test_listen),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_bad_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
