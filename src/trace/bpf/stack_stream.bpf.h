/* Finds messages in the data that daemons send and receive over TCP.
 *
 * Records of RPC (RFC 5531, section 11) begin with their length in four bytes, and messages of
 * OrangeFS with a BMI header. A receiver reads these first, then the rest, often in many short
 * reads. When the message is complete, one event is made of all of them. Streams of other protocols
 * are only counted.
 */
#ifndef TRACE_BPF_STACK_STREAM_H
#define TRACE_BPF_STACK_STREAM_H

#ifdef __bpf__

#include "trace/bpf/stack_maps.bpf.h"

#define MARK_LAST 0x80000000u
#define MARK_SIZE 4u
#define RECORD_MIN 24u
#define RECORD_MAX (64u << 20)
#define RPC_CALL 0
#define RPC_REPLY 1
#define RPC_VERSION 2

#define BMI_MAGIC 51903u /* as a record mark it would be far too long */
#define BMI_UNEXPECTED 2
#define BMI_EAGER 4
#define BMI_RENDEZVOUS 8

/* The BMI header of each message, little-endian. */
struct bmi_header {
	uint32_t magic, mode;
	uint64_t tag, size;
};

/* Mark, header and arguments use at most this many buffers. */
#define PARTS 3

/* A buffer of a call. */
struct part {
	const void *base;
	uint64_t len;
};

struct user_msghdr {
	void *name;
	int name_len;
	void *iov;
	uint64_t n_iov;
};

/* The first buffers of a call. */
FORCE_INLINE bool parts_get(const struct stack_call *c, struct part parts[PARTS])
{
	const void *vector = (const void *)c->buffer;
	uint64_t n = c->n_buffers;
	struct user_msghdr header = {};

	parts[0] = parts[1] = parts[2] = (struct part){};
	if (c->message) {
		if (bpf_probe_read_user(&header, sizeof(header), vector))
			return false;
		vector = header.iov;
		n = header.n_iov;
	} else if (!n) {
		parts[0] = (struct part){vector, (uint64_t)c->size};
		return c->size > 0;
	}
	if (!n || bpf_probe_read_user(&parts[0], sizeof(parts[0]), vector))
		return false;
	if (n > 1)
		bpf_probe_read_user(&parts[1], sizeof(parts[1]), vector + sizeof(parts[0]));
	if (n > 2)
		bpf_probe_read_user(&parts[2], sizeof(parts[2]), vector + 2 * sizeof(parts[0]));
	return true;
}

/* The state of one direction of a connection. */
struct stack_stream {
	uint32_t phase; /* enum stream_phase */
	uint32_t left;	/* remaining bytes of the record */
	uint32_t next;	/* position after the data so far */
	uint32_t bad;	/* consecutive invalid records */
	struct stack_message message;
	uint8_t behind[STACK_HEAD]; /* so that the verifier accepts that heads fit */
};

enum stream_phase { STREAM_MARK, STREAM_HEAD, STREAM_BODY };

struct stream_key {
	uint64_t sock, sends;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct stream_key);
	__type(value, struct stack_stream);
} streams SEC(".maps");

/* The initial state of a stream: it is too large for the stack of a program. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct stack_stream);
} no_stream SEC(".maps");

FORCE_INLINE struct stack_stream *stream_get(const struct stack_call *c)
{
	struct stream_key key = {.sock = c->file, .sends = c->writes};
	struct stack_stream *s = bpf_map_lookup_elem(&streams, &key), *nothing;
	uint32_t zero = 0;

	if (s)
		return s;
	nothing = bpf_map_lookup_elem(&no_stream, &zero);
	if (nothing)
		bpf_map_update_elem(&streams, &key, nothing, BPF_NOEXIST);
	return bpf_map_lookup_elem(&streams, &key);
}

FORCE_INLINE void stream_ends(struct stack_message *m, struct sock *sock)
{
	m->family = BPF_CORE_READ(sock, __sk_common.skc_family);
	m->remote_port = BPF_CORE_READ(sock, __sk_common.skc_dport);
	m->local_port = __builtin_bswap16(BPF_CORE_READ(sock, __sk_common.skc_num));
	if (m->family == AF_INET6) {
		bpf_core_read(m->local, sizeof(m->local), &sock->__sk_common.skc_v6_rcv_saddr);
		bpf_core_read(m->remote, sizeof(m->remote), &sock->__sk_common.skc_v6_daddr);
		return;
	}
	bpf_core_read(m->local, 4, &sock->__sk_common.skc_rcv_saddr);
	bpf_core_read(m->remote, 4, &sock->__sk_common.skc_daddr);
}

FORCE_INLINE uint32_t head_room(const struct stack_message *m)
{
	return m->protocol == STACK_BMI ? STACK_HEAD : STACK_HEAD_SHORT;
}

/* Add bytes to the head, as far as there is room. The compiler must not optimise the bounds away,
 * which the verifier requires immediately before the copy. */
FORCE_INLINE void stream_append(struct stack_message *m, const void *from, uint64_t len)
{
	uint32_t room = head_room(m);
	uint32_t at = m->n_head, n = len > room ? room : (uint32_t)len;

	if (at >= room)
		return;
	if (n > room - at)
		n = room - at;
	asm volatile("" : "+r"(n), "+r"(at));
	if (n > STACK_HEAD || at >= STACK_HEAD)
		return;
	if (!bpf_probe_read_user(m->head + at, n, from))
		m->n_head = at + n;
}

/* Copy heads from the `n` transferred bytes. `skip` bytes at the beginning are the mark, which may
 * be a separate buffer. Later bytes in the buffers are old. */
FORCE_INLINE void stream_heads(
	struct stack_message *m, const struct part parts[PARTS], uint32_t skip, uint32_t n)
{
	uint64_t left = n;

	for (int i = 0; i < PARTS; i++) {
		uint64_t len = parts[i].len < left ? parts[i].len : left;
		uint64_t mark = skip < len ? skip : len;

		left -= len;
		skip -= (uint32_t)mark;
		stream_append(m, parts[i].base + mark, len - mark);
	}
}

/* Can a record begin with this: its number, call or reply, and for a call the version of RPC? */
FORCE_INLINE bool is_rpc(const struct stack_message *m)
{
	const uint32_t *words = (const uint32_t *)m->head;

	if (m->protocol != STACK_RPC || m->n_head < 12)
		return true; /* more data will come */
	return words[1] == __builtin_bswap32(RPC_REPLY) ||
		(words[1] == __builtin_bswap32(RPC_CALL) &&
			words[2] == __builtin_bswap32(RPC_VERSION));
}

FORCE_INLINE bool is_mark(uint32_t mark)
{
	uint32_t len = mark & ~MARK_LAST;

	return mark & MARK_LAST && len >= RECORD_MIN && len <= RECORD_MAX;
}

FORCE_INLINE bool is_bmi(const struct bmi_header *h)
{
	return (h->mode == BMI_UNEXPECTED || h->mode == BMI_EAGER || h->mode == BMI_RENDEZVOUS) &&
		h->size <= RECORD_MAX;
}

FORCE_INLINE void stream_begin(struct stack_stream *s, const struct stack_call *c,
	uint32_t position, uint32_t protocol, uint32_t length)
{
	struct stack_message *m = &s->message;

	__builtin_memset(&m->event, 0, sizeof(m->event));
	m->event.what = STACK_EVENT_MESSAGE;
	m->event.flags = c->writes ? STACK_EVENT_SENT : 0;
	m->event.start_ns = c->start_ns;
	m->position = position;
	m->length = length;
	m->protocol = protocol;
	m->n_head = 0;
}

/* The record is complete. */
FORCE_INLINE void stream_end(struct stack_stream *s, struct sock *sock)
{
	uint64_t id = bpf_get_current_pid_tgid();
	struct stack_message *m = &s->message;

	s->phase = STREAM_MARK;
	s->bad = 0;
	m->event.pid = id >> 32;
	m->event.tid = (uint32_t)id;
	m->event.end_ns = bpf_ktime_get_ns();
	stream_ends(m, sock);
	if (m->n_head > STACK_HEAD_SHORT)
		emit(m, sizeof(*m));
	else
		emit(m, sizeof(*m) - STACK_HEAD + STACK_HEAD_SHORT);
}

FORCE_INLINE void stream_lose(struct stack_stream *s)
{
	s->phase = STREAM_MARK;
	__sync_fetch_and_add(&shared.unframed, 1);
}

/* Count the part of the record that has arrived so far. */
FORCE_INLINE void stream_count(struct stack_stream *s, struct sock *sock, uint32_t n)
{
	if (n > s->left) {
		stream_lose(s);
		return;
	}
	s->left -= n;
	s->phase = STREAM_BODY;
	if (!s->left)
		stream_end(s, sock);
}

/* Continue the head. */
FORCE_INLINE void stream_head(struct stack_stream *s, const struct stack_call *c,
	const struct part parts[PARTS], uint32_t skip, uint32_t n)
{
	stream_heads(&s->message, parts, skip, n);
	if (!is_rpc(&s->message)) {
		stream_lose(s);
		return;
	}
	stream_count(s, (struct sock *)c->file, n - skip);
	if (s->phase == STREAM_BODY && s->message.n_head < head_room(&s->message))
		s->phase = STREAM_HEAD;
}

/* A message of OrangeFS. Its header is sent and received as a whole. */
FORCE_INLINE void stream_bmi(struct stack_stream *s, const struct stack_call *c,
	const struct part parts[PARTS], uint32_t position, uint32_t n)
{
	struct bmi_header header = {};

	if (n < sizeof(header) || parts[0].len < sizeof(header) ||
		bpf_probe_read_user(&header, sizeof(header), parts[0].base) || !is_bmi(&header)) {
		stream_lose(s);
		return;
	}
	stream_begin(s, c, position, STACK_BMI, (uint32_t)header.size + sizeof(header));
	s->left = s->message.length;
	s->phase = STREAM_HEAD;
	stream_head(s, c, parts, 0, n);
}

/* Data at the beginning of a record: with its mark, or only the mark. */
FORCE_INLINE void stream_mark(
	struct stack_stream *s, const struct stack_call *c, uint32_t position, uint32_t n)
{
	struct part parts[PARTS];
	uint32_t mark = 0;

	if (!parts_get(c, parts) || n < MARK_SIZE ||
		bpf_probe_read_user(&mark, sizeof(mark), parts[0].base))
		return;
	if (mark == BMI_MAGIC) {
		stream_bmi(s, c, parts, position, n);
		return;
	}
	mark = __builtin_bswap32(mark);
	if (!is_mark(mark)) {
		stream_lose(s);
		return;
	}
	stream_begin(s, c, position, STACK_RPC, (mark & ~MARK_LAST) + MARK_SIZE);
	s->left = s->message.length - MARK_SIZE;
	s->phase = STREAM_HEAD;
	if (n > MARK_SIZE)
		stream_head(s, c, parts, MARK_SIZE, n);
}

/* A call has sent or received `n` bytes. */
FORCE_INLINE void stream_take(const struct stack_call *c, uint32_t n)
{
	struct tcp_sock *tcp = (struct tcp_sock *)c->file;
	struct stack_stream *s = stream_get(c);
	struct part parts[PARTS];
	uint32_t end, position;

	if (!s)
		return;
	end = c->writes ? BPF_CORE_READ(tcp, write_seq) : BPF_CORE_READ(tcp, copied_seq);
	position = end - n;
	if (s->phase != STREAM_MARK && position != s->next)
		stream_lose(s);
	s->next = end;
	if (s->phase == STREAM_MARK)
		stream_mark(s, c, position, n);
	else if (s->phase == STREAM_HEAD && parts_get(c, parts))
		stream_head(s, c, parts, 0, n);
	else
		stream_count(s, (struct sock *)c->file, n);
}

#endif
#endif
