#include "collect/tcp_ports.h"

#include <linux/inet_diag.h>
#include <string.h>

void tcp_ports_add(struct tcp_ports *p, uint16_t port)
{
	p->bits[port / 64] |= UINT64_C(1) << (port % 64);
}

bool tcp_ports_has(const struct tcp_ports *p, uint16_t port)
{
	return p->bits[port / 64] >> (port % 64) & 1;
}

bool tcp_ports_classify(const struct tcp_ports *p, bool chosen, const struct tcp_sock *s,
	enum tcp_direction *ret_direction)
{
	enum tcp_direction direction = tcp_ports_has(p, s->local_port) ? TCP_IN : TCP_OUT;

	if (chosen) {
		if (direction == TCP_OUT && !tcp_ports_has(p, s->remote_port))
			return false;
	} else if (tcp_addr_is_loopback(&s->remote) || tcp_addr_equal(&s->local, &s->remote)) {
		return false;
	}
	*ret_direction = direction;
	return true;
}

struct port_range {
	uint16_t low, high;
};

/* Convert the set to ranges; returns their number, or 0 if there are more than
 * TCP_FILTER_RANGES. */
static size_t ports_to_ranges(const struct tcp_ports *p, struct port_range *ranges)
{
	size_t n = 0;

	for (unsigned port = 0; port < 65536; port++) {
		if (!tcp_ports_has(p, (uint16_t)port))
			continue;
		if (n > 0 && ranges[n - 1].high + 1u == port) {
			ranges[n - 1].high = (uint16_t)port;
			continue;
		}
		if (n == TCP_FILTER_RANGES)
			return 0;
		ranges[n++] = (struct port_range){(uint16_t)port, (uint16_t)port};
	}
	return n;
}

/* One test "GE low, LE high, then accept". A program accepts by ending exactly at its end and
 * rejects by jumping 4 bytes beyond it. `left` is the number of bytes from here to the end. */
static uint8_t *write_test(uint8_t *at, int ge, int le, struct port_range range, size_t left)
{
	bool last = left == 16;
	/* Where a failed test jumps to: the next test, or the exit. Both are 20 bytes from here. */
	struct inet_diag_bc_op ops[5] = {
		{.code = (unsigned char)ge, .yes = 8, .no = 20},
		{.no = range.low},
		{.code = (unsigned char)le, .yes = 8, .no = 12},
		{.no = range.high},
		{.code = INET_DIAG_BC_JMP, .yes = 4, .no = (unsigned short)(left - 16)},
	};
	size_t size = last ? 16 : 20;

	memcpy(at, ops, size);
	return at + size;
}

size_t tcp_ports_filter(const struct tcp_ports *p, uint8_t program[TCP_FILTER_MAX])
{
	struct port_range ranges[TCP_FILTER_RANGES];
	size_t n = ports_to_ranges(p, ranges);
	size_t size;
	uint8_t *at = program, *end;

	if (n == 0)
		return 0;
	size = n * 40 - 4; /* the last test needs no jump to the end */
	end = program + size;
	for (size_t i = 0; i < n; i++) {
		at = write_test(
			at, INET_DIAG_BC_S_GE, INET_DIAG_BC_S_LE, ranges[i], (size_t)(end - at));
		at = write_test(
			at, INET_DIAG_BC_D_GE, INET_DIAG_BC_D_LE, ranges[i], (size_t)(end - at));
	}
	return size;
}
