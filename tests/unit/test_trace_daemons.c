#include "unit.h"

#include "trace/netns.h"
#include "trace/stack/daemons.h"
#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process of that name which listens on a port of its own. */
static pid_t start(const char *name, uint16_t *ret_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0), ready[2];
	pid_t pid;

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*ret_port = ntohs(address.sin_port);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	close(fd);
	assert_int_equal(read(ready[0], &fd, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static size_t count(const struct daemons *d, pid_t pid)
{
	pid_t found[DAEMONS_MAX];
	size_t n = daemons_find("/proc", d, found), times = 0;

	for (size_t i = 0; i < n; i++)
		times += found[i] == pid;
	return times;
}

static void test_find(void **state)
{
	static const char name[] = "limpet-a-daemon-name";
	const char *const names[] = {name}, *const others[] = {"limpet-another"};
	uint16_t port, other_port;
	pid_t pid = start(name, &port);
	struct daemons d = {.comms = names, .n_comms = 1};

	(void)state;
	assert_int_equal(count(&d, pid), 1); /* longer names are cut by the kernel */
	d.comms = others;
	assert_int_equal(count(&d, pid), 0);
	d = (struct daemons){.ports = &port, .n_ports = 1};
	assert_int_equal(count(&d, pid), 1);
	other_port = (uint16_t)(port ^ 1);
	d.ports = &other_port;
	assert_int_equal(count(&d, pid), 0);
	d = (struct daemons){.comms = names, .n_comms = 1, .netns = 1};
	assert_int_equal(count(&d, pid), 0);
	assert_true(netns_of("/proc", 0, &d.netns));
	assert_int_equal(count(&d, pid), 1);
	d = (struct daemons){.pids = &pid, .n_pids = 1};
	assert_int_equal(count(&d, pid), 1);
	d = (struct daemons){0}; /* those we know by name */
	assert_int_equal(count(&d, pid), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_find)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
