/* The sockets of a network namespace, by their inodes: /proc/PID/net/{tcp,tcp6,udp,udp6,unix}. */
#ifndef TRACE_DESCRIPTOR_NET_H
#define TRACE_DESCRIPTOR_NET_H

#include "model/syscalls.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct net_socket {
	uint64_t inode;
	uint8_t file;		     /* TRACE_FILE_TCP or TRACE_FILE_SOCKET */
	bool accepted;		     /* its local port has a listener */
	struct trace_endpoints ends; /* for TCP; without a remote end it listens */
	char *name;		     /* "tcp 10.0.0.1:24007 10.0.0.9:49151", "unix /run/x" */
};

struct net_sockets {
	char *space; /* the namespace: "net:[4026531840]" */
	int64_t read_ns;
	struct net_socket *sockets; /* sorted by inode */
	size_t n, cap;
	uint8_t listening[65536 / 8]; /* local ports of TCP, host order */
};

void net_sockets_release(struct net_sockets *s);

/* Read the sockets that process `pid` can use, unless they were read less than `max_age_ns` ago.
 * Missing files are skipped. 0 or -ENOMEM. */
int net_sockets_read(
	struct net_sockets *s, const char *proc, pid_t pid, int64_t now_ns, int64_t max_age_ns);

const struct net_socket *net_sockets_find(const struct net_sockets *s, uint64_t inode);

#endif
