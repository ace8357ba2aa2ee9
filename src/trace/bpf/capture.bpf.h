/* Copies the data behind the arguments of a call to the text of its event. */
#ifndef TRACE_BPF_CAPTURE_H
#define TRACE_BPF_CAPTURE_H

#ifdef __bpf__

#include "trace/bpf/file.bpf.h"

#define PATH_MAX_ONE (TRACE_TEXT_MAX - 1)
#define PATH_MAX_TWO (TRACE_TEXT_MAX / 2 - 1)
#define RIGHTS_MAX 253 /* the kernel's own limit for one message */
#define MESSAGES_MAX 4 /* the maximum number of control messages to examine */
#define SOL_SOCKET 1
#define SCM_RIGHTS 1

/* Append the string at `address`, at most `max` bytes of it. Reads one more byte, because a string
 * that fills the whole buffer may have been truncated. */
FORCE_INLINE void capture_string(struct scratch *s, uint64_t address, uint32_t max)
{
	uint32_t at = s->record.text_len & (TRACE_TEXT_MAX - 1);
	long n = bpf_probe_read_user_str(s->text + at, max + 2, (const void *)address);

	if (n <= 0)
		return;
	if (n == max + 2) {
		s->record.flags |= TRACE_CUT;
		n--;
	}
	s->record.text_len = at + (uint32_t)n - 1;
}

FORCE_INLINE void capture_two(struct scratch *s, uint64_t first, uint64_t second)
{
	uint32_t at;

	capture_string(s, first, PATH_MAX_TWO);
	at = s->record.text_len & (TRACE_TEXT_MAX - 1);
	s->text[at] = 0;
	s->record.text_len = at + 1;
	capture_string(s, second, PATH_MAX_TWO);
}

FORCE_INLINE void capture_bytes(struct scratch *s, uint64_t address, uint32_t len)
{
	if (!bpf_probe_read_user(s->text, len & (TRACE_TEXT_MAX - 1), (const void *)address))
		s->record.text_len = len;
}

struct user_message {
	uint64_t name, name_len, vector, n_vector, control, control_len;
};

struct user_control {
	uint64_t len;
	int32_t level, type;
};

/* The descriptors that came with a message. */
FORCE_INLINE void capture_rights(struct scratch *s, uint64_t address)
{
	struct user_message m;
	struct user_control c;
	uint64_t at = 0;

	if (bpf_probe_read_user(&m, sizeof(m), (const void *)address))
		return;
	for (int i = 0; i < MESSAGES_MAX; i++) {
		if (at + sizeof(c) > m.control_len ||
			bpf_probe_read_user(&c, sizeof(c), (const void *)(m.control + at)) ||
			c.len < sizeof(c))
			return;
		if (c.level == SOL_SOCKET && c.type == SCM_RIGHTS) {
			uint64_t len = c.len - sizeof(c);

			if (len <= RIGHTS_MAX * sizeof(int32_t))
				capture_bytes(s, m.control + at + sizeof(c), (uint32_t)len);
			return;
		}
		at += (c.len + 7) & ~7ull;
	}
}

#define ENETUNREACH 101
#define ECONNABORTED 103
#define EHOSTUNREACH 113

/* A failed connection no longer has a remote end: the address from the program is at `address`.
 * These are errors of connect(); that of accept() is ECONNABORTED. */
FORCE_INLINE void ends_wanted(uint64_t address, int64_t ret, struct trace_endpoints *ends)
{
	struct {
		uint16_t family, port;
		uint32_t v4; /* for IPv6, its flow */
	} to;

	if (ret < -EHOSTUNREACH || ret > -ENETUNREACH || ret == -ECONNABORTED ||
		bpf_probe_read_user(&to, sizeof(to), (const void *)address))
		return;
	if (to.family == AF_INET)
		__builtin_memcpy(ends->remote, &to.v4, sizeof(to.v4));
	else if (to.family != AF_INET6 ||
		bpf_probe_read_user(
			ends->remote, sizeof(ends->remote), (const void *)(address + sizeof(to))))
		return;
	ends->family = to.family;
	ends->remote_port = to.port;
}

FORCE_INLINE void capture_ends(struct scratch *s, uint64_t address, const struct look *seen)
{
	struct trace_endpoints ends = {};

	if (seen->file == TRACE_FILE_TCP && seen->sock)
		ends_get(seen->sock, &ends);
	if (seen->file == TRACE_FILE_TCP && !ends.family)
		ends_wanted(address, s->record.ret, &ends);
	__builtin_memcpy(s->text, &ends, sizeof(ends));
	s->record.text_len = sizeof(ends);
}

/* Is there data to copy? A plain event is cheaper. */
FORCE_INLINE bool capture_wanted(unsigned capture, const struct bpf_record *r)
{
	switch (capture) {
	case CAPTURE_NONE:
		return false;
	case CAPTURE_FDS:
	case CAPTURE_RIGHTS:
		return r->ret >= 0;
	}
	return true;
}

FORCE_INLINE void capture(
	struct scratch *s, unsigned what, const uint64_t args[TRACE_ARGS], const struct look *seen)
{
	switch (what) {
	case CAPTURE_PATH0:
		capture_string(s, args[0], PATH_MAX_ONE);
		break;
	case CAPTURE_PATH1:
		capture_string(s, args[1], PATH_MAX_ONE);
		break;
	case CAPTURE_PATHS_01:
		capture_two(s, args[0], args[1]);
		break;
	case CAPTURE_PATHS_13:
		capture_two(s, args[1], args[3]);
		break;
	case CAPTURE_PATHS_02:
		capture_two(s, args[0], args[2]);
		break;
	case CAPTURE_ENDPOINTS:
		capture_ends(s, args[1], seen);
		break;
	case CAPTURE_FDS:
		/* socketpair(domain, type, protocol, fds), pipe(fds): a domain is not an
		 * address. */
		capture_bytes(s, args[0] > 4096 ? args[0] : args[3], 2 * sizeof(int32_t));
		break;
	case CAPTURE_RIGHTS:
		capture_rights(s, args[1]);
		break;
	}
}

#endif
#endif
