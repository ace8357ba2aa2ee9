/* Descriptors: how they come to be, are copied and go; and moving data between them. */
#include "conform.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>

static char data[8192];

static void copies(void)
{
	long fd, copy;

	part_begin("copies");
	fd = DO(open, P("a"), O_RDWR, 0);
	copy = DO(dup, I(fd));
	DO(dup2, I(fd), 50);
	DO(dup2, I(fd), I(fd));
	DO(dup3, I(fd), 51, O_CLOEXEC);
	DO(dup3, I(fd), I(fd), 0); /* EINVAL */
	DO(dup, 999);
	DO(fcntl, I(fd), F_DUPFD, 60);
	DO(fcntl, I(fd), F_DUPFD_CLOEXEC, 70);
	DO(fcntl, I(fd), F_SETFD, FD_CLOEXEC);
	DO(fcntl, I(fd), F_GETFL, 0);
	DO(fcntl, 999, F_GETFD, 0);
	DO(read, 60, P(data), 1);
	DO(close, 50);
	DO(close, I(copy));
	DO(close_range, 51, 69, 0);
	DO(close, 51); /* EBADF */
	DO(close_range, 70, 70, 0);
	DO(close_range, 5, 4, 0); /* EINVAL */
	DO(close, I(fd));
	part_end();
}

static void pipes(void)
{
	int fds[2], pair[2];

	part_begin("pipe");
	text_is(fds, sizeof(fds));
	DO(pipe, P(fds));
	DO(write, I(fds[1]), P(data), 10);
	DO(read, I(fds[0]), P(data), 100);
	DO(fcntl, I(fds[0]), F_SETFL, O_NONBLOCK);
	DO(read, I(fds[0]), P(data), 100); /* EAGAIN */
	DO(close, I(fds[1]));
	DO(read, I(fds[0]), P(data), 100); /* its end */
	DO(close, I(fds[0]));
	text_is(fds, sizeof(fds));
	DO(pipe2, P(fds), O_CLOEXEC | O_NONBLOCK);
	DO(close, I(fds[0]));
	DO(close, I(fds[1]));
	text_is("", 0);
	DO(pipe2, 8, 0); /* EFAULT */
	text_is(pair, sizeof(pair));
	DO(socketpair, AF_UNIX, SOCK_STREAM, 0, P(pair));
	DO(close, I(pair[0]));
	DO(close, I(pair[1]));
	text_is("", 0);
	DO(socketpair, AF_INET, SOCK_STREAM, 0, P(pair)); /* EOPNOTSUPP */
	part_end();
}

static void waiting(long epoll, long event, long timer)
{
	struct epoll_event e = {.events = EPOLLIN};
	struct pollfd p = {(int)event, POLLIN, 0};
	struct timespec brief = {0, 1000000};
	fd_set set;

	FD_ZERO(&set);
	FD_SET((int)event, &set);
	DO(epoll_ctl, I(epoll), EPOLL_CTL_ADD, I(event), P(&e));
	DO(epoll_ctl, I(epoll), EPOLL_CTL_ADD, I(event), P(&e)); /* EEXIST */
	DO(epoll_wait, I(epoll), P(&e), 1, 1);
	DO(poll, P(&p), 1, 1);
	DO(ppoll, P(&p), 1, P(&brief), 0, 8);
	DO(select, I(event) + 1, P(&set), 0, 0, P(&(struct timeval){0, 1000}));
	DO(write, I(event), P(&(uint64_t){3}), 8);
	DO(epoll_pwait, I(epoll), P(&e), 1, 1000, 0, 8);
	DO(read, I(event), P(data), 8);
	DO(read, I(timer), P(data), 8);
	DO(nanosleep, P(&brief), 0);
	DO(sched_yield, );
}

static void anonymous(void)
{
	struct itimerspec soon = {.it_value = {0, 1000000}};
	uint64_t mask = 1ull << (SIGUSR2 - 1);
	long event, epoll, timer, notify, signals, memory;

	part_begin("anonymous");
	event = DO(eventfd2, 0, EFD_NONBLOCK);
	DO(read, I(event), P(data), 8); /* EAGAIN */
	epoll = DO(epoll_create1, 0);
	timer = DO(timerfd_create, CLOCK_MONOTONIC, 0);
	DO(timerfd_settime, I(timer), 0, P(&soon), 0);
	notify = DO(inotify_init1, IN_NONBLOCK);
	path_is(".");
	DO(inotify_add_watch, I(notify), P("."), IN_CREATE);
	signals = DO(signalfd4, I(-1), P(&mask), 8, SOCK_NONBLOCK);
	DO(read, I(signals), P(data), 128); /* EAGAIN */
	path_is("limpet");
	memory = DO(memfd_create, P("limpet"), 0);
	DO(write, I(memory), P(data), 100);
	waiting(epoll, event, timer);
	DO(close, I(memory));
	DO(close, I(signals));
	DO(close, I(notify));
	DO(close, I(timer));
	DO(close, I(epoll));
	DO(close, I(event));
	part_end();
}

/* pidfd_getfd of our own descriptor. */
static void borrowed(void)
{
	long self, fd;

	part_begin("borrowed");
	self = DO(pidfd_open, I(own_pid), 0);
	fd = DO(pidfd_getfd, I(self), 2, 0);
	DO(pidfd_getfd, I(self), 999, 0); /* EBADF */
	DO(close, I(fd));
	DO(close, I(self));
	part_end();
}

void parts_of_descriptors(void)
{
	copies();
	pipes();
	anonymous();
	borrowed();
}

void parts_of_transfer(void)
{
	struct iovec v = {data, 100};
	int one[2], two[2];
	int64_t from = 0, to = 0;
	long in, out;

	part_begin("transfer");
	in = DO(open, P("rw"), O_RDONLY, 0);
	out = DO(open, P("out"), O_RDWR | O_CREAT, 0644);
	text_is(one, sizeof(one));
	DO(pipe2, P(one), 0);
	text_is(two, sizeof(two));
	DO(pipe2, P(two), 0);
	DO(sendfile, I(out), I(in), 0, 50);
	DO(sendfile, I(out), I(in), P(&from), 50);
	DO(copy_file_range, I(in), P(&from), I(out), P(&to), 20, 0);
	DO(splice, I(in), P(&from), I(one[1]), 0, 20, 0);
	DO(tee, I(one[0]), I(two[1]), 20, 0);
	DO(splice, I(one[0]), 0, I(out), 0, 20, 0);
	DO(vmsplice, I(one[1]), P(&v), 1, 0);
	DO(readv, I(one[0]), P(&v), 1);
	DO(splice, I(in), 0, I(out), 0, 20, 0); /* EINVAL: no pipe */
	DO(sendfile, I(out), 999, 0, 10);	/* EBADF */
	DO(close, I(one[0]));
	DO(close, I(one[1]));
	DO(close, I(two[0]));
	DO(close, I(two[1]));
	DO(close, I(out));
	DO(close, I(in));
	part_end();
}
