#include "trace/descriptor_net.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "model/endpoints.h"
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TCP_LISTENING 10

static void forget_sockets(struct net_sockets *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->sockets[i].name);
	s->n = 0;
	memset(s->listening, 0, sizeof(s->listening));
}

void net_sockets_release(struct net_sockets *s)
{
	forget_sockets(s);
	free(s->sockets);
	free(s->space);
	*s = (struct net_sockets){0};
}

static int add(struct net_sockets *s, const struct net_socket *socket, const char *name)
{
	char *copy;

	if (array_reserve(&s->sockets, &s->cap, s->n + 1, sizeof(*s->sockets)) < 0)
		return -ENOMEM;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	s->sockets[s->n] = *socket;
	s->sockets[s->n++].name = copy;
	return 0;
}

/* "0100007F:1F90" or 32 digits of IPv6: words in this machine's order, the port as a number. */
static bool parse_end(const char *text, uint8_t ret_address[16], uint16_t *ret_port, bool *ret_v6)
{
	const char *colon = strchr(text, ':');
	size_t words = colon ? (size_t)(colon - text) / 8 : 0;

	if (!colon || (words != 1 && words != 4) || words * 8 != (size_t)(colon - text))
		return false;
	memset(ret_address, 0, 16);
	for (size_t i = 0; i < words; i++) {
		char digits[9] = "";
		uint32_t word;

		memcpy(digits, text + 8 * i, 8);
		word = (uint32_t)strtoul(digits, NULL, 16);
		memcpy(ret_address + 4 * i, &word, sizeof(word));
	}
	*ret_port = htons((uint16_t)strtoul(colon + 1, NULL, 16));
	*ret_v6 = words == 4;
	return true;
}

#define INET_WORDS 10
#define UNIX_WORDS 7

/* Split off the first `n` words of a line; returns the rest, or NULL if there are fewer. */
static char *cut_words(char *line, char **words, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		line += strspn(line, " ");
		if (!*line)
			return NULL;
		words[i] = line;
		line += strcspn(line, " ");
		if (*line)
			*line++ = '\0';
	}
	return line + strspn(line, " ");
}

/* Parse a line of tcp, tcp6, udp or udp6; 0 also for other lines (the heading). */
static int take_inet(struct net_sockets *s, char *line, bool tcp)
{
	struct net_socket socket = {.file = tcp ? TRACE_FILE_TCP : TRACE_FILE_SOCKET};
	char *words[INET_WORDS], name[ENDPOINTS_TEXT_MAX];
	struct trace_endpoints *e = &socket.ends;
	bool v6, v6_too;

	/* number: local remote status queues timer retransmits user timeout inode */
	if (!cut_words(line, words, INET_WORDS) ||
		!parse_end(words[1], e->local, &e->local_port, &v6) ||
		!parse_end(words[2], e->remote, &e->remote_port, &v6_too))
		return 0;
	socket.inode = strtoull(words[9], NULL, 10);
	e->family = v6 ? AF_INET6 : AF_INET;
	if (!tcp) {
		memset(e, 0, sizeof(*e));
		return add(s, &socket, "udp");
	}
	if (strtoul(words[3], NULL, 16) == TCP_LISTENING)
		s->listening[ntohs(e->local_port) / 8] |= 1u << (ntohs(e->local_port) % 8);
	return add(s, &socket, endpoints_name(e, name));
}

/* "ffff...: 00000002 00000000 00010000 0001 01 23456 /run/x": the path may be missing. */
static int take_unix(struct net_sockets *s, char *line, bool tcp)
{
	struct net_socket socket = {.file = TRACE_FILE_SOCKET};
	char *words[UNIX_WORDS], name[256], *end;
	const char *path = cut_words(line, words, UNIX_WORDS);

	(void)tcp;
	socket.inode = path ? strtoull(words[6], &end, 10) : 0;
	if (!path || *end)
		return 0;
	snprintf(name, sizeof(name), "unix%s%s", *path ? " " : "", path);
	return add(s, &socket, name);
}

static int read_file(struct net_sockets *s, const char *proc, pid_t pid, const char *file,
	int (*take)(struct net_sockets *s, char *line, bool tcp))
{
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *line = NULL;
	char path[PATH_MAX];
	size_t cap = 0;
	ssize_t len;
	int r = 0;

	snprintf(path, sizeof(path), "%s/%d/net/%s", proc, (int)pid, file);
	f = fopen(path, "re");
	while (f && r == 0 && (len = getline(&line, &cap, f)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		r = take(s, line, file[0] == 't');
	}
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct net_socket *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

/* A connection from a port with a listener was accepted there. */
static void find_accepted(struct net_sockets *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct net_socket *socket = &s->sockets[i];
		unsigned port = ntohs(socket->ends.local_port);

		socket->accepted = endpoints_connected(&socket->ends) &&
			(s->listening[port / 8] >> (port % 8) & 1);
	}
}

static int read_all(struct net_sockets *s, const char *proc, pid_t pid)
{
	static const char *const inet[] = {"tcp", "tcp6", "udp", "udp6"};
	int r = 0;

	forget_sockets(s);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(inet); i++)
		r = read_file(s, proc, pid, inet[i], take_inet);
	if (r == 0)
		r = read_file(s, proc, pid, "unix", take_unix);
	if (s->n)
		qsort(s->sockets, s->n, sizeof(*s->sockets), compare);
	find_accepted(s);
	return r;
}

int net_sockets_read(
	struct net_sockets *s, const char *proc, pid_t pid, int64_t now_ns, int64_t max_age_ns)
{
	char path[PATH_MAX], space[64];
	ssize_t len;

	snprintf(path, sizeof(path), "%s/%d/ns/net", proc, (int)pid);
	len = readlink(path, space, sizeof(space) - 1);
	space[len > 0 ? len : 0] = '\0';
	if (s->space && !strcmp(s->space, space) && now_ns - s->read_ns < max_age_ns)
		return 0;
	free(s->space);
	s->space = strdup(space);
	s->read_ns = now_ns;
	return s->space ? read_all(s, proc, pid) : -ENOMEM;
}

const struct net_socket *net_sockets_find(const struct net_sockets *s, uint64_t inode)
{
	const struct net_socket key = {.inode = inode};

	return s->n ? bsearch(&key, s->sockets, s->n, sizeof(key), compare) : NULL;
}
