/* Decides when a full dump of the kernel's sockets is needed.
 *
 * A dump costs a walk of the whole connection table. Most samples need none: while the number of
 * TCP sockets of this network namespace (/proc/net/sockstat) does not change, the sockets of the
 * last dump are all there are, and it is cheaper to ask for a few of them one by one. If one socket
 * closes while another opens, the number stays the same; but then asking for the closed one fails,
 * which is noticed. In addition a dump is taken regularly.
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

/* If sockstat cannot be read, every sample takes a dump. */
void tcp_watch_open(struct tcp_watch *w);
void tcp_watch_close(struct tcp_watch *w);

/* Are the sockets of the last dump all there are? Called once per sample. */
bool tcp_watch_steady(struct tcp_watch *w);

/* A dump begins: forget the known sockets; then remember each socket of interest. */
void tcp_watch_begin(struct tcp_watch *w);
void tcp_watch_add(struct tcp_watch *w, const struct tcp_sock *s);

/* The number of sockets in the text of a sockstat file, after "TCP: inuse" or "TCP6: inuse". False:
 * there is none. */
bool tcp_watch_parse(const char *text, uint64_t *ret);

#endif
