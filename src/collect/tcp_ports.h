/* The connections that count, and their direction: the set of ports and the filter that the kernel
 * applies. So 50,000 other connections of a host cost nothing.
 */
#ifndef COLLECT_TCP_PORTS_H
#define COLLECT_TCP_PORTS_H

#include "collect/tcp_parse.h"
#include <stddef.h>

/* A set of ports; empty if zero-initialised. */
struct tcp_ports {
	uint64_t bits[65536 / 64];
};

void tcp_ports_add(struct tcp_ports *p, uint16_t port);
bool tcp_ports_has(const struct tcp_ports *p, uint16_t port);

/* Does this connection count, and in which direction? A local port of the set makes it TCP_IN.
 *
 * `chosen`: the user gave the set. A remote port of the set then makes it TCP_OUT, and a connection
 * without a port of the set does not count. If both ports are in the set it is TCP_IN.
 *
 * Not `chosen`: the set is the ports that this host listens on, and every other connection is
 * TCP_OUT. Connections of the host with itself (loopback, or the same address on both sides) do not
 * count, because they use no network. With chosen ports they count, so that a test cluster on one
 * machine can be watched. */
bool tcp_ports_classify(const struct tcp_ports *p, bool chosen, const struct tcp_sock *s,
	enum tcp_direction *ret_direction);

/* With more port ranges than this, the kernel does not filter. */
#define TCP_FILTER_RANGES 64
#define TCP_FILTER_MAX (TCP_FILTER_RANGES * 40)

/* Write a program for INET_DIAG_REQ_BYTECODE that accepts sockets with a local or remote port in
 * the set. Returns its size, or 0 if the set is empty or has more than TCP_FILTER_RANGES ranges. */
size_t tcp_ports_filter(const struct tcp_ports *p, uint8_t program[TCP_FILTER_MAX]);

#endif
