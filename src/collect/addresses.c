#include "collect/addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static bool tell_v4(const struct sockaddr_in *a, char *buf, size_t size)
{
	uint32_t bits = ntohl(a->sin_addr.s_addr);

	if (bits >> 24 == 127 || bits >> 16 == 0xa9fe || bits == 0)
		return false;
	return inet_ntop(AF_INET, &a->sin_addr, buf, (socklen_t)size) != NULL;
}

static bool tell_v6(const struct sockaddr_in6 *a, char *buf, size_t size)
{
	const struct in6_addr *bits = &a->sin6_addr;

	if (IN6_IS_ADDR_LOOPBACK(bits) || IN6_IS_ADDR_LINKLOCAL(bits) ||
		IN6_IS_ADDR_UNSPECIFIED(bits))
		return false;
	return inet_ntop(AF_INET6, bits, buf, (socklen_t)size) != NULL;
}

bool address_format(const struct sockaddr *a, char *buf, size_t size)
{
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;

	switch (a->sa_family) {
	case AF_INET:
		memcpy(&v4, a, sizeof(v4));
		return tell_v4(&v4, buf, size);
	case AF_INET6:
		memcpy(&v6, a, sizeof(v6));
		return tell_v6(&v6, buf, size);
	default:
		return false;
	}
}

void addresses_own(char *buf, size_t size)
{
	struct ifaddrs *all;
	size_t len = 0;

	buf[0] = '\0';
	if (getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		char text[INET6_ADDRSTRLEN];

		if (!i->ifa_addr || !address_format(i->ifa_addr, text, sizeof(text)) ||
			len + strlen(text) + 2 > size)
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? "," : "", text);
	}
	freeifaddrs(all);
}
