#include "lab/disk_socket.h"

#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define HIDDEN_SUFFIX ".new" /* of a socket that does not listen yet */

static void socket_reset(struct disk_socket *d)
{
	d->listen_fd = -1;
	for (unsigned i = 0; i < DISK_SOCKET_CLIENTS_MAX; i++)
		d->clients[i].fd = -1;
}

/* Remove a socket of a dead disk; other files stay. */
static void remove_socket(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		unlink(path);
}

/* Between bind() and listen() a socket refuses connections, so it gets its name last. Then a socket
 * that exists can be used. */
static int listen_at(int fd, const char *path)
{
	struct sockaddr_un hidden = {.sun_family = AF_UNIX};
	int r = 0;

	if ((size_t)snprintf(hidden.sun_path, sizeof(hidden.sun_path), "%s" HIDDEN_SUFFIX, path) >=
		sizeof(hidden.sun_path))
		return -ENAMETOOLONG;
	remove_socket(path);
	remove_socket(hidden.sun_path);
	if (bind(fd, (struct sockaddr *)&hidden, sizeof(hidden)) < 0)
		return -errno;
	if (listen(fd, DISK_SOCKET_CLIENTS_MAX) < 0)
		r = -errno;
	if (r == 0)
		r = file_rename_new(AT_FDCWD, hidden.sun_path, path);
	if (r < 0)
		unlink(hidden.sun_path);
	return r;
}

int disk_socket_open(struct disk_socket *d, const char *path, struct lp_err *err)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	socket_reset(d);
	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot make a socket");
	r = listen_at(fd, path);
	if (r == -ENAMETOOLONG)
		return lp_err_set(err, r, "%s: too long for a socket's path", path);
	if (r < 0)
		return lp_err_sys(err, r, "%s: cannot listen there", path);
	d->path = path;
	d->listen_fd = TAKE_FD(fd);
	return 0;
}

static void client_close(struct disk_socket_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->len = 0;
}

void disk_socket_close(struct disk_socket *d)
{
	for (unsigned i = 0; i < DISK_SOCKET_CLIENTS_MAX; i++)
		client_close(&d->clients[i]);
	if (d->listen_fd < 0)
		return;
	unlink(d->path); /* before it stops listening, so that an existing name can be used */
	close(d->listen_fd);
	d->listen_fd = -1;
}

void disk_socket_poll(const struct disk_socket *d, struct pollfd fds[DISK_SOCKET_FDS])
{
	fds[0] = (struct pollfd){.fd = d->listen_fd, .events = POLLIN};
	for (unsigned i = 0; i < DISK_SOCKET_CLIENTS_MAX; i++)
		fds[1 + i] = (struct pollfd){.fd = d->clients[i].fd, .events = POLLIN};
}

/* A free place, or in turn that of an idle client. */
static struct disk_socket_client *find_place(struct disk_socket *d)
{
	struct disk_socket_client *c;

	for (unsigned i = 0; i < DISK_SOCKET_CLIENTS_MAX; i++) {
		if (d->clients[i].fd < 0)
			return &d->clients[i];
	}
	c = &d->clients[d->turn++ % DISK_SOCKET_CLIENTS_MAX];
	client_close(c);
	return c;
}

static void client_answer(struct disk_socket *d, struct disk_socket_client *c)
{
	char reply[DISK_LINE_MAX] = "", text[DISK_LINE_MAX + 1];
	int n;

	d->answer(d->ctx, c->line, reply);
	n = snprintf(text, sizeof(text), "%s\n", reply);
	/* The text fits into the socket's buffer; a client that does not read loses it. */
	send(c->fd, text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
	client_close(c);
}

static void client_read(struct disk_socket *d, struct disk_socket_client *c)
{
	ssize_t n = recv(c->fd, c->line + c->len, sizeof(c->line) - c->len, MSG_DONTWAIT);
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_close(c);
		return;
	}
	c->len += (size_t)n;
	end = memchr(c->line, '\n', c->len);
	if (end) {
		*end = 0;
		client_answer(d, c);
	} else if (c->len == sizeof(c->line)) {
		client_close(c); /* no line is that long */
	}
}

void disk_socket_work(struct disk_socket *d, const struct pollfd fds[DISK_SOCKET_FDS])
{
	for (unsigned i = 0; i < DISK_SOCKET_CLIENTS_MAX; i++) {
		if (fds[1 + i].revents && d->clients[i].fd == fds[1 + i].fd)
			client_read(d, &d->clients[i]);
	}
	if (fds[0].revents) {
		/* cppcheck-suppress nullPointer ; the address is not needed */
		int fd = accept4(d->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0)
			find_place(d)->fd = fd;
	}
}
