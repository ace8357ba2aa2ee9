/* Asks the kernel for its TCP sockets through NETLINK_SOCK_DIAG. It needs no privilege. It sees the
 * network namespace of the thread that opens it: to watch another one, call setns() first.
 *
 * The cost of a dump is the kernel's walk through its hash table of connections (0.33 ms for
 * 262,144 chains), even if there are few. There are two requests. The newer one covers one family,
 * so it takes two walks. The older one returns IPv4 and IPv6 in one walk, so limpet prefers it.
 */
#ifndef COLLECT_TCP_DIAG_H
#define COLLECT_TCP_DIAG_H

#include "collect/tcp_parse.h"
#include "collect/tcp_ports.h"
#include <limpet/err.h>

#define TCP_LOOKUP_MAX 64

struct mnl_socket;

struct tcp_diag {
	struct mnl_socket *nl; /* NULL after a failure: the next dump opens it again */
	uint32_t seq;
	bool by_family; /* this kernel does not support the older request */
	bool no_v6;	/* and it does not support IPv6 sockets */
	uint8_t *answer;
	uint8_t filter[TCP_FILTER_MAX]; /* the kernel's filter of ports */
	size_t filter_size;		/* 0: none */
	unsigned long n_bad;		/* messages that were too short, in total */
};

/* Open it, and test whether this kernel answers. -EOPNOTSUPP: it does not, and `err` says what it
 * lacks. The kernel leaves out sockets without a port of `ports`; if `ports` is NULL, or the kernel
 * does not support the filter, all are delivered. */
int tcp_diag_open(struct tcp_diag *d, const struct tcp_ports *ports, struct lp_err *err);
void tcp_diag_close(struct tcp_diag *d);

/* Call `sock` for every socket in one of the `states` (a mask of 1 << TCP_ESTABLISHED and so on),
 * with its tcp_info if `info`. 0: complete; 1: the kernel's tables changed during the dump, or
 * answers were lost, so sockets may be missing or repeated. */
int tcp_diag_dump(struct tcp_diag *d, uint32_t states, bool info,
	void (*sock)(void *ctx, const struct tcp_sock *s), void *ctx, struct lp_err *err);

/* The same, with tcp_info, for single sockets that a dump delivered (at most TCP_LOOKUP_MAX).
 * -ENOENT: one of them is gone; the others may or may not have been delivered. */
int tcp_diag_lookup(struct tcp_diag *d, const struct tcp_sock *socks, unsigned n,
	void (*sock)(void *ctx, const struct tcp_sock *s), void *ctx, struct lp_err *err);

#endif
