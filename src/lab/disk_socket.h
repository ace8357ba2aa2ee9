/* The disk's end of its control socket: reads lines from clients that come and go, without ever
 * waiting for one. */
#ifndef LAB_DISK_SOCKET_H
#define LAB_DISK_SOCKET_H

#include "lab/disk_control.h"
#include <poll.h>

#define DISK_SOCKET_CLIENTS_MAX 8
#define DISK_SOCKET_FDS (1 + DISK_SOCKET_CLIENTS_MAX)

struct disk_socket_client {
	int fd; /* -1: none */
	size_t len;
	char line[DISK_LINE_MAX];
};

struct disk_socket {
	int listen_fd;
	const char *path;
	unsigned turn; /* the client to replace next if there is no free place */
	struct disk_socket_client clients[DISK_SOCKET_CLIENTS_MAX];
	/* Answer a line. */
	void (*answer)(void *ctx, const char *line, char reply[DISK_LINE_MAX]);
	void *ctx;
};

/* Create the socket `path` (which must outlive it), replacing one of a dead disk. It gets this name
 * only when it accepts connections. */
int disk_socket_open(struct disk_socket *d, const char *path, struct lp_err *err);
void disk_socket_close(struct disk_socket *d);

/* Fill in DISK_SOCKET_FDS entries for poll(). */
void disk_socket_poll(const struct disk_socket *d, struct pollfd fds[DISK_SOCKET_FDS]);
/* Process the events of a poll. */
void disk_socket_work(struct disk_socket *d, const struct pollfd fds[DISK_SOCKET_FDS]);

#endif
