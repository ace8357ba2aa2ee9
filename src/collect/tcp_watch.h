/* Decides when a full dump of the kernel's sockets is needed.
 *
 * A dump costs the walk of the whole connection table. Most samples need none: while the number of
 * TCP sockets of this network namespace (/proc/net/sockstat) stays as it was, the sockets known
 * from the last dump are all there are, and few of them are cheaper to ask for one by one. A socket
 * that closes while another opens leaves the number as it is; asking for the closed one fails,
 * which is seen, and every so often a dump is taken in any case.
 */
#ifndef COLLECT_TCP_WATCH_H
#define COLLECT_TCP_WATCH_H

#include "collect/procfile.h"
#include "collect/tcp_parse.h"

/* More sockets than this are cheaper to dump than to ask for. */
#define TCP_WATCH_MAX 64
/* Samples from one dump to the next at the latest. */
#define TCP_WATCH_SAMPLES 30

struct tcp_watch {
	struct procfile stat, stat6; /* fd -1: not there */
	struct proc_root root;
	struct tcp_sock socks[TCP_WATCH_MAX]; /* of interest in the last dump */
	unsigned n;
	bool overflow; /* there were more */
	bool dumped;   /* a dump has been taken at all */
	uint64_t in_use;
	unsigned since_dump;
};

/* Where sockstat cannot be read every sample takes a dump. */
void tcp_watch_open(struct tcp_watch *w);
void tcp_watch_close(struct tcp_watch *w);

/* Are the sockets of the last dump all there are? Asked once a sample. */
bool tcp_watch_steady(struct tcp_watch *w);

/* A dump begins: forget what was known; then remember each socket of interest. */
void tcp_watch_begin(struct tcp_watch *w);
void tcp_watch_add(struct tcp_watch *w, const struct tcp_sock *s);

/* The number of sockets in the text of a sockstat file: what follows "TCP: inuse" or
 * "TCP6: inuse". False: there is none. */
bool tcp_watch_parse(const char *text, uint64_t *ret);

#endif
