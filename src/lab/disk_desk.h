/* The disk's end of its control socket: takes lines from clients that come and go, without ever
 * waiting for one. */
#ifndef LAB_DISK_DESK_H
#define LAB_DISK_DESK_H

#include "lab/disk_control.h"
#include <poll.h>

#define DESK_CLIENTS_MAX 8
#define DESK_FDS (1 + DESK_CLIENTS_MAX)

struct desk_client {
	int fd; /* -1: none */
	size_t len;
	char line[DISK_LINE_MAX];
};

struct desk {
	int listen_fd;
	const char *path;
	unsigned turn; /* whose place a new client gets if there is no other */
	struct desk_client clients[DESK_CLIENTS_MAX];
	/* Answer a line. */
	void (*answer)(void *ctx, const char *line, char reply[DISK_LINE_MAX]);
	void *ctx;
};

/* Make the socket `path` (which must live as long), in place of one that a dead disk left. */
int desk_open(struct desk *d, const char *path, struct lp_err *err);
void desk_close(struct desk *d);

/* What to poll for: fills DESK_FDS entries. */
void desk_poll(const struct desk *d, struct pollfd fds[DESK_FDS]);
/* Do what can be done after a poll. */
void desk_work(struct desk *d, const struct pollfd fds[DESK_FDS]);

#endif
