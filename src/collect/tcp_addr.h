/* Addresses of TCP peers and the names of their components. IPv4 addresses are kept in their
 * IPv4-mapped form (::ffff:a.b.c.d), so that a peer has the same address through an IPv4 socket and
 * through an IPv6 socket that accepts IPv4.
 */
#ifndef COLLECT_TCP_ADDR_H
#define COLLECT_TCP_ADDR_H

#include <stdbool.h>
#include <stdint.h>

struct tcp_addr {
	uint8_t bytes[16];
};

enum tcp_direction {
	TCP_IN,	 /* the peer connected to us: we serve */
	TCP_OUT, /* we connected to the peer: we are its client */
	TCP_DIRECTIONS,
};

/* The longest name is "[", 45 characters of IPv6, "]:out". */
#define TCP_NAME_MAX 64

/* Convert from the kernel's form: `raw` is in network byte order, and AF_INET uses its first
 * word. */
struct tcp_addr tcp_addr_make(int family, const uint32_t raw[4]);

/* Convert to the kernel's form; returns the family. */
int tcp_addr_raw(const struct tcp_addr *a, uint32_t ret_raw[4]);

/* Is it in 127.0.0.0/8, or ::1? */
bool tcp_addr_is_loopback(const struct tcp_addr *a);

bool tcp_addr_equal(const struct tcp_addr *a, const struct tcp_addr *b);

/* Write the component's name: "10.0.0.3:in", "[fe80::1]:out", or "other:in" if `a` is NULL. Returns
 * `buf`. */
const char *tcp_addr_name(
	const struct tcp_addr *a, enum tcp_direction direction, char buf[TCP_NAME_MAX]);

#endif
