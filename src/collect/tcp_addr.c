#include "collect/tcp_addr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct tcp_addr tcp_addr_make(int family, const uint32_t raw[4])
{
	struct tcp_addr a;

	if (family == AF_INET) {
		memcpy(a.bytes, mapped_prefix, sizeof(mapped_prefix));
		memcpy(a.bytes + 12, raw, 4);
	} else {
		memcpy(a.bytes, raw, sizeof(a.bytes));
	}
	return a;
}

static bool tcp_addr_is_v4(const struct tcp_addr *a)
{
	return memcmp(a->bytes, mapped_prefix, sizeof(mapped_prefix)) == 0;
}

int tcp_addr_raw(const struct tcp_addr *a, uint32_t ret_raw[4])
{
	bool v4 = tcp_addr_is_v4(a);

	memset(ret_raw, 0, 16);
	memcpy(ret_raw, a->bytes + (v4 ? 12 : 0), v4 ? 4 : 16);
	return v4 ? AF_INET : AF_INET6;
}

bool tcp_addr_is_loopback(const struct tcp_addr *a)
{
	static const struct tcp_addr one = {.bytes = {[15] = 1}};

	if (tcp_addr_is_v4(a))
		return a->bytes[12] == 127;
	return tcp_addr_equal(a, &one);
}

bool tcp_addr_equal(const struct tcp_addr *a, const struct tcp_addr *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

const char *tcp_addr_name(
	const struct tcp_addr *a, enum tcp_direction direction, char buf[TCP_NAME_MAX])
{
	const char *suffix = direction == TCP_IN ? "in" : "out";
	char text[INET6_ADDRSTRLEN];

	if (!a) {
		snprintf(buf, TCP_NAME_MAX, "other:%s", suffix);
	} else if (tcp_addr_is_v4(a)) {
		inet_ntop(AF_INET, a->bytes + 12, text, sizeof(text));
		snprintf(buf, TCP_NAME_MAX, "%s:%s", text, suffix);
	} else {
		inet_ntop(AF_INET6, a->bytes, text, sizeof(text));
		snprintf(buf, TCP_NAME_MAX, "[%s]:%s", text, suffix);
	}
	return buf;
}
