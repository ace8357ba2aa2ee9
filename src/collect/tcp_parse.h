/* Reads the kernel's answers about TCP sockets (NETLINK_SOCK_DIAG messages in a buffer); no I/O.
 */
#ifndef COLLECT_TCP_PARSE_H
#define COLLECT_TCP_PARSE_H

#include "collect/tcp_addr.h"
#include <stddef.h>

/* Counters of a socket, in the order of the archive's columns. */
enum tcp_counter {
	TCP_RETRANS,
	TCP_BYTES_SENT,
	TCP_BYTES_ACKED,
	TCP_BYTES_RECEIVED,
	TCP_SEGS_OUT,
	TCP_SEGS_IN,
	TCP_DELIVERED,
	TCP_COUNTERS,
};

/* The data of one socket. */
struct tcp_sock {
	uint64_t cookie; /* the kernel's id of the socket, unique since boot */
	struct tcp_addr local, remote;
	uint16_t local_port, remote_port;
	uint32_t interface;    /* to which it is bound, or 0 */
	uint8_t state;	       /* TCP_ESTABLISHED and so on */
	uint32_t rqueue_bytes; /* received and not yet read by the application */
	uint32_t wqueue_bytes; /* written by it and not yet acknowledged */
	bool has_info;	       /* the members below are set */
	unsigned counted;      /* bit c: this kernel has counter c */
	uint32_t cwnd, rtt_us, unacked;
	uint64_t counters[TCP_COUNTERS];
};

struct tcp_parse {
	/* Set by the caller. */
	uint32_t seq;	 /* of the request; answers to others are ignored */
	uint32_t portid; /* of our netlink socket; 0: do not check */
	void (*sock)(void *ctx, const struct tcp_sock *s);
	void *ctx;
	/* Set by tcp_parse_messages(). */
	bool interrupted;    /* the kernel's tables changed during the dump */
	unsigned long n_bad; /* messages too short for their type, ignored */
	int error;	     /* the kernel's error, a negative errno */
};

/* Is this counter 32 bits wide in the kernel? */
bool tcp_counter_is_short(enum tcp_counter c);

/* Read the messages of one datagram. 1: the dump ends here; 0: more datagrams follow; -EBADMSG: the
 * datagram ends within a message (earlier messages were delivered); -EREMOTEIO: the kernel refused,
 * see `error`. `buf` must be aligned to 4 bytes. */
int tcp_parse_messages(struct tcp_parse *p, const void *buf, size_t size);

#endif
