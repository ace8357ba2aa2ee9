#include "lab/traffic.h"

#include "base/cleanup.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#define BLOCK_BYTES (1024 * 1024)
#define WAIT_MS 500 /* to check `stop`, and between attempts to connect */

/* Sockets that are polled; [0] is the listening one of a listener. */
struct ends {
	struct pollfd fds[1 + TRAFFIC_CONNECTIONS_MAX];
	unsigned n;
	unsigned char *block;
};

static void ends_release(struct ends *e)
{
	for (unsigned i = 0; i < e->n; i++)
		cleanup_closep(&e->fds[i].fd);
	free(e->block);
}

static int ends_init(struct ends *e, struct lp_err *err)
{
	e->block = calloc(1, BLOCK_BYTES);
	return e->block ? 0 : lp_err_sys(err, -ENOMEM, "cannot move data");
}

static void ends_add(struct ends *e, int fd, short events)
{
	e->fds[e->n++] = (struct pollfd){.fd = fd, .events = events};
}

static void ends_drop(struct ends *e, unsigned i)
{
	close(e->fds[i].fd);
	e->fds[i] = e->fds[--e->n];
}

static bool stopped(const struct traffic *t)
{
	return t->stop && __atomic_load_n(t->stop, __ATOMIC_RELAXED);
}

static int listen_socket(const struct traffic *t, struct lp_err *err)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(t->port)};
	socklen_t size = sizeof(at);
	int one = 1;
	_cleanup_close_ int fd =
		socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
		bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
		listen(fd, TRAFFIC_CONNECTIONS_MAX) < 0 ||
		getsockname(fd, (struct sockaddr *)&at, &size) < 0)
		return lp_err_sys(err, -errno, "cannot listen on port %u", t->port);
	if (t->ready)
		t->ready(t->ctx, ntohs(at.sin_port));
	return TAKE_FD(fd);
}

/* Discard received data; with MSG_TRUNC the kernel does not copy it. False at the end. */
static bool discard(int fd, void *block)
{
	ssize_t n = recv(fd, block, BLOCK_BYTES, MSG_TRUNC | MSG_DONTWAIT);

	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void accept_one(struct ends *e)
{
	struct sockaddr_in peer;
	socklen_t size = sizeof(peer);
	int fd = accept4(
		e->fds[0].fd, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0 && e->n <= TRAFFIC_CONNECTIONS_MAX)
		ends_add(e, fd, POLLIN);
	else if (fd >= 0)
		close(fd);
}

int traffic_listen(const struct traffic *t, struct lp_err *err)
{
	_cleanup_(ends_release) struct ends e = {0};
	int fd = listen_socket(t, err);

	if (fd < 0)
		return fd;
	ends_add(&e, fd, POLLIN);
	if (ends_init(&e, err) < 0)
		return -ENOMEM;
	while (!stopped(t)) {
		if (poll(e.fds, e.n, WAIT_MS) <= 0)
			continue;
		for (unsigned i = e.n - 1; i > 0; i--) {
			if (e.fds[i].revents && !discard(e.fds[i].fd, e.block))
				ends_drop(&e, i);
		}
		if (e.fds[0].revents)
			accept_one(&e);
	}
	return 0;
}

/* A new connection, or -1 if that is impossible at the moment. */
static int connect_socket(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0 &&
		errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

/* False if the connection is broken. */
static bool push(int fd, const void *block)
{
	ssize_t n = send(fd, block, BLOCK_BYTES, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n >= 0 || errno == EAGAIN || errno == EINTR;
}

/* Send on all connections that have room; true if a connection was lost. */
static bool push_all(struct ends *e)
{
	bool lost = false;

	for (unsigned i = e->n; i > 0; i--) {
		if (e->fds[i - 1].revents && !push(e->fds[i - 1].fd, e->block)) {
			ends_drop(e, i - 1);
			lost = true;
		}
	}
	return lost;
}

static void connect_missing(const struct traffic *t, const struct sockaddr_in *to, struct ends *e)
{
	while (e->n < t->connections) {
		int fd = connect_socket(to);

		if (fd < 0)
			return;
		ends_add(e, fd, POLLOUT);
	}
}

int traffic_send(const struct traffic *t, struct lp_err *err)
{
	_cleanup_(ends_release) struct ends e = {0};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(t->port)};
	int r = ends_init(&e, err);

	if (r < 0)
		return r;
	if (inet_pton(AF_INET, t->address, &to.sin_addr) != 1)
		return lp_err_set(err, -EINVAL, "'%.64s' is not an address", t->address);
	while (!stopped(t)) {
		connect_missing(t, &to, &e);
		/* Without a listener, do not retry without a pause. */
		if (poll(e.fds, e.n, WAIT_MS) > 0 && push_all(&e))
			poll(NULL, 0, WAIT_MS);
	}
	return 0;
}

int traffic_target_parse(const char *text, char address[16], uint16_t *ret_port, struct lp_err *err)
{
	const char *colon = strrchr(text, ':');
	struct in_addr in;
	char buf[16] = "", *end;
	unsigned long port;

	if (!colon || colon - text >= (ptrdiff_t)sizeof(buf))
		return lp_err_set(err, -EINVAL, "want ADDRESS:PORT, not '%.64s'", text);
	memcpy(buf, text, (size_t)(colon - text));
	buf[colon - text] = '\0';
	port = strtoul(colon + 1, &end, 10);
	if (inet_pton(AF_INET, buf, &in) != 1 || colon[1] < '0' || colon[1] > '9' || *end ||
		port < 1 || port > UINT16_MAX)
		return lp_err_set(err, -EINVAL, "want ADDRESS:PORT, not '%.64s'", text);
	memcpy(address, buf, sizeof(buf));
	*ret_port = (uint16_t)port;
	return 0;
}
