#include "serve/http_listen.h"

#include "base/cleanup.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define HOST_MAX 256
#define BACKLOG 4096

bool sockaddr_is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;

	if (address->sa_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	if (address->sa_family != AF_INET6)
		return false;
	return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ||
		(IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) && in6->sin6_addr.s6_addr[12] == 127);
}

/* Split "HOST:PORT": the host without brackets, and the port ("" if there is none). */
static int split(const char *where, char host[HOST_MAX], const char **ret_port)
{
	const char *colon = strrchr(where, ':'), *begin = where;
	size_t len;

	if (*where == '[') {
		const char *end = strchr(where, ']');

		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		begin++;
		len = (size_t)(end - begin);
		*ret_port = end[1] ? end + 2 : "";
	} else {
		len = colon ? (size_t)(colon - where) : strlen(where);
		*ret_port = colon ? colon + 1 : "";
	}
	if (len >= HOST_MAX)
		return -EINVAL;
	memcpy(host, begin, len);
	host[len] = '\0';
	return 0;
}

bool host_is_local(const char *host)
{
	char name[HOST_MAX];
	const char *port;
	struct in6_addr any;

	if (split(host, name, &port) < 0)
		return false;
	return !strcasecmp(name, "localhost") || inet_pton(AF_INET, name, &any) == 1 ||
		inet_pton(AF_INET6, name, &any) == 1;
}

static bool is_port(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) <= 5 &&
		strtoul(text, NULL, 10) <= 65535;
}

/* The actual address. */
static void describe(int fd, char *text, size_t size, bool *ret_loopback)
{
	struct sockaddr_storage bound = {0};
	socklen_t len = sizeof(bound);
	char host[64] = "", port[16] = "";

	getsockname(fd, (struct sockaddr *)&bound, &len);
	getnameinfo((struct sockaddr *)&bound, len, host, sizeof(host), port, sizeof(port),
		NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(text, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
	*ret_loopback = sockaddr_is_loopback((struct sockaddr *)&bound);
}

static int bind_to(const struct addrinfo *a)
{
	_cleanup_close_ int fd =
		socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	const int on = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, a->ai_addr, a->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int http_listen(const char *where, char *text, size_t size, bool *ret_loopback, struct lp_err *err)
{
	const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	const char *port = where;
	char host[HOST_MAX] = "127.0.0.1";
	int r = is_port(where) ? 0 : split(where, host, &port), fd;

	if (r < 0 || !is_port(port))
		return lp_err_set(err, -EINVAL,
			"'%s' is not an address to listen on: it should look like 127.0.0.1:9700",
			where);
	r = getaddrinfo(host[0] ? host : NULL, port, &hints, &list);
	if (r)
		return lp_err_set(err, -EINVAL, "cannot listen on %s: %s", where, gai_strerror(r));
	fd = bind_to(list);
	freeaddrinfo(list);
	if (fd < 0)
		return lp_err_sys(err, fd, "cannot listen on %s", where);
	describe(fd, text, size, ret_loopback);
	return fd;
}
