/* Sockets: TCP over the loopback device, UNIX sockets, and descriptors that pass through them. */
#include "conform.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

static char data[4096];
static struct iovec vec = {data, 100};

static long tcp_server(struct sockaddr_in *ret)
{
	socklen_t len = sizeof(*ret);
	long fd = DO(socket, AF_INET, SOCK_STREAM, 0);

	*ret = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	DO(bind, I(fd), P(ret), sizeof(*ret));
	DO(listen, I(fd), 5);
	DO(getsockname, I(fd), P(ret), P(&len));
	return fd;
}

static void tcp_talk(long client, long server)
{
	struct msghdr m = {.msg_iov = &vec, .msg_iovlen = 1};
	struct mmsghdr mm[2] = {{.msg_hdr = m}, {.msg_hdr = m}};

	DO(write, I(client), P(data), 10);
	DO(read, I(server), P(data), 100);
	DO(sendto, I(server), P(data), 20, 0, 0, 0);
	DO(recvfrom, I(client), P(data), 100, 0, 0, 0);
	DO(sendmsg, I(client), P(&m), 0);
	DO(recvmsg, I(server), P(&m), 0);
	DO(sendmmsg, I(client), P(mm), 2, 0);
	DO(recvmmsg, I(server), P(mm), 1, 0, 0);
	DO(recvfrom, I(server), P(data), 1000, MSG_DONTWAIT, 0, 0);
	DO(recvfrom, I(server), P(data), 100, MSG_DONTWAIT, 0, 0); /* EAGAIN */
	DO(setsockopt, I(client), IPPROTO_TCP, 1, P(&(int){1}), 4);
	DO(shutdown, I(client), SHUT_WR);
	DO(read, I(server), P(data), 100); /* its end */
	DO(write, I(client), P(data), 10); /* EPIPE */
}

static void tcp(void)
{
	struct sockaddr_in address = {0};
	struct sockaddr_in local = {0};
	socklen_t len = sizeof(local);
	long listener, client, server, late, other;

	part_begin("tcp");
	listener = tcp_server(&address);
	client = DO(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	DO(connect, I(client), P(&address), sizeof(address));
	server = DO(accept4, I(listener), 0, 0, SOCK_CLOEXEC);
	tcp_talk(client, server);
	late = DO(socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	DO(connect, I(late), P(&address), sizeof(address)); /* EINPROGRESS or at once */
	other = DO(accept, I(listener), 0, 0);
	part_end();
	MUST(getsockname((int)client, (void *)&local, &len) == 0);
	note("ports %d %d %d", own_pid, ntohs(address.sin_port), ntohs(local.sin_port));
	part_begin("tcp_end");
	DO(close, I(other));
	DO(close, I(late));
	DO(close, I(server));
	DO(close, I(client));
	DO(close, I(listener));
	client = DO(socket, AF_INET, SOCK_STREAM, 0);
	DO(connect, I(client), P(&address), sizeof(address)); /* ECONNREFUSED */
	DO(close, I(client));
	part_end();
}

static void tcp6(void)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	socklen_t len = sizeof(address);
	long listener, client, server;

	part_begin("tcp6");
	listener = DO(socket, AF_INET6, SOCK_STREAM, 0);
	if (listener >= 0 && DO(bind, I(listener), P(&address), sizeof(address)) == 0) {
		DO(listen, I(listener), 5);
		DO(getsockname, I(listener), P(&address), P(&len));
		client = DO(socket, AF_INET6, SOCK_STREAM, 0);
		DO(connect, I(client), P(&address), sizeof(address));
		server = DO(accept, I(listener), 0, 0);
		DO(write, I(client), P(data), 10);
		DO(read, I(server), P(data), 10);
		DO(close, I(server));
		DO(close, I(client));
		DO(close, I(listener));
	}
	part_end();
}

/* Send and receive descriptors; what is received is noted with the text that shows them. */
static void pass(int from, int to, int fd)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr h;
	} control = {.h = {CMSG_LEN(2 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct msghdr m = {.msg_iov = &vec,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	int *fds = (void *)CMSG_DATA(&control.h);

	fds[0] = fd;
	fds[1] = from;
	DO(sendmsg, I(from), P(&m), 0);
	memset(&control, 0, sizeof(control));
	text_is(fds, 2 * sizeof(int));
	DO(recvmsg, I(to), P(&m), 0);
	DO(fcntl, I(fds[0]), F_GETFD, 0);
	DO(close, I(fds[0]));
	DO(close, I(fds[1]));
	m.msg_controllen = 0;
	DO(sendmsg, I(from), P(&m), 0);
	text_is("", 0);
	DO(recvmsg, I(to), P(&m), 0);
}

static void local(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
	long listener, client, server, file;
	int pair[2];

	part_begin("unix");
	listener = DO(socket, AF_UNIX, SOCK_STREAM, 0);
	client = DO(socket, AF_UNIX, SOCK_STREAM, 0);
	DO(connect, I(client), P(&address), sizeof(address)); /* ENOENT */
	DO(bind, I(listener), P(&address), sizeof(address));
	DO(listen, I(listener), 5);
	DO(connect, I(client), P(&address), sizeof(address));
	server = DO(accept, I(listener), 0, 0);
	DO(write, I(client), P(data), 10);
	DO(read, I(server), P(data), 100);
	DO(close, I(listener));
	DO(close, I(client));
	DO(close, I(server));
	file = DO(open, P("a"), O_RDONLY, 0);
	text_is(pair, sizeof(pair));
	DO(socketpair, AF_UNIX, SOCK_STREAM, 0, P(pair));
	pass(pair[0], pair[1], (int)file);
	DO(close, I(pair[0]));
	DO(close, I(pair[1]));
	DO(close, I(file));
	part_end();
}

static void datagrams(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(to);
	long fd;

	part_begin("datagram");
	fd = DO(socket, AF_INET, SOCK_DGRAM, 0);
	DO(bind, I(fd), P(&to), sizeof(to));
	DO(getsockname, I(fd), P(&to), P(&len));
	DO(sendto, I(fd), P(data), 10, 0, P(&to), sizeof(to));
	DO(recvfrom, I(fd), P(data), 100, 0, 0, 0);
	DO(close, I(fd));
	part_end();
}

void parts_of_sockets(void)
{
	tcp();
	tcp6();
	local();
	datagrams();
}
