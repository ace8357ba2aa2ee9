#include "model/endpoints.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static const char *format_end(
	unsigned family, const uint8_t address[16], uint16_t port, char buf[ENDPOINT_TEXT_MAX])
{
	bool mapped = family == AF_INET6 && !memcmp(address, mapped_prefix, sizeof(mapped_prefix));
	char text[INET6_ADDRSTRLEN] = "?";

	if (family == AF_INET || mapped) {
		inet_ntop(AF_INET, address + (mapped ? sizeof(mapped_prefix) : 0), text,
			sizeof(text));
		snprintf(buf, ENDPOINT_TEXT_MAX, "%s:%u", text, ntohs(port));
	} else {
		inet_ntop(AF_INET6, address, text, sizeof(text));
		snprintf(buf, ENDPOINT_TEXT_MAX, "[%s]:%u", text, ntohs(port));
	}
	return buf;
}

const char *endpoints_local(const struct trace_endpoints *e, char buf[ENDPOINT_TEXT_MAX])
{
	return format_end(e->family, e->local, e->local_port, buf);
}

const char *endpoints_remote(const struct trace_endpoints *e, char buf[ENDPOINT_TEXT_MAX])
{
	return format_end(e->family, e->remote, e->remote_port, buf);
}

const char *endpoints_name(const struct trace_endpoints *e, char buf[ENDPOINTS_TEXT_MAX])
{
	char local[ENDPOINT_TEXT_MAX], remote[ENDPOINT_TEXT_MAX];

	if (e->family != AF_INET && e->family != AF_INET6)
		snprintf(buf, ENDPOINTS_TEXT_MAX, "tcp");
	else if (!endpoints_connected(e))
		snprintf(buf, ENDPOINTS_TEXT_MAX, "tcp %s", endpoints_local(e, local));
	else
		snprintf(buf, ENDPOINTS_TEXT_MAX, "tcp %s %s", endpoints_local(e, local),
			endpoints_remote(e, remote));
	return buf;
}

bool endpoints_connected(const struct trace_endpoints *e)
{
	return (e->family == AF_INET || e->family == AF_INET6) && e->remote_port != 0;
}

/* "10.0.0.1:24007" or "[fe80::1]:24007", `len` characters. Returns the family; 0: neither. */
static unsigned parse_end(const char *text, size_t len, uint8_t ret_address[16], uint16_t *ret_port)
{
	char copy[ENDPOINT_TEXT_MAX], *colon, *end;
	unsigned family;
	unsigned long port;

	if (len >= sizeof(copy))
		return 0;
	memcpy(copy, text, len);
	copy[len] = '\0';
	colon = strrchr(copy, ':');
	if (!colon || colon == copy || !colon[1])
		return 0;
	port = strtoul(colon + 1, &end, 10);
	if (*end || port > UINT16_MAX)
		return 0;
	*colon = '\0';
	family = copy[0] == '[' ? AF_INET6 : AF_INET;
	if (family == AF_INET6) {
		if (colon[-1] != ']')
			return 0;
		colon[-1] = '\0';
	}
	*ret_port = htons((uint16_t)port);
	memset(ret_address, 0, 16);
	return inet_pton((int)family, copy + (family == AF_INET6), ret_address) == 1 ? family : 0;
}

bool endpoints_parse(const char *name, struct trace_endpoints *ret)
{
	struct trace_endpoints e = {0};
	const char *blank;
	unsigned local, remote;

	if (strncmp(name, "tcp ", 4) != 0)
		return false;
	blank = strchr(name + 4, ' ');
	if (!blank)
		return false;
	local = parse_end(name + 4, (size_t)(blank - name - 4), e.local, &e.local_port);
	remote = parse_end(blank + 1, strlen(blank + 1), e.remote, &e.remote_port);
	if (!local || local != remote)
		return false;
	e.family = (uint16_t)local;
	*ret = e;
	return true;
}

bool endpoints_of_event(const struct trace_event *e, struct trace_endpoints *ret)
{
	const struct syscall_info *s = trace_event_syscall(e);
	struct trace_endpoints ends;

	if (!s || s->capture != CAPTURE_ENDPOINTS || !e->text || e->text_len < sizeof(ends))
		return false;
	memcpy(&ends, e->text, sizeof(ends));
	if (ends.family != AF_INET && ends.family != AF_INET6)
		return false;
	*ret = ends;
	return true;
}
