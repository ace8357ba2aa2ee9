/* Decides when a full dump of the kernel's sockets is needed.
 *
 * A dump costs a walk of the whole connection table. Most samples need none: while the number of
 * TCP sockets of this network namespace (/proc/net/sockstat) does not change, there are no other
 * sockets than those of the last dump, and it is cheaper to query a few of them one by one. If one
 * socket closes while another opens, the number stays the same, but the query for the closed one
 * fails. In addition, limpet takes a dump regularly.
 */
#ifndef COLLECT_TCP_WATCH_H
#define COLLECT_TCP_WATCH_H

#include "collect/procfile.h"
#include "collect/tcp_parse.h"

/* If there are more sockets than this, a dump costs less than single queries. */
#define TCP_WATCH_MAX 64
/* The maximum number of samples between two dumps. */
#define TCP_WATCH_SAMPLES 30

struct tcp_watch {
	struct procfile stat, stat6; /* fd -1: does not exist */
	struct proc_root root;
	struct tcp_sock socks[TCP_WATCH_MAX]; /* the relevant sockets of the last dump */
	unsigned n;
	bool overflow; /* there were more */
	bool dumped;   /* there was a dump */
	uint64_t in_use;
	unsigned since_dump;
};

/* Open it. If sockstat cannot be read, every sample takes a dump. */
void tcp_watch_open(struct tcp_watch *w);
void tcp_watch_close(struct tcp_watch *w);

/* Are the sockets of the last dump still all sockets? Call it once per sample. */
bool tcp_watch_steady(struct tcp_watch *w);

/* A dump begins: forget the known sockets; then add each relevant socket. */
void tcp_watch_begin(struct tcp_watch *w);
void tcp_watch_add(struct tcp_watch *w, const struct tcp_sock *s);

/* The number of sockets in the text of a sockstat file, after "TCP: inuse" or "TCP6: inuse". False:
 * the text has none. */
bool tcp_watch_parse(const char *text, uint64_t *ret);

#endif
